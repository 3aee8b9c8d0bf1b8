#include "core/analysis/hierarchy/node_sums.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "core/analysis/selection/amount_block.h"

namespace accelscope::analysis {

void NodeTotals::add(const NodeTotals& other) noexcept {
  events += other.events;
  sum_ns = capped_sum(sum_ns, other.sum_ns);
  wait_ns = capped_sum(wait_ns, other.wait_ns);
  bytes = capped_sum(bytes, other.bytes);
  flops += other.flops;
  launched_events += other.launched_events;
  launched_ns = capped_sum(launched_ns, other.launched_ns);
  devices |= other.devices;
  if (other.longest_ns > longest_ns || (other.longest_ns == longest_ns && other.longest < longest)) {
    longest = other.longest;
    longest_ns = other.longest_ns;
  }
  stretch.begin_ns = std::min(stretch.begin_ns, other.stretch.begin_ns);
  stretch.end_ns = std::max(stretch.end_ns, other.stretch.end_ns);
}

void WindowSums::open(const TimeRange& window) noexcept {
  window_ = window;
  const std::uint64_t length =
      window.empty() ? 0 : static_cast<std::uint64_t>(window.end_ns) - static_cast<std::uint64_t>(window.begin_ns);
  is_short_ = length <= std::numeric_limits<std::uint32_t>::max();
}

std::uint32_t WindowSums::add_slot(std::uint32_t node) {
  if (slots_.size() <= node) slots_.resize(std::size_t{node} + node / 2 + 1);
  const auto slot = static_cast<std::uint32_t>(met_.size());
  met_.push_back({.node = node, .totals = {}, .cover = {}});
  units_.resize(units_.size() + unit_count_);
  slots_[node] = slot + 1;
  return slot;
}

// What is met covers all above it, too.
void WindowSums::add_parents(const std::vector<PathNode>& nodes) {
  if (!met_.empty()) (void)slot_of(PathTree::kRoot);
  reaches_.clear();
  for (std::uint32_t slot = 0; slot < met_.size(); ++slot) {
    const PathNode& node = nodes[met_[slot].node];
    const std::uint32_t parent = slot_of(met_[slot].node == PathTree::kRoot ? PathTree::kRoot : node.parent);
    reaches_.push_back({.parent = parent, .detail = node.detail, .marked = node.marked});
  }
  for (std::uint32_t slot = 0; slot < met_.size(); ++slot) {
    if (reaches_[slot].parent != slot) reaches_[reaches_[slot].parent].has_children = true;
  }
  unit_reaches_.assign(met_.size() * unit_count_, 0);
}

namespace {

// By begin. What a lane adds comes in the order of time, so each lane sweeps once over the buckets, which hold a few
// parts each; within a bucket little is out of place.
template <typename Part>
void sort_window_parts(std::vector<Part>& parts, std::vector<Part>& sorted, std::vector<std::uint32_t>& starts) {
  constexpr std::size_t kPartsPerBucket = 4, kFewParts = 24;
  std::uint64_t furthest = 0;
  bool in_order = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    furthest = std::max(furthest, std::uint64_t{parts[i].begin});
    in_order = in_order && (i == 0 || parts[i - 1].begin <= parts[i].begin);
  }
  if (in_order) return;
  const std::size_t wanted = std::bit_ceil(parts.size() / kPartsPerBucket + 1);
  const int shift = std::max(0, static_cast<int>(std::bit_width(furthest)) - std::countr_zero(wanted));
  const std::size_t buckets = static_cast<std::size_t>(furthest >> shift) + 1;
  starts.assign(buckets + 1, 0);
  for (const Part& part : parts) ++starts[(part.begin >> shift) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  sorted.resize(parts.size());
  for (const Part& part : parts) sorted[starts[part.begin >> shift]++] = part;  // a start becomes the next one's
  const auto earlier = [](const Part& a, const Part& b) { return a.begin < b.begin; };
  std::size_t from = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    const std::size_t to = starts[bucket];
    if (to - from > kFewParts) {
      std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(from), sorted.begin() + static_cast<std::ptrdiff_t>(to),
                earlier);
    } else {
      for (std::size_t i = from + 1; i < to; ++i) {
        const Part moved = sorted[i];
        std::size_t at = i;
        for (; at > from && moved.begin < sorted[at - 1].begin; --at) sorted[at] = sorted[at - 1];
        sorted[at] = moved;
      }
    }
    from = to;
  }
  parts.swap(sorted);
}

