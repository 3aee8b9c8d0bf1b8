// What changes do to a work graph: which of its events and edges are left, and how long they take. The graph itself
// stays as it is; a replay looks here first.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "core/analysis/critical_path/work_graph.h"

namespace accelscope::analysis {

struct ChangedGraph {
  enum Gone : std::uint8_t {
    kHere = 0,
    kGone = 1,             // it never was: nothing waits for it
    kWaitsForNothing = 2,  // it begins after the event before on its server
    kAtOnce = 3,           // without latency and without a delay that nothing explains
    kBypassed = 4,         // it never was: what waited for it waits for what it waited for
  };

  // How a replay takes what no source told.
  enum class Reading : std::uint8_t {
    joined,    // as the graph has it
    doubtful,  // what was inferred from times alone does not hold
    hopeful,   // all that may become shorter does: what is `loose` never was, waits for transfers that nothing joins
               // and pauses within transfers shrink with them
  };

  explicit ChangedGraph(const WorkGraph& graph)
      : latencies_ns(graph.latencies_ns), doubled(graph.lanes.size(), 0), may_lose(graph.latencies_ns.size(), 0) {}

  std::vector<float> factors;              // of durations, by node; empty: none changes
  std::vector<std::uint8_t> gone;          // by node; empty: none is
  std::vector<NodeIndex> instead;          // by node: whose end counts for its own; empty: its own, of all
  std::vector<std::int64_t> latencies_ns;  // by class
  std::vector<std::uint8_t> doubled;       // by lane of the graph
  struct RemovedWaits {
    std::uint32_t semaphore = 0;
    std::vector<std::uint8_t> classes;  // by class of latency: those of this class are removed
  };
  std::vector<RemovedWaits> removed;
  std::vector<std::uint8_t> may_lose;  // by class of latency: any is removed
  // By edge, where it comes from instead, an event that is before its target; kNoNode: it does not hold.
  std::unordered_map<std::uint32_t, NodeIndex> sources;
  std::unordered_map<NodeIndex, NodeIndex> places;  // events that come directly after others in the program
  bool without_delays = false;  // of devices, that nothing explains, but for those of one that was idle
  double host_delays = 1;       // what a host's threads do between calls that are recorded
  Reading reading = Reading::joined;
  std::vector<NodeIndex> loose;  // bypassed, but what waits for them may not need what they waited for
  double unknown_waits = 1;      // of the length of waits for transfers that nothing joins, in a hopeful reading
  std::uint64_t touched = 0;

  void scale(const WorkGraph& graph, NodeIndex node, double factor) {
    factors.resize(graph.count(), 1.0F);
    factors[node] *= static_cast<float>(factor);
  }
  void lengthen(const WorkGraph& graph, NodeIndex node, double ns) {
    const auto length = static_cast<double>(graph.end_ns[node] - graph.begin_ns[node]);
    if (length > 0) scale(graph, node, 1 + ns / length);
  }
  void take_out(const WorkGraph& graph, NodeIndex node, Gone how) {
    gone.resize(graph.count(), kHere);
    if (gone[node] == kHere) ++touched;
    gone[node] = how;
  }
  // The same changes in another reading.
  [[nodiscard]] ChangedGraph read_as(Reading other) const {
    ChangedGraph changed(*this);
    changed.reading = other;
    if (other != Reading::hopeful) return changed;
    for (const NodeIndex node : loose) changed.gone[node] = kGone;
    return changed;
  }
  // What waited for it waits for the other one.
  void take_out_for(const WorkGraph& graph, NodeIndex node, NodeIndex other) {
    take_out(graph, node, kGone);
    instead.resize(graph.count(), kNoNode);
    instead[node] = other;
  }
  [[nodiscard]] bool is(NodeIndex node, Gone how) const noexcept { return !gone.empty() && gone[node] == how; }
  [[nodiscard]] bool is_left_out(NodeIndex node) const noexcept {
    return !gone.empty() && (gone[node] == kGone || gone[node] == kBypassed);
  }
};

}  // namespace accelscope::analysis
