// What a worker keeps while it puts events into a tree: its copy of the nodes, what it knows of their children, and the
// sums of its window.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/analysis/hierarchy/borrowed_paths.h"
#include "core/analysis/hierarchy/node_sums.h"
#include "core/analysis/hierarchy/path_kinds.h"
#include "core/analysis/hierarchy/path_tree.h"
#include "core/analysis/selection/amount_block.h"
#include "core/analysis/source/event_costs.h"
#include "core/base/capped.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

// What all workers share of one question.
struct PathPlan {
  const QueryContext& query;
  const WorkKinds& works;
  const HierarchyUnits& units;
  const PathKind& kind;
  TimeRange range;
  std::size_t depth = 0;
  std::vector<std::uint64_t> device_bits;  // of every lane: NodeTotals::devices
  PathTree& tree;
  bool keeps_edges = false;                  // what depends on where a range ends is kept by itself: see EdgeEvents
  const FunctionNames* functions = nullptr;  // of PathSplit::function
  const BorrowedPaths* borrowed = nullptr;   // of lanes that have no paths

  [[nodiscard]] const Snapshot& snapshot() const noexcept { return *query.snapshot; }
};

// What an event moved, computed and waited, whole.
struct EventAmount {
  std::uint64_t bytes = 0;
  std::uint64_t waited_ns = 0;     // before it began, as recorded
  std::int64_t free_since_ns = 0;  // when its lane became free; of waited_ns > 0
  double flops = 0;
  bool waits = false;  // all of its time
};

// An event of a node as it adds to sums of any range.
struct PlacedEvent {
  std::uint32_t node = 0, lane = 0;
  EventId id = kNoEvent;
  std::int64_t begin_ns = 0, end_ns = 0;
  EventAmount amount;
};

// Work that a call launched.
struct PlacedLaunch {
  std::uint32_t node = 0;
  std::int64_t begin_ns = 0, end_ns = 0;  // of the call
  TimeRange work;
};

// first_ns: where the range begins, and no earlier than the session.
[[nodiscard]] inline std::int64_t wait_of(const EventAmount& amount, std::int64_t begin_ns, std::int64_t end_ns,
                                          const TimeRange& range, std::int64_t first_ns) noexcept {
  if (amount.waits) {
    const std::int64_t inside = std::min(end_ns, range.end_ns) - std::max(begin_ns, range.begin_ns);
    if (inside > 0) return inside;
  }
  const std::int64_t free_ns = std::max(first_ns, amount.free_since_ns);
  if (amount.waited_ns == 0 || begin_ns <= free_ns) return 0;
  return static_cast<std::int64_t>(std::min(amount.waited_ns, static_cast<std::uint64_t>(begin_ns - free_ns)));
}

inline void add_amount(NodeTotals& totals, const EventAmount& amount, std::int64_t begin_ns, std::int64_t end_ns,
                       const TimeRange& range, std::int64_t first_ns) noexcept {
  const double inside = share_inside(range, begin_ns, end_ns);
  if (amount.bytes > 0) totals.bytes = capped_sum(totals.bytes, part_of_amount(amount.bytes, inside));
  totals.flops += amount.flops * inside;
  totals.wait_ns = capped_sum(totals.wait_ns, wait_of(amount, begin_ns, end_ns, range, first_ns));
}

[[nodiscard]] inline TimeRange part_inside(std::int64_t begin_ns, std::int64_t end_ns,
                                           const TimeRange& range) noexcept {
  return {std::max(begin_ns, range.begin_ns), std::min(end_ns, range.end_ns)};
}

// Of a window whose sums are kept for ranges that are not known yet: what a range that ends or begins beside the window
// can cut. All the rest lies in the window whole.
struct EdgeEvents {
  std::vector<PlacedEvent> over_end;   // begin in the window and end after it; not in its sums but for their time
  std::vector<PlacedEvent> waited;     // waited since before the window began; in its sums but for their wait
  std::vector<PlacedLaunch> launches;  // of all calls that begin in it; not in its sums

  void append(const EdgeEvents& other) {
    over_end.insert(over_end.end(), other.over_end.begin(), other.over_end.end());
    waited.insert(waited.end(), other.waited.begin(), other.waited.end());
    launches.insert(launches.end(), other.launches.begin(), other.launches.end());
  }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return (over_end.capacity() + waited.capacity()) * sizeof(PlacedEvent) + launches.capacity() * sizeof(PlacedLaunch);
  }
};