// How much of [begin, end) lies beyond what is covered, which then reaches to its end.
[[nodiscard]] std::int64_t extend_reach(std::uint64_t& reach, std::uint64_t begin, std::uint64_t end) noexcept {
  if (end <= reach) return 0;
  const std::uint64_t added = end - std::max(begin, reach);
  reach = end;
  return static_cast<std::int64_t>(added);
}

}  // namespace

template <typename Number>
void WindowSums::cover_nodes(std::vector<Part<Number>>& parts, std::vector<Part<Number>>& sorted) {
  sort_window_parts(parts, sorted, bucket_starts_);
  const bool one_unit = unit_count_ == 1;
  for (const Part<Number>& part : parts) {
    const std::uint32_t unit = part.place & ((1U << kUnitBits) - 1);
    bool self = true;  // it is the node's own, and not only that of what lies below
    for (std::uint32_t slot = part.place >> kUnitBits;; slot = reaches_[slot].parent) {
      Reach& reach = reaches_[slot];
      NodePart::Node& node = met_[slot];
      std::int64_t by_unit = 0;
      if (one_unit) {
        by_unit = extend_reach(reach.any, part.begin, part.end);
        node.cover.busy_ns += by_unit;
      } else {
        by_unit = extend_reach(unit_reaches_[slot * unit_count_ + unit], part.begin, part.end);
        units_[slot * unit_count_ + unit].busy_ns += by_unit;
        if (by_unit > 0) node.cover.busy_ns += extend_reach(reach.any, part.begin, part.end);
      }
      // Where nothing lies below, all of it is its own.
      const std::int64_t own = self && reach.has_children ? extend_reach(reach.self, part.begin, part.end) : 0;
      node.cover.self_ns += own;
      // What is covered here is so in all nodes above.
      if (reach.parent == slot || (by_unit == 0 && own == 0)) break;
      self = self && reach.detail;
    }
  }
}

NodePart WindowSums::close(const std::vector<PathNode>& nodes) {
  NodePart result;
  add_parents(nodes);
  if (is_short_) {
    cover_nodes(short_parts_, short_sorted_);
  } else {
    cover_nodes(long_parts_, long_sorted_);
  }
  std::uint64_t marked_reach = 0;
  const auto add_marked = [&](const auto& parts) {
    for (const auto& part : parts) {
      if (reaches_[part.place >> kUnitBits].marked)
        result.marked_ns += extend_reach(marked_reach, part.begin, part.end);
    }
  };
  const bool any_marked = std::ranges::any_of(reaches_, [](const Reach& each) { return each.marked; });
  if (any_marked) add_marked(short_parts_), add_marked(long_parts_);
  for (std::uint32_t slot = 0; slot < met_.size(); ++slot) {
    if (!reaches_[slot].has_children) met_[slot].cover.self_ns = met_[slot].cover.busy_ns;
    if (unit_count_ == 1) units_[slot].busy_ns = met_[slot].cover.busy_ns;
    slots_[met_[slot].node] = 0;
  }
  result.nodes.assign(met_.begin(), met_.end());
  result.units.assign(units_.begin(), units_.end());
  met_.clear();
  units_.clear();
  short_parts_.clear();
  long_parts_.clear();
  return result;
}

void NodeSums::resize(std::size_t nodes) {
  if (nodes <= totals_.size()) return;
  totals_.resize(nodes);
  covers_.resize(nodes);
  units_.resize(nodes * unit_count_);
}

