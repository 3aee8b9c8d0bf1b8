#include "core/analysis/hierarchy/node_sums.h"

#include <algorithm>
#include <array>

#include "core/analysis/selection/amount_block.h"

namespace accelscope {

void NodeTotals::add(const NodeTotals& other) noexcept {
  events += other.events;
  sum_ns += other.sum_ns;
  wait_ns += other.wait_ns;
  bytes = capped_sum(bytes, other.bytes);
  flops += other.flops;
  launched_events += other.launched_events;
  launched_ns += other.launched_ns;
  devices |= other.devices;
  if (other.longest_ns > longest_ns || (other.longest_ns == longest_ns && other.longest < longest)) {
    longest = other.longest;
    longest_ns = other.longest_ns;
  }
  stretch.begin_ns = std::min(stretch.begin_ns, other.stretch.begin_ns);
  stretch.end_ns = std::max(stretch.end_ns, other.stretch.end_ns);
}

void NodeSums::resize(std::size_t nodes) {
  if (nodes <= totals_.size()) return;
  nodes = std::max(nodes, totals_.size() + totals_.size() / 2);
  totals_.resize(nodes);
  covers_.resize(nodes);
  reaches_.resize(nodes);
  unit_events_.resize(nodes * unit_count_);
  unit_covers_.resize(nodes * unit_count_);
}

// By digits of the begin within the window: many times faster than comparing, and it keeps the order of equal ones.
void NodeSums::sort_parts(const TimeRange& window) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  std::uint64_t furthest = 0;
  std::int64_t first = window.end_ns;
  for (const Part& part : parts_) first = std::min(first, part.begin_ns);
  const auto place = [first](const Part& part) {
    return static_cast<std::uint64_t>(part.begin_ns) - static_cast<std::uint64_t>(first);
  };
  for (const Part& part : parts_) furthest = std::max(furthest, place(part));
  sorted_.resize(parts_.size());
  for (unsigned shift = 0; shift < 64 && furthest >> shift != 0; shift += kBits) {
    std::array<std::uint32_t, kBuckets> starts{};
    for (const Part& part : parts_) ++starts[place(part) >> shift & (kBuckets - 1)];
    std::uint32_t next = 0;
    for (std::uint32_t& start : starts) {
      const std::uint32_t count = start;
      start = next;
      next += count;
    }
    for (const Part& part : parts_) sorted_[starts[place(part) >> shift & (kBuckets - 1)]++] = part;
    parts_.swap(sorted_);
  }
}

void NodeSums::forget_reach() {
  marked_reach_ = INT64_MIN;
  std::fill(reaches_.begin(), reaches_.end(), Reach{});
  for (UnitCover& unit : unit_covers_) unit.reach = INT64_MIN;
}

void NodeSums::close_window(const TimeRange& window, const std::vector<PathNode>& nodes) {
  if (window.begin_ns < closed_until_ns_) forget_reach();
  closed_until_ns_ = window.end_ns;
  sort_parts(window);
  // How much of [begin, end) lies beyond what is covered, which then reaches to its end.
  const auto extend = [](std::int64_t& reach, std::int64_t begin, std::int64_t end) -> std::int64_t {
    if (end <= reach) return 0;
    const std::int64_t added = end - std::max(begin, reach);
    reach = end;
    return added;
  };
  for (const Part& part : parts_) {
    const std::uint32_t unit = part.flags >> 1U;
    bool self = (part.flags & 1U) != 0;
    if (nodes[part.node].marked) marked_ns_ += extend(marked_reach_, part.begin_ns, part.end_ns);
    for (std::uint32_t node = part.node;; node = nodes[node].parent) {
      UnitCover& of_unit = unit_covers_[node * unit_count_ + unit];
      const std::int64_t by_unit = extend(of_unit.reach, part.begin_ns, part.end_ns);
      of_unit.busy_ns += by_unit;
      if (by_unit > 0) covers_[node].busy_ns += extend(reaches_[node].any, part.begin_ns, part.end_ns);
      const std::int64_t own = self ? extend(reaches_[node].self, part.begin_ns, part.end_ns) : 0;
      covers_[node].self_ns += own;
      // What is covered here is so in all nodes above.
      if (node == PathTree::kRoot || (by_unit == 0 && own == 0)) break;
      self = self && nodes[node].detail;
    }
  }
  parts_.clear();
}

void NodeSums::merge(const NodeSums& other) {
  marked_ns_ += other.marked_ns_;
  resize(other.totals_.size());
  for (std::size_t i = 0; i < other.totals_.size(); ++i) {
    totals_[i].add(other.totals_[i]);
    covers_[i].busy_ns += other.covers_[i].busy_ns;
    covers_[i].self_ns += other.covers_[i].self_ns;
  }
  for (std::size_t i = 0; i < other.unit_events_.size(); ++i) {
    unit_events_[i] += other.unit_events_[i];
    unit_covers_[i].busy_ns += other.unit_covers_[i].busy_ns;
  }
}

void NodeSums::add_up(const std::vector<PathNode>& nodes) {
  resize(nodes.size());
  for (std::size_t node = nodes.size(); node-- > 1;) {
    const std::size_t parent = nodes[node].parent;
    totals_[parent].add(totals_[node]);
    for (std::size_t unit = 0; unit < unit_count_; ++unit) {
      unit_events_[parent * unit_count_ + unit] += unit_events_[node * unit_count_ + unit];
    }
  }
}

}  // namespace accelscope