// All that a window adds.
struct WindowPart {
  TimeRange range;
  NodePart sums;
  EdgeEvents edges;
  std::uint64_t cut_events = 0;  // begin in the window and lie deeper than the plan's depth
};

class PathWorker {
 public:
  explicit PathWorker(const PathPlan& of)
      : plan(of), first_ns(std::max(of.range.begin_ns, of.snapshot().begin_ns)), sums(of.units.units().size()) {}

  // Before the first event of each window.
  void open(const ScanWindow& window) {
    if (is_open_) return;
    is_open_ = true;
    const Snapshot& snapshot = plan.snapshot();
    sums.open({std::max(window.range.begin_ns, snapshot.begin_ns), std::min(window.range.end_ns, snapshot.end_ns)});
    window_end_ns_ = plan.keeps_edges ? window.range.end_ns : std::numeric_limits<std::int64_t>::max();
  }
  [[nodiscard]] WindowPart close(const ScanWindow& window) {
    is_open_ = false;
    return {window.range, sums.close(nodes), std::exchange(edges_, {}), std::exchange(cut_events, 0)};
  }

  // The node of a string of the session below another one; the same one where it would lie deeper than was asked for.
  [[nodiscard]] std::uint32_t child(std::uint32_t parent, StringId text, bool detail = false) {
    const std::uint32_t key = text * 2 + (detail ? 1 : 0);
    if (const std::uint32_t known = known_.find(parent, key); known != 0) return known - 1;
    const std::uint32_t node = child_of_text(parent, plan.snapshot().strings->text(text), detail);
    known_.add(parent, key, node + 1);
    return node;
  }
  [[nodiscard]] std::uint32_t child_of_text(std::uint32_t parent, std::string_view text, bool detail = false) {
    if (nodes[parent].depth >= plan.depth) return parent;
    const std::uint32_t node = plan.tree.child(parent, text, detail);
    if (node >= nodes.size()) plan.tree.copy_new(nodes);
    return node;
  }
  // An event that the window owns adds to its node: whole, but for the range. Its parts come one by one: put together
  // first, they would be read back from memory that was just written.
  void add_event(std::uint32_t slot, std::uint32_t node, std::uint32_t lane, EventId id, std::int64_t begin_ns,
                 std::int64_t end_ns, const EventAmount& amount) {
    const std::int64_t window_begin_ns = sums.window().begin_ns;
    const bool took = amount.waits && end_ns > begin_ns;  // then that is its wait
    const bool is_late = plan.keeps_edges && !took && amount.waited_ns > 0 && amount.free_since_ns < window_begin_ns &&
                         amount.waited_ns > static_cast<std::uint64_t>(begin_ns - window_begin_ns);
    if (end_ns > window_end_ns_ || is_late) return add_edge(slot, {node, lane, id, begin_ns, end_ns, amount});
    add_inside(slot, lane, id, begin_ns, end_ns, amount);
  }
  void add_launch(NodeTotals& totals, const PlacedLaunch& launch) {
    if (plan.keeps_edges) return edges_.launches.push_back(launch);
    ++totals.launched_events;
    totals.launched_ns =
        capped_sum(totals.launched_ns, part_inside(launch.work.begin_ns, launch.work.end_ns, plan.range).length_ns());
  }

  const PathPlan& plan;
  const std::int64_t first_ns;  // where the range begins, and no earlier than the session
  std::vector<PathNode> nodes = {PathNode{}};
  WindowSums sums;
  std::uint64_t cut_events = 0;  // of the window

 private:
  void add_inside(std::uint32_t slot, std::uint32_t lane, EventId id, std::int64_t begin_ns, std::int64_t end_ns,
                  const EventAmount& amount) {
    NodeTotals& totals = sums.at(slot);
    totals.devices |= plan.device_bits[lane];
    totals.add_event(id, part_inside(begin_ns, end_ns, plan.range));
    sums.count(slot, plan.units.of_lane(lane));
    add_amount(totals, amount, begin_ns, end_ns, plan.range, first_ns);
  }
  void add_edge(std::uint32_t slot, const PlacedEvent& event) {
    if (event.end_ns > window_end_ns_) return edges_.over_end.push_back(event);
    edges_.waited.push_back(event);
    EventAmount rest = event.amount;
    rest.waited_ns = 0;
    add_inside(slot, event.lane, event.id, event.begin_ns, event.end_ns, rest);
  }

  PairTable known_;  // of a node and a string (twice its id, one more for a detail): the child, + 1
  EdgeEvents edges_;
  bool is_open_ = false;
  std::int64_t window_end_ns_ = 0;
};

}  // namespace accelscope::analysis
