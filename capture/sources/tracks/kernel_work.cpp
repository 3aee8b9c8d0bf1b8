#include "capture/sources/tracks/kernel_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace accelscope::capture::sources::tracks {
namespace {

// Of a function, a grid and a block; 0: the grid is not known, and a name alone is no likeness.
[[nodiscard]] std::uint64_t likeness(const KernelWork::Kernel& kernel) noexcept {
  if (kernel.grid == 0) return 0;
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15U;
  return ((kernel.name * kPrime + kernel.grid) * kPrime + kernel.block) * kPrime | 1U;
}

[[nodiscard]] bool before(const KernelWork::Found& a, const KernelWork::Found& b) noexcept {
  return a.begin != b.begin ? a.begin < b.begin : a.name < b.name;
}

}  // namespace

std::optional<KernelWork::Found> KernelWork::add_kernel(Kernel kernel) {
  std::optional<Found> told;
  const std::size_t of = kernel.part == KernelPart::main ? operator_by_id(kernel) : kNothing;
  if (of != kNothing && operators_[of].kind != OperatorWork::Kind::gradients && kernels_of_[of] < 2 &&
      ++kernels_of_[of] == 1) {
    const Operator& from = operators_[of];
    kernel.told = static_cast<std::uint32_t>(of);
    told = {kernel.begin, kernel.name, precision_of(kernel.name, from.type), from.basis, from.flops, from.bytes};
  }
  kernels_.push_back(kernel);
  return told;
}

StringId KernelWork::precision_of(StringId kernel, StringId type) {
  if (type == 0) return 0;
  const auto [known, is_new] = precisions_.try_emplace(std::uint64_t{kernel} << 32U | type, type);
  if (is_new) known->second = intern_(type_of_kernel(text_of_(kernel), text_of_(type)));
  return known->second;
}

void KernelWork::join() {
  if (kernels_.empty()) return;
  std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) {
    return a.correlation != b.correlation ? a.correlation < b.correlation : a.begin < b.begin;
  });
  for (std::size_t i = 0; i < operators_.size(); ++i) {
    by_thread_[operators_[i].thread].push_back(i);
  }
  for (auto& [thread, all] : by_thread_) {
    std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
      const Operator &left = operators_[a], &right = operators_[b];
      return left.begin != right.begin ? left.begin < right.begin : left.end > right.end;
    });
    // What calls another operator with work leaves the work to it.
    std::vector<std::size_t> innermost;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool calls_another = i + 1 < all.size() && operators_[all[i + 1]].end <= operators_[all[i]].end &&
                                 operators_[all[i + 1]].begin < operators_[all[i]].end;
      if (!calls_another) innermost.push_back(all[i]);
    }
    all = std::move(innermost);
  }
  std::map<std::size_t, std::vector<std::size_t>> of_operators;
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const std::size_t of = operator_of(kernels_[i]);
    if (of == kNothing) {
      rest.push_back(i);
    } else {
      of_operators[of].push_back(i);
    }
  }
  for (const auto& [of, kernels] : of_operators) give(of, kernels);
  give_by_likeness(rest);
  for (auto& [track, all] : found_) std::sort(all.begin(), all.end(), before);
}

std::size_t KernelWork::operator_at(std::uint32_t thread, std::int64_t ns) const {
  const auto known = by_thread_.find(thread);
  if (known == by_thread_.end()) return kNothing;
  const auto next = std::upper_bound(known->second.begin(), known->second.end(), ns,
                                     [&](std::int64_t at, std::size_t i) { return at < operators_[i].begin; });
  if (next == known->second.begin()) return kNothing;
  const std::size_t last = *std::prev(next);
  return ns <= operators_[last].end ? last : kNothing;
}

// Profilers up to 2022 wrote the call's correlation where the operator's id stands today. Ids of several processes may
// be alike: what began last before the kernel counts.
std::size_t KernelWork::operator_by_id(const Kernel& kernel) const {
  std::size_t best = kNothing;
  if (kernel.external_id != 0 && kernel.external_id != kernel.correlation) {
    const auto [first, last] = by_external_id_.equal_range(kernel.external_id);
    for (auto each = first; each != last; ++each) {
      const Operator& of = operators_[each->second];
      if (of.begin <= kernel.begin && (best == kNothing || of.begin > operators_[best].begin)) best = each->second;
    }
  }
  return best;
}

