// What the nodes of a tree add up to: sums of their own events, and the time that at least one event of a node or below
// it covers.
//
// A worker gathers window by window (core/scan/chunk_scan.h) and keeps only the nodes that the window has met; what
// they took is handed on at the window's end, so that a node costs a worker four bytes, and what is added up exists
// once.
//
//   WindowSums window(units);                         // one per worker
//   window.open(range);
//   const std::uint32_t slot = window.slot_of(node);
//   window.at(slot).events += 1;                      // a node's own event; not yet its parents'
//   window.cover(begin_ns, end_ns, slot, unit);       // its time within the window, and that of all above it
//   sums.add(window.close(nodes));                    // NodeSums: all together
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/analysis/hierarchy/path_tree.h"
#include "core/base/capped.h"
#include "core/model/ids.h"
#include "core/model/time_range.h"

namespace accelscope::analysis {

// Of events that begin there; all but `events` are clipped to the range.
struct NodeTotals {
  std::uint64_t events = 0;
  std::int64_t sum_ns = 0;   // of durations, those of waits too
  std::int64_t wait_ns = 0;  // of events that wait, and what others waited before they began while their lane was free
  std::uint64_t bytes = 0;
  double flops = 0;
  std::uint64_t launched_events = 0;
  std::int64_t launched_ns = 0;
  std::uint64_t devices = 0;  // that could have computed it, a bit each; the last stands for all further ones
  EventId longest = kNoEvent;
  std::int64_t longest_ns = -1;
  TimeRange stretch{INT64_MAX, INT64_MIN};  // from the first begin to the last end

  void add(const NodeTotals& other) noexcept;
  void add_event(EventId id, const TimeRange& part) noexcept {
    ++events;
    const std::int64_t length_ns = part.end_ns - part.begin_ns;
    sum_ns = capped_sum(sum_ns, length_ns);
    if (length_ns > longest_ns || (length_ns == longest_ns && id < longest)) {
      longest_ns = length_ns;
      longest = id;
    }
    stretch.begin_ns = std::min(stretch.begin_ns, part.begin_ns);
    stretch.end_ns = std::max(stretch.end_ns, part.end_ns);
  }
};

struct NodeCover {
  std::int64_t busy_ns = 0;
  std::int64_t self_ns = 0;
};

// Of a node on one unit.
struct UnitSum {
  std::uint64_t events = 0;
  std::int64_t busy_ns = 0;
  void add(const UnitSum& other) noexcept {
    events += other.events;
    busy_ns = capped_sum(busy_ns, other.busy_ns);
  }
};

// What some stretch of time adds to the nodes that it meets.
struct NodePart {
  struct Node {
    std::uint32_t node = 0;
    NodeTotals totals;  // its own
    NodeCover cover;
  };
  std::vector<Node> nodes;     // each once
  std::vector<UnitSum> units;  // of nodes[i] on unit u: units[i * unit_count + u]
  std::int64_t marked_ns = 0;  // time of nodes that are marked (PathNode::marked), all together

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return sizeof(NodePart) + nodes.capacity() * sizeof(Node) + units.capacity() * sizeof(UnitSum);
  }
};

// A node's times within one window, put in order and united at its end.
class WindowSums {
 public:
  static constexpr std::size_t kMostUnits = 8;

  explicit WindowSums(std::size_t unit_count) : unit_count_(unit_count) {}

