#include "capture/sources/tracks/kernel_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "core/base/text.h"

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

namespace {

// No device has more. A profiler that reads a structure of another version writes what lies in memory there.
constexpr std::int64_t kMostRegisters = 2048, kMostSharedBytes = 16 << 20, kMostPrivateBytes = 1 << 30,
                       kMostBlocks = (std::int64_t{1} << 32) - 1, kMostThreads = 4096;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

template <typename Number>
[[nodiscard]] bool take_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Calls with every "key:value" of the text.
template <typename Visit>
void each_detail(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    const std::size_t colon = word.find(':');
    if (colon != std::string_view::npos) visit(word.substr(0, colon), word.substr(colon + 1));
  }
}

[[nodiscard]] std::optional<std::int64_t> bounded(std::string_view text, std::int64_t most,
                                                  std::uint32_t& implausible) {
  std::int64_t value = 0;
  if (take_number(text, value) && value >= 0 && value <= most) return value;
  ++implausible;
  return std::nullopt;
}

// "[16, 1, 1]" of "16,1,1"; "" if one of the three is more than `most`, or there are not three.
[[nodiscard]] std::string three_of(std::string_view text, std::int64_t most, std::uint32_t& implausible) {
  std::array<std::int64_t, 3> all{};
  std::string_view rest = text;
  for (std::int64_t& each : all) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (!take_number(rest.substr(0, comma), each) || each < 0 || each > most) {
      ++implausible;
      return {};
    }
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return fmt::format("[{}, {}, {}]", all[0], all[1], all[2]);
}

}  // namespace

KernelDetails read_kernel_details(std::string_view text) {
  KernelDetails made;
  const auto add_shared = [&](std::string_view value) {
    const auto bytes = bounded(value, kMostSharedBytes, made.implausible);
    if (bytes) made.shared_memory = made.shared_memory.value_or(0) + *bytes;
  };
  each_detail(text, [&](std::string_view key, std::string_view value) {
    if (key == "regs") {
      made.registers = bounded(value, kMostRegisters, made.implausible);
    } else if (key == "static_shared" || key == "dynamic_shared" || key == "group_mem") {
      add_shared(value);
    } else if (key == "private_mem") {
      made.private_memory = bounded(value, kMostPrivateBytes, made.implausible);
    } else if (key == "grid") {
      made.grid = three_of(value, kMostBlocks, made.implausible);
    } else if (key == "block") {
      made.block = three_of(value, kMostThreads, made.implausible);
    } else if (key == "occ_pct") {
      double percent = 0;
      if (!take_number(value, percent) || percent < 0 || percent > 100) {
        ++made.implausible;
      } else if (percent > 0) {
        made.occupancy = percent;
      }
    }
  });
  return made;
}

TransferDetails read_transfer_details(std::string_view text) {
  TransferDetails made;
  std::string_view from, to;
  each_detail(text, [&](std::string_view key, std::string_view value) {
    if (key == "kind") made.kind = value;
    if (key == "kind_src") from = value;
    if (key == "kind_dst") to = value;
    if (key == "size" || key == "num_bytes") made.bytes = bounded(value, kMostBytes, made.implausible);
  });
  if (!from.empty() || !to.empty()) made.kind = fmt::format("{} > {}", from, to);
  return made;
}

std::optional<std::int64_t> stream_of_line(std::string_view name) {
  constexpr std::string_view kBegin = "Stream #";
  if (!name.starts_with(kBegin)) return std::nullopt;
  name.remove_prefix(kBegin.size());
  std::size_t digits = 0;
  while (digits < name.size() && is_digit(name[digits])) ++digits;
  std::int64_t number = 0;
  if (digits == 0 || !take_number(name.substr(0, digits), number)) return std::nullopt;
  return number;
}

}  // namespace accelscope::capture::sources::tracks