std::size_t KernelWork::operator_of(const Kernel& kernel) const {
  const std::size_t by_id = operator_by_id(kernel);
  if (by_id != kNothing || kernel.correlation == 0) return by_id;
  auto call = std::lower_bound(calls_.begin(), calls_.end(), kernel.correlation,
                               [](const Call& each, std::uint64_t wanted) { return each.correlation < wanted; });
  const Call* its = nullptr;
  for (; call != calls_.end() && call->correlation == kernel.correlation; ++call) {
    if (call->begin <= kernel.begin || its == nullptr) its = &*call;
  }
  return its == nullptr ? kNothing : operator_at(its->thread, its->begin);
}

void KernelWork::give(std::size_t of, std::span<const std::size_t> kernels) {
  const Operator& from = operators_[of];
  const bool is_message = from.kind == OperatorWork::Kind::collective;
  std::vector<std::size_t> main;
  for (const KernelPart wanted : {KernelPart::main, KernelPart::undecided}) {
    if (!main.empty()) break;
    std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(main),
                 [&](std::size_t i) { return kernels_[i].part == wanted; });
  }
  if (main.empty()) return;
  // Both gradients of a convolution take as much; kernels tell by their names which they are for.
  std::map<char, std::int64_t> times;
  for (const std::size_t i : main) {
    const bool parted = from.kind == OperatorWork::Kind::gradients;
    times[parted ? gradient_of_kernel(text_of_(kernels_[i].name)) : '\0'] += kernels_[i].duration;
  }
  const bool told = from.kind == OperatorWork::Kind::gradients && times.size() == 2 && !times.contains('\0');
  std::int64_t all_ns = 0;
  for (const auto& [gradient, ns] : times) all_ns += ns;
  for (const std::size_t i : main) {
    const Kernel& kernel = kernels_[i];
    double share = 1;
    if (main.size() > 1 && all_ns > 0) {
      const double ns = static_cast<double>(kernel.duration);
      const std::int64_t group = told ? times[gradient_of_kernel(text_of_(kernel.name))] : all_ns;
      share = group > 0 ? ns / static_cast<double>(group) * (told ? 0.5 : 1) : 0;
    } else if (main.size() > 1) {
      share = 1 / static_cast<double>(main.size());
    }
    Found work{kernel.begin, kernel.name, from.type, from.basis, from.flops * share, from.bytes * share};
    const bool alone = main.size() == 1;
    if (!is_message) work.type = precision_of(kernel.name, from.type);
    if (!alone)
      work.basis = intern_(fmt::format("{}; a part by time, of {} kernels", text_of_(from.basis), main.size()));
    if (const std::uint64_t key = likeness(kernel); key != 0 && alone && !is_message) {
      const auto [known, is_new] = alike_.try_emplace(key, Alike{work});
      if (!is_new && known->second.work.flops != work.flops) known->second.differs = true;
    }
    if (!alone || kernel.told != of) set(kernel, work);
  }
}

void KernelWork::give_by_likeness(std::span<const std::size_t> kernels) {
  for (const std::size_t i : kernels) {
    const Kernel& kernel = kernels_[i];
    const auto known = alike_.find(likeness(kernel));
    if (known != alike_.end() && !known->second.differs && likeness(kernel) != 0) {
      Found work = known->second.work;
      work.begin = kernel.begin;
      work.basis = intern_(fmt::format("{}; as the same kernel with the same grid", text_of_(work.basis)));
      set(kernel, work);
    } else if (const auto own = attention_of_grid(text_of_(kernel.name), text_of_(kernel.grid))) {
      set(kernel, {kernel.begin, kernel.name, intern_(own->type), intern_(own->basis), own->flops, own->bytes});
    }
  }
}

const KernelWork::Found* KernelWork::find(std::uint32_t track, std::int64_t begin, StringId name) const {
  const auto all = found_.find(track);
  if (all == found_.end()) return nullptr;
  const auto place = std::lower_bound(all->second.begin(), all->second.end(), Found{begin, name, 0, 0, 0, 0}, before);
  return place != all->second.end() && place->begin == begin && place->name == name ? &*place : nullptr;
}

}  // namespace accelscope::capture::sources::tracks
