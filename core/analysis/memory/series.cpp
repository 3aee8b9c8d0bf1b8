// What is asked of a MemoryUsage once its allocations are known.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/analysis/memory/usage.h"

namespace accelscope::analysis {
namespace {

constexpr std::size_t kAliveFan = 32;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct SizeClass {
  std::uint64_t below;
  std::string name;
};
const std::array<SizeClass, 5>& size_classes() {
  static const std::array<SizeClass, 5> kClasses = {{{4ULL << 10, "under 4 KiB"},
                                                     {64ULL << 10, "4 to 64 KiB"},
                                                     {1ULL << 20, "64 KiB to 1 MiB"},
                                                     {16ULL << 20, "1 to 16 MiB"},
                                                     {~0ULL, "16 MiB and more"}}};
  return kClasses;
}

void build_steps(PoolUsage& pool) {
  std::ranges::stable_sort(pool.changes, {}, &PoolChange::ns);
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < pool.changes.size();) {
    const std::int64_t ns = pool.changes[i].ns;
    const std::uint64_t before = used;
    for (; i < pool.changes.size() && pool.changes[i].ns == ns; ++i) {
      used += static_cast<std::uint64_t>(pool.changes[i].bytes);
    }
    if (used == before) continue;
    pool.steps.push_back({ns, used});
    if (used > pool.peak_bytes) {
      pool.peak_bytes = used;
      pool.peak_ns = ns;
    }
  }
}

void build_ends(PoolUsage& pool, const std::vector<Allocation>& allocations) {
  std::vector<std::int64_t> ends;
  ends.reserve(pool.by_begin.size());
  for (const std::uint32_t index : pool.by_begin) ends.push_back(allocations[index].end_ns.value_or(kNever));
  pool.latest_ends.clear();
  do {
    std::vector<std::int64_t> above;
    for (std::size_t first = 0; first < ends.size(); first += kAliveFan) {
      const std::size_t last = std::min(ends.size(), first + kAliveFan);
      above.push_back(*std::max_element(ends.begin() + static_cast<std::ptrdiff_t>(first),
                                        ends.begin() + static_cast<std::ptrdiff_t>(last)));
    }
    pool.latest_ends.push_back(above);
    ends = std::move(above);
  } while (ends.size() > 1);
}

void build_touched(PoolUsage& pool, const std::vector<Allocation>& allocations) {
  std::vector<AddressSpan> spans;
  for (const std::uint32_t index : pool.by_begin) {
    const Allocation& allocation = allocations[index];
    if (!allocation.address || allocation.bytes == 0) continue;
    const std::uint64_t room = ~std::uint64_t{0} - *allocation.address;
    spans.push_back({*allocation.address, *allocation.address + std::min(allocation.bytes, room)});
  }
  std::ranges::sort(spans, {}, &AddressSpan::begin);
  pool.touched.clear();
  for (const AddressSpan& span : spans) {
    if (!pool.touched.empty() && span.begin <= pool.touched.back().end) {
      pool.touched.back().end = std::max(pool.touched.back().end, span.end);
    } else {
      pool.touched.push_back(span);
    }
  }
}

std::vector<PoolStep>::const_iterator step_after(const std::vector<PoolStep>& steps, std::int64_t ns) {
  return std::ranges::upper_bound(steps, ns, {}, &PoolStep::ns);
}

void build_reserved(PoolUsage& pool) {
  std::vector<PoolStep> changes;  // wrapping sums
  for (const ReservedPiece& piece : pool.reserved) {
    changes.push_back({piece.begin_ns, piece.bytes});
    if (piece.end_ns) changes.push_back({*piece.end_ns, ~piece.bytes + 1});
  }
  std::ranges::stable_sort(changes, {}, &PoolStep::ns);
  pool.reserved_steps.clear();
  std::uint64_t held = 0;
  for (const PoolStep& change : changes) {
    held += change.bytes;
    if (!pool.reserved_steps.empty() && pool.reserved_steps.back().ns == change.ns) {
      pool.reserved_steps.back().bytes = held;
    } else {
      pool.reserved_steps.push_back({change.ns, held});
    }
  }
}

// For every pixel the moment of its peak.
std::vector<PoolStep> peaks(const std::vector<PoolStep>& steps, const TimeRange& range, std::size_t pixels) {
  std::vector<PoolStep> result(pixels);
  const double pixel_ns = static_cast<double>(range.length_ns()) / static_cast<double>(pixels);
  const auto pixel_begin = [&](std::size_t pixel) {
    return range.begin_ns + static_cast<std::int64_t>(std::floor(pixel_ns * static_cast<double>(pixel)));
  };
  auto next = step_after(steps, range.begin_ns);
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    const std::int64_t begin_ns = pixel_begin(pixel);
    const std::int64_t end_ns = pixel + 1 == pixels ? range.end_ns : pixel_begin(pixel + 1);
    while (next != steps.end() && next->ns <= begin_ns) ++next;
    PoolStep peak{begin_ns, next == steps.begin() ? 0 : (next - 1)->bytes};
    for (; next != steps.end() && next->ns < end_ns; ++next) {
      if (next->bytes > peak.bytes) peak = *next;
    }
    result[pixel] = peak;
  }
  return result;
}