void NodeSums::add(const NodePart& part) {
  std::uint32_t last = 0;
  for (const NodePart::Node& each : part.nodes) last = std::max(last, each.node);
  if (last >= totals_.size()) resize(std::size_t{last} + 1);
  for (std::size_t i = 0; i < part.nodes.size(); ++i) {
    const NodePart::Node& each = part.nodes[i];
    totals_[each.node].add(each.totals);
    covers_[each.node].busy_ns += each.cover.busy_ns;
    covers_[each.node].self_ns += each.cover.self_ns;
    for (std::size_t unit = 0; unit < unit_count_; ++unit) {
      units_[each.node * unit_count_ + unit].add(part.units[i * unit_count_ + unit]);
    }
  }
  marked_ns_ += part.marked_ns;
}

std::uint64_t NodeSums::fold(const std::vector<PathNode>& nodes, std::size_t depth) {
  resize(nodes.size());
  std::uint64_t cut_events = 0;
  for (std::size_t node = 1; node < nodes.size(); ++node) {
    const std::size_t path_depth = nodes[node].depth - (nodes[node].detail ? 1U : 0U);
    if (path_depth > depth) cut_events += totals_[node].events;
  }
  for (std::size_t node = nodes.size(); node-- > 1;) {
    const PathNode& of = nodes[node];
    if (of.depth == depth) covers_[node].self_ns = covers_[node].busy_ns;
    if (of.depth <= depth) continue;
    totals_[of.parent].add(totals_[node]);
    for (std::size_t unit = 0; unit < unit_count_; ++unit) {
      units_[of.parent * unit_count_ + unit].events += units_[node * unit_count_ + unit].events;
    }
  }
  return cut_events;
}

void NodeSums::add_up(const std::vector<PathNode>& nodes, std::size_t depth) {
  resize(nodes.size());
  for (std::size_t node = nodes.size(); node-- > 1;) {
    if (nodes[node].depth > depth) continue;
    const std::size_t parent = nodes[node].parent;
    totals_[parent].add(totals_[node]);
    for (std::size_t unit = 0; unit < unit_count_; ++unit) {
      units_[parent * unit_count_ + unit].events += units_[node * unit_count_ + unit].events;
    }
  }
}

void PartJoiner::add(const NodePart& part) {
  for (std::size_t i = 0; i < part.nodes.size(); ++i) {
    const NodePart::Node& each = part.nodes[i];
    if (places_.size() <= each.node) places_.resize(std::size_t{each.node} + each.node / 2 + 1);
    std::uint32_t& place = places_[each.node];
    if (place == 0) {
      sum_.nodes.push_back({.node = each.node, .totals = {}, .cover = {}});
      sum_.units.resize(sum_.units.size() + unit_count_);
      place = static_cast<std::uint32_t>(sum_.nodes.size());
    }
    NodePart::Node& node = sum_.nodes[place - 1];
    node.totals.add(each.totals);
    node.cover.busy_ns += each.cover.busy_ns;
    node.cover.self_ns += each.cover.self_ns;
    for (std::size_t unit = 0; unit < unit_count_; ++unit) {
      sum_.units[(place - 1) * unit_count_ + unit].add(part.units[i * unit_count_ + unit]);
    }
  }
  sum_.marked_ns += part.marked_ns;
}

NodePart PartJoiner::take() {
  for (const NodePart::Node& each : sum_.nodes) places_[each.node] = 0;
  NodePart taken;
  taken.nodes.assign(sum_.nodes.begin(), sum_.nodes.end());  // no larger than it must be
  taken.units.assign(sum_.units.begin(), sum_.units.end());
  taken.marked_ns = std::exchange(sum_.marked_ns, 0);
  sum_.nodes.clear();
  sum_.units.clear();
  return taken;
}

}  // namespace accelscope::analysis
