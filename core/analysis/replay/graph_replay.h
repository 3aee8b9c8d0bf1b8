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
#include <vector>

#include "core/analysis/critical_path/critical_path.h"
#include "core/analysis/replay/changed_graph.h"

namespace accelscope {

// A device that stands idle for as long was told what to do next by somebody else.
inline constexpr std::int64_t kLeastIdleNs = 5'000;

// By lane of the graph, the device whose engines' idle time parts what it does; kNone of others: what a host launches
// says itself what it comes after.
[[nodiscard]] std::vector<std::uint32_t> engine_devices(const WorkGraph& graph);

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
  std::vector<NodeIndex> order_, before_;  // empty: those of the graph
  std::vector<std::uint32_t> position_;    // in order_, by node
  std::vector<std::int64_t> passed_ns_;    // by node: when what a bypassed one waited for had ended; empty: none is
  std::int64_t end_of_all_ns_ = 0;
};

}  // namespace accelscope