// What every group holds at the moments of a rising list.
class GroupWalk {
 public:
  GroupWalk(const MemoryUsage& usage, std::uint32_t pool, std::int64_t begin_ns, std::uint64_t min_bytes,
            UsageGrouping grouping)
      : usage_(usage),
        changes_(usage.pool(pool).changes),
        min_bytes_(min_bytes),
        grouping_(grouping),
        used_(usage.group_count(grouping), 0) {
    usage.visit(pool, begin_ns, begin_ns, [&](std::uint32_t index) {
      const Allocation& allocation = usage.allocations[index];
      if (allocation.bytes >= min_bytes) used_[usage.group_of(allocation, grouping)] += allocation.bytes;
    });
    next_ =
        static_cast<std::size_t>(std::ranges::upper_bound(changes_, begin_ns, {}, &PoolChange::ns) - changes_.begin());
  }
  // Tells which groups changed on the way.
  template <typename Changed>
  void advance(std::int64_t ns, Changed&& changed) {
    const std::size_t first = next_;
    for (; next_ < changes_.size() && changes_[next_].ns <= ns; ++next_) {
      if (counts(changes_[next_])) used_[group(changes_[next_])] += static_cast<std::uint64_t>(changes_[next_].bytes);
    }
    for (std::size_t i = first; i < next_; ++i) {
      if (counts(changes_[i])) changed(group(changes_[i]));
    }
  }
  [[nodiscard]] const std::vector<std::uint64_t>& used() const noexcept { return used_; }

 private:
  [[nodiscard]] bool counts(const PoolChange& change) const noexcept {
    return static_cast<std::uint64_t>(std::abs(change.bytes)) >= min_bytes_;
  }
  [[nodiscard]] std::uint32_t group(const PoolChange& change) const noexcept {
    return usage_.group_of(usage_.allocations[change.allocation], grouping_);
  }

  const MemoryUsage& usage_;
  const std::vector<PoolChange>& changes_;
  std::uint64_t min_bytes_;
  UsageGrouping grouping_;
  std::vector<std::uint64_t> used_;
  std::size_t next_ = 0;
};

}  // namespace

void MemoryUsage::index() {
  for (std::uint32_t i = 0; i < allocations.size(); ++i) {
    const Allocation& allocation = allocations[i];
    PoolUsage& pool = pools[allocation.pool];
    ++pool.allocation_count;
    pool.by_begin.push_back(i);
    const auto bytes = static_cast<std::int64_t>(allocation.bytes);
    pool.changes.push_back({allocation.begin_ns, bytes, i});
    if (allocation.end_ns) {
      pool.changes.push_back({*allocation.end_ns, -bytes, i});
    } else {
      ++pool.never_freed;
    }
  }
  for (PoolUsage& pool : pools) {
    build_steps(pool);
    build_ends(pool, allocations);
    build_touched(pool, allocations);
    build_reserved(pool);
  }
}

std::optional<std::uint32_t> MemoryUsage::find_pool(std::string_view name) const noexcept {
  for (std::uint32_t i = 0; i < pool_count(); ++i) {
    if (pool(i).name == name) return i;
  }
  return std::nullopt;
}

PoolPeak MemoryUsage::peak(std::uint32_t number, const TimeRange& range) const noexcept {
  const PoolUsage& asked = pool(number);
  const bool stated = !asked.stated_steps.empty();
  if (range == TimeRange{}) {
    return stated ? PoolPeak{asked.stated_peak.bytes, asked.stated_peak.ns, true}
                  : PoolPeak{asked.peak_bytes, asked.peak_ns, false};
  }
  const std::vector<PoolStep>& steps = stated ? asked.stated_steps : asked.steps;
  auto step = step_after(steps, range.begin_ns);
  PoolPeak most{step == steps.begin() ? 0 : (step - 1)->bytes, range.begin_ns, stated};
  for (; step != steps.end() && step->ns < range.end_ns; ++step) {
    if (step->bytes > most.bytes) most.bytes = step->bytes, most.ns = step->ns;
  }
  return most;
}

std::uint64_t MemoryUsage::used_at(std::uint32_t number, std::int64_t ns) const noexcept {
  const PoolUsage& asked = pool(number);
  const auto next = step_after(asked.steps, ns);
  return next == asked.steps.begin() ? 0 : (next - 1)->bytes;
}

std::uint64_t MemoryUsage::reserved_at(std::uint32_t number, std::int64_t ns) const noexcept {
  const PoolUsage& asked = pool(number);
  const auto next = step_after(asked.reserved_steps, ns);
  return next == asked.reserved_steps.begin() ? 0 : (next - 1)->bytes;
}

