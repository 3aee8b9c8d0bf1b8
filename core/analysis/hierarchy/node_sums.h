// What the nodes of a tree add up to: sums of their own events, and the time that at least one event of a node or below
// it covers. Intervals are gathered window by window (core/scan/window_scan.h). One per worker, merged at the end.
//
//   sums.totals(node).events += 1;                    // a node's own event; not yet its parents'
//   sums.cover(begin_ns, end_ns, node, unit, true);   // its time within the window, and that of all above it
//   sums.close_window(window.range, nodes);
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/hierarchy/path_tree.h"
#include "core/model/ids.h"
#include "core/model/time_range.h"

namespace accelscope {

// Of events that begin there; all but `events` are clipped to the range.
struct NodeTotals {
  std::uint64_t events = 0;
  std::int64_t sum_ns = 0;  // of durations, those of waits too
  std::int64_t wait_ns =
      0;  // of events that wait, and what the others waited before they began while their lane was free
  std::uint64_t bytes = 0;
  double flops = 0;
  std::uint64_t launched_events = 0;
  std::int64_t launched_ns = 0;
  std::uint64_t devices = 0;  // that could have computed it, a bit each; the last stands for all further ones
  EventId longest = kNoEvent;
  std::int64_t longest_ns = -1;
  TimeRange stretch{INT64_MAX, INT64_MIN};  // from the first begin to the last end

  void add(const NodeTotals& other) noexcept;
};

struct NodeCover {
  std::int64_t busy_ns = 0;
  std::int64_t self_ns = 0;
};

class NodeSums {
 public:
  static constexpr std::size_t kMostUnits = 8;

  explicit NodeSums(std::size_t unit_count) : unit_count_(unit_count) {}

  NodeTotals& totals(std::uint32_t node) {
    if (totals_.size() <= node) resize(std::size_t{node} + 1);
    return totals_[node];
  }
  void count(std::uint32_t node, std::uint32_t unit) { ++unit_events_[node * unit_count_ + unit]; }
  // Call totals() of the node first. It is the time of all nodes above, too. self: it is the node's own, and not only
  // that of what lies below.
  void cover(std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t node, std::uint32_t unit, bool self) {
    if (end_ns > begin_ns) parts_.push_back({begin_ns, end_ns, node, unit << 1U | (self ? 1U : 0U)});
  }
  void close_window(const TimeRange& window, const std::vector<PathNode>& nodes);

  void merge(const NodeSums& other);
  // Sums of what lies below are added to every node; times are so already.
  void add_up(const std::vector<PathNode>& nodes);

  [[nodiscard]] const NodeTotals& totals_of(std::uint32_t node) const noexcept { return totals_[node]; }
  [[nodiscard]] const NodeCover& cover_of(std::uint32_t node) const noexcept { return covers_[node]; }
  // Time of nodes that are marked (PathNode::marked), all together.
  [[nodiscard]] std::int64_t marked_ns() const noexcept { return marked_ns_; }
  [[nodiscard]] std::uint64_t events_of(std::uint32_t node, std::size_t unit) const noexcept {
    return unit_events_[node * unit_count_ + unit];
  }
  [[nodiscard]] std::int64_t busy_of(std::uint32_t node, std::size_t unit) const noexcept {
    return unit_covers_[node * unit_count_ + unit].busy_ns;
  }
  void resize(std::size_t nodes);

 private:
  struct Part {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint32_t node = 0;
    std::uint32_t flags = 0;  // unit, self
  };
  struct Reach {  // how far the time of a node is covered
    std::int64_t any = INT64_MIN, self = INT64_MIN;
  };
  struct UnitCover {
    std::int64_t busy_ns = 0;
    std::int64_t reach = INT64_MIN;
  };
  void sort_parts(const TimeRange& window);
  void forget_reach();

  std::size_t unit_count_;
  std::vector<NodeTotals> totals_;  // by node
  std::vector<NodeCover> covers_;
  std::vector<Reach> reaches_;
  std::vector<std::uint64_t> unit_events_;  // by node and unit
  std::vector<UnitCover> unit_covers_;
  std::vector<Part> parts_, sorted_;
  std::int64_t closed_until_ns_ = INT64_MIN;
  std::int64_t marked_ns_ = 0, marked_reach_ = INT64_MIN;
};

}  // namespace accelscope
