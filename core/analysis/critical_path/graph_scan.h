// The first steps of WorkGraph::build: which lanes are in the graph, and what its nodes are.
#pragma once

#include <map>
#include <unordered_map>

#include "core/analysis/critical_path/host_work.h"
#include "core/analysis/critical_path/work_graph.h"

namespace accelscope {

// What the scan finds beside the nodes.
struct GraphParts {
  std::unordered_map<EventId, std::uint32_t> transfer_places;  // into WorkGraph::transfers
  std::vector<std::uint32_t> first_packet;                     // by transfer, size count + 1, into packets
  std::vector<NodeIndex> packets;                              // by transfer
  std::vector<std::uint32_t> engine_of_lane;                   // by lane of the graph; rows of one engine are equal
  HostWork host;
};

[[nodiscard]] Result<void> scan_graph_nodes(const QueryContext& query, const Dependencies& dependencies,
                                            WorkGraph& graph, GraphParts& parts);

// By node and semaphore.
void sort_updates(std::vector<SemaphoreUpdate>& updates);
// For semaphore_of() and condition_of(); once they are complete.
void index_signals(WorkGraph& graph);

// The event before on the same server.
void order_servers(const QueryContext& query, WorkGraph& graph);

// Adds the edges of dependencies, of semaphores and of the order of issue.
[[nodiscard]] Result<void> add_graph_edges(const QueryContext& query, const Dependencies& dependencies,
                                           const GraphParts& parts, WorkGraph& graph);

}  // namespace accelscope