void MemoryUsage::visit(std::uint32_t number, std::int64_t from_ns, std::int64_t to_ns,
                        const std::function<void(std::uint32_t)>& visitor) const {
  const PoolUsage& asked = pool(number);
  const auto begins = [&](std::size_t place) { return allocations[asked.by_begin[place]].begin_ns; };
  const auto descend = [&](auto&& self, std::size_t level, std::size_t node) -> bool {  // false: all later begin later
    if (asked.latest_ends[level][node] <= from_ns) return true;
    const std::size_t below = level == 0 ? asked.by_begin.size() : asked.latest_ends[level - 1].size();
    const std::size_t last = std::min(below, (node + 1) * kAliveFan);
    for (std::size_t child = node * kAliveFan; child < last; ++child) {
      if (level > 0) {
        if (!self(self, level - 1, child)) return false;
        continue;
      }
      if (begins(child) > to_ns) return false;
      if (allocations[asked.by_begin[child]].end_ns.value_or(kNever) > from_ns) visitor(asked.by_begin[child]);
    }
    return true;
  };
  if (asked.by_begin.empty() || asked.latest_ends.empty()) return;
  descend(descend, asked.latest_ends.size() - 1, 0);
}

std::vector<std::uint32_t> MemoryUsage::alive_at(std::uint32_t number, std::int64_t ns, std::uint64_t min_bytes) const {
  std::vector<std::uint32_t> alive;
  visit(number, ns, ns, [&](std::uint32_t index) {
    if (allocations[index].bytes >= min_bytes) alive.push_back(index);
  });
  std::ranges::stable_sort(
      alive, [this](std::uint32_t a, std::uint32_t b) { return allocations[a].bytes > allocations[b].bytes; });
  return alive;
}

std::uint32_t MemoryUsage::group_of(const Allocation& allocation, UsageGrouping grouping) const noexcept {
  if (grouping == UsageGrouping::tensor) return allocation.tensor;
  if (grouping == UsageGrouping::site) return allocation.site;
  if (grouping == UsageGrouping::stack) return allocation.stack;
  std::uint32_t number = 0;
  while (number + 1 < size_classes().size() && allocation.bytes >= size_classes()[number].below) ++number;
  return number;
}

std::size_t MemoryUsage::group_count(UsageGrouping grouping) const noexcept {
  if (grouping == UsageGrouping::size_class) return size_classes().size();
  if (grouping == UsageGrouping::stack) return stacks.size();
  return grouping == UsageGrouping::tensor ? tensors.size() : sites.size();
}

const std::string& MemoryUsage::group_name(std::uint32_t group, UsageGrouping grouping) const noexcept {
  if (grouping == UsageGrouping::size_class) return size_classes()[group].name;
  if (grouping == UsageGrouping::stack) return stack_titles[group];
  return grouping == UsageGrouping::tensor ? tensors[group] : sites[group];
}

std::vector<std::uint64_t> MemoryUsage::reserved_most(std::uint32_t number, const TimeRange& range,
                                                      std::size_t pixels) const {
  const PoolUsage& asked = pool(number);
  std::vector<std::uint64_t> most;
  if (asked.reserved_steps.empty() || range.empty() || pixels == 0) return most;
  for (const PoolStep& step : peaks(asked.reserved_steps, range, pixels)) most.push_back(step.bytes);
  return most;
}

StackedUsage MemoryUsage::stacked(std::uint32_t number, const TimeRange& range, std::size_t pixels,
                                  std::size_t max_series, std::uint64_t min_bytes, UsageGrouping grouping) const {
  StackedUsage stack;
  if (range.empty() || pixels == 0) return stack;
  const std::vector<PoolStep> samples = peaks(pool(number).steps, range, pixels);
  for (const PoolStep& sample : samples) stack.total.push_back(sample.bytes);
  if (pool(number).sampled) return stack;

  GroupWalk first(*this, number, range.begin_ns, min_bytes, grouping);
  first.advance(samples.front().ns, [](std::uint32_t) {});
  std::vector<std::uint64_t> most = first.used();  // by group, over all samples
  for (const PoolStep& sample : samples) {
    first.advance(sample.ns, [&](std::uint32_t group) { most[group] = std::max(most[group], first.used()[group]); });
  }
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t group = 0; group < most.size(); ++group) {
    if (most[group] > 0) chosen.push_back(group);
  }
  std::ranges::stable_sort(chosen, [&](std::uint32_t a, std::uint32_t b) { return most[a] > most[b]; });
  if (chosen.size() > max_series) chosen.resize(max_series);

  for (const std::uint32_t group : chosen) stack.names.push_back(group_name(group, grouping));
  stack.values.assign(chosen.size(), std::vector<std::uint64_t>(pixels, 0));
  std::vector<std::uint64_t> rest = stack.total;
  GroupWalk second(*this, number, range.begin_ns, min_bytes, grouping);
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    second.advance(samples[pixel].ns, [](std::uint32_t) {});
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      stack.values[i][pixel] = second.used()[chosen[i]];
      rest[pixel] -= second.used()[chosen[i]];
    }
  }
  if (std::ranges::any_of(rest, [](std::uint64_t bytes) { return bytes > 0; })) {
    stack.names.emplace_back("other");
    stack.values.push_back(std::move(rest));
  }
  return stack;
}

}  // namespace accelscope::analysis