  void open(const TimeRange& window) noexcept;
  [[nodiscard]] const TimeRange& window() const noexcept { return window_; }
  // A node's place among those that the window has met.
  [[nodiscard]] std::uint32_t slot_of(std::uint32_t node) {
    if (node < slots_.size() && slots_[node] != 0) return slots_[node] - 1;
    return add_slot(node);
  }
  [[nodiscard]] NodeTotals& at(std::uint32_t slot) noexcept { return met_[slot].totals; }
  [[nodiscard]] NodeTotals& totals(std::uint32_t node) { return at(slot_of(node)); }
  void count(std::uint32_t slot, std::uint32_t unit) noexcept { ++units_[slot * unit_count_ + unit].events; }
  // Within the window. It is the time of all nodes above, too.
  void cover(std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t slot, std::uint32_t unit) {
    if (end_ns <= begin_ns) return;
    const std::uint32_t place = slot << kUnitBits | unit;
    const auto begin = static_cast<std::uint64_t>(begin_ns) - static_cast<std::uint64_t>(window_.begin_ns);
    const auto end = static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(window_.begin_ns);
    if (is_short_) {
      append(short_parts_, {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), place});
    } else {
      append(long_parts_, {begin, end, place});
    }
  }
  // Of the window, which is forgotten.
  [[nodiscard]] NodePart close(const std::vector<PathNode>& nodes);

 private:
  static constexpr unsigned kUnitBits = 3;
  // From the begin of the window on. Half as large where a window is shorter than four seconds, as nearly all are.
  template <typename Number>
  struct Part {
    Number begin, end;
    std::uint32_t place;  // slot, unit
  };
  // What goes on where the one before it ended is one with it.
  template <typename Number>
  static void append(std::vector<Part<Number>>& parts, const Part<Number>& part) {
    if (!parts.empty() && parts.back().end == part.begin && parts.back().place == part.place) {
      parts.back().end = part.end;
    } else {
      parts.push_back(part);
    }
  }
  struct Reach {  // how far the time of a node is covered
    std::uint64_t any = 0, self = 0;
    std::uint32_t parent = 0;  // slot; of the root: its own
    bool detail = false, marked = false, has_children = false;
  };
  std::uint32_t add_slot(std::uint32_t node);
  void add_parents(const std::vector<PathNode>& nodes);
  template <typename Number>
  void cover_nodes(std::vector<Part<Number>>& parts, std::vector<Part<Number>>& sorted);

  std::size_t unit_count_;
  TimeRange window_;
  bool is_short_ = false;
  std::vector<std::uint32_t> slots_;  // by node: its place in what the window has met, + 1; 0: it has not met it
  std::vector<NodePart::Node> met_;   // by slot
  std::vector<UnitSum> units_;        // by slot and unit
  std::vector<Reach> reaches_;        // by slot
  std::vector<std::uint64_t> unit_reaches_;
  std::vector<std::uint32_t> bucket_starts_;
  std::vector<Part<std::uint32_t>> short_parts_, short_sorted_;
  std::vector<Part<std::uint64_t>> long_parts_, long_sorted_;
};

// All windows together, by node.
class NodeSums {
 public:
  explicit NodeSums(std::size_t unit_count) : unit_count_(unit_count) {}

  void resize(std::size_t nodes);
  void add(const NodePart& part);
  // A node's own; resize() first.
  [[nodiscard]] NodeTotals& totals(std::uint32_t node) noexcept { return totals_[node]; }
  void count(std::uint32_t node, std::uint32_t unit) noexcept { ++units_[node * unit_count_ + unit].events; }
  // What lies deeper becomes the own of the level `depth`; how many events that are, lines of a path left out. Before
  // add_up().
  std::uint64_t fold(const std::vector<PathNode>& nodes, std::size_t depth);
  // Sums of what lies below are added to every node down to the level `depth`; times are so already.
  void add_up(const std::vector<PathNode>& nodes, std::size_t depth);

  [[nodiscard]] const NodeTotals& totals_of(std::uint32_t node) const noexcept { return totals_[node]; }
  [[nodiscard]] const NodeCover& cover_of(std::uint32_t node) const noexcept { return covers_[node]; }
  [[nodiscard]] std::int64_t marked_ns() const noexcept { return marked_ns_; }
  [[nodiscard]] const UnitSum& unit_of(std::uint32_t node, std::size_t unit) const noexcept {
    return units_[node * unit_count_ + unit];
  }

 private:
  std::size_t unit_count_;
  std::vector<NodeTotals> totals_;  // by node
  std::vector<NodeCover> covers_;
  std::vector<UnitSum> units_;  // by node and unit
  std::int64_t marked_ns_ = 0;
};

// Windows that follow each other as one part.
class PartJoiner {
 public:
  explicit PartJoiner(std::size_t unit_count) : unit_count_(unit_count) {}
  void add(const NodePart& part);
  [[nodiscard]] std::size_t node_count() const noexcept { return sum_.nodes.size(); }
  [[nodiscard]] NodePart take();  // and begins anew

 private:
  std::size_t unit_count_;
  NodePart sum_;
  std::vector<std::uint32_t> places_;  // by node, + 1; 0: it has none
};

}  // namespace accelscope::analysis
