// What changes do to a work graph: which of its events and edges are left, and how long they take. The graph itself
// stays as it is; a replay looks here first.
#pragma once

#include <utility>
#include <vector>

#include "core/analysis/critical_path/what_if.h"

namespace accelscope {

struct ChangedGraph {
  enum Gone : std::uint8_t {
    kHere = 0,
    kGone = 1,             // it never was
    kWaitsForNothing = 2,  // it begins after the event before on its server
    kAtOnce = 3,           // without latency and without a delay that nothing explains
  };

  explicit ChangedGraph(const WorkGraph& graph)
      : latencies_ns(graph.latencies_ns), doubled(graph.lanes.size(), 0), may_lose(graph.latencies_ns.size(), 0) {}

  std::vector<float> factors;                // of durations, by node; empty: none changes
  std::vector<std::uint8_t> gone;            // by node; empty: none is
  std::vector<NodeIndex> instead;            // by node: whose end counts for its own; empty: its own, of all
  std::vector<std::int64_t> latencies_ns;    // by class
  std::vector<std::uint8_t> doubled;         // by lane of the graph
  std::vector<const WhatIfChange*> removed;  // waits
  std::vector<std::uint8_t> may_lose;        // by class of latency: some wait of it is removed
  std::uint64_t touched = 0;

  // Events leave; `gone` has a place for each.
  void drop(const WorkGraph& graph, NodeIndex node) {
    gone[node] = kGone;
    ++touched;
    each_trigger(graph, node, [this](NodeIndex trigger) {
      gone[trigger] = kGone;
      ++touched;
    });
  }
  // The instructions that set a transfer off; the waits before them go.
  template <typename Body>
  void each_trigger(const WorkGraph& graph, NodeIndex node, Body&& body) {
    for (const GraphEdge& edge : graph.edges_of(node)) {
      const NodeIndex trigger = edge.source;
      if (edge.kind != EdgeKind::dependency || gone[trigger] != kHere) continue;
      if (graph.lane(trigger).kind != WorkKind::compute) continue;
      body(trigger);
      const NodeIndex before = graph.server_before[trigger];
      if (before != kNoNode && graph.waits[before] != 0) gone[before] = kGone;
    }
  }
};

// Packets of one transfer share a number; an event that is a transfer of its own has one of its own.
[[nodiscard]] inline std::uint64_t transfer_of(const WorkGraph& graph, NodeIndex node) noexcept {
  if (graph.parts.empty() || graph.parts[node] == kNone) return std::uint64_t{1} << 40 | node;
  return graph.parts[node];
}
[[nodiscard]] inline bool has_payload(const WorkGraph& graph, NodeIndex node) noexcept {
  return graph.carries_signal.empty() || graph.carries_signal[node] == 0;
}

// So many transfers of small packets (kSmallPacketBytes) as the change says, one after another of one queue, tensor and
// line, are one: what sets the others off, and its wait, are gone, and each packet of the first carries what theirs on
// its DMA engine did. A further byte takes what it takes in larger packets of the session, where there are none what
// the vendor states. `bytes` by node. Touches nothing where no transfer is so small.
void merge_transfers(const WorkGraph& graph, const WhatIfChange& change, const std::vector<std::int64_t>& bytes,
                     ChangedGraph& changed);

}  // namespace accelscope
