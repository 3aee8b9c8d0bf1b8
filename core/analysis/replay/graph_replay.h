// A work graph run again with changes: in an order in which every event comes after all that it needs, with other
// durations, latencies, edges and places. What an event began later than its edges explain stays as it was. Where a
// device of engines stood idle, what follows comes after all that it did before.
//
//   ChangedGraph changed(graph);
//   changed.take_out(graph, node, ChangedGraph::kGone);
//   const auto replay = GraphReplay::run(query, graph, changed);
//   const std::int64_t saved = graph.end_of_all_ns - (*replay)->end_of_all_ns();
//
// The order on each server stays as it was, but for what has another place: a queue that would serve others first is
// not re-ordered.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/analysis/critical_path/critical_path.h"
#include "core/analysis/replay/changed_graph.h"

namespace accelscope::analysis {

// A device that stands idle for as long was told what to do next by somebody else.
inline constexpr std::int64_t kLeastIdleNs = 5'000;

// How often a device of engines had stood idle before each of its events, in the order of their begins. Waits span idle
// time: nothing works in it.
class IdleStretches {
 public:
  static constexpr std::int64_t kNoTime = INT64_MIN;
  // Of the device before it last stood idle: until when it was under way, as it was recorded and in a replay, and which
  // event was the last in the replay.
  struct Idle {
    std::uint32_t stretch = 0;
    std::int64_t recorded_ns = kNoTime, replayed_ns = kNoTime;
    NodeIndex last = kNoNode;
  };
  explicit IdleStretches(const WorkGraph& graph);
  [[nodiscard]] Idle before(NodeIndex node);
  // The event has ended; kNoTime: it never was.
  void after(NodeIndex node, std::int64_t replayed_end_ns);

 private:
  struct Device {
    std::int64_t recorded_ns = kNoTime, replayed_ns = kNoTime;
    NodeIndex last = kNoNode;
    Idle idle;
  };
  [[nodiscard]] Device* device_of(NodeIndex node);

  const WorkGraph& graph_;
  std::vector<std::uint32_t> device_of_lane_;  // kNone of lanes that are not of engines
  std::vector<Device> devices_;
};

// A packet of the transfer that the one before it on its DMA engine is of.
[[nodiscard]] bool follows_part(const WorkGraph& graph, NodeIndex node) noexcept;

// What the events of a range took, and take in a replay: from the first begin to the last end of those that lie wholly
// inside of it.
struct RangeTotals {
  TimeRange before, after;  // recorded, and in the replay
};

class GraphReplay {
 public:
  // Fails when cancelled.
  [[nodiscard]] static Result<std::unique_ptr<GraphReplay>> run(const QueryContext& query, const WorkGraph& graph,
                                                                const ChangedGraph& changed);
  GraphReplay(const WorkGraph& graph, const ChangedGraph& changed);  // the changes must outlive it

  [[nodiscard]] std::int64_t end_of_all_ns() const noexcept { return end_of_all_ns_; }
  [[nodiscard]] RangeTotals totals(const TimeRange& range) const;
  [[nodiscard]] CriticalPath path(const TimeRange& range) const;

  // By node; of those that never were, where they would have been.
  std::vector<std::int64_t> begin_ns, end_ns;

 private:
  class Times;
  [[nodiscard]] Result<void> run(const QueryContext& query);
  void settle();
  void place();

  const WorkGraph& graph_;
  const ChangedGraph& changed_;
  std::vector<NodeIndex> order_, before_;                // empty: those of the graph
  std::vector<std::uint32_t> position_;                  // in order_, by node
  std::unordered_map<NodeIndex, NodeIndex> idle_holds_;  // what let an event begin after its device stood idle
  std::vector<NodeIndex> passed_by_;                     // by node: what a bypassed one waited for last
  std::vector<std::int64_t> passed_ns_;  // by node: when what a bypassed one waited for had ended; empty: none is
  std::int64_t end_of_all_ns_ = 0;
};

}  // namespace accelscope::analysis
