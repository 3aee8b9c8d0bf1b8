// The first steps of WorkGraph::build: which lanes are in the graph, and what its nodes are.
#pragma once

#include <map>
#include <unordered_map>

#include "core/analysis/critical_path/host_work.h"
#include "core/analysis/critical_path/work_graph.h"

namespace accelscope::analysis {

// An instruction that says what the transfer that it sets off adds to, and how much.
struct TransferTrigger {
  NodeIndex node = kNoNode;
  std::uint32_t semaphore = 0, increment = 0;
};

// What a semaphore was set to, when, and by whom.
struct SemaphoreStory {
  std::vector<std::pair<std::int64_t, std::int64_t>> values;  // time, value; by time
  std::vector<std::uint32_t> adds;                            // by value: how many before it added
  std::uint32_t add_count = 0;
  std::vector<NodeIndex> setters;  // by their end
  bool of_collectives = false;
  std::string_view queue;  // whose transfers add to it; empty: an engine does

  // The sample that fulfilled a condition last before a time, and first of those that kept it fulfilled; kNone: none
  // did.
  [[nodiscard]] std::size_t held_since(const SemaphoreCondition& condition, std::int64_t time_ns) const noexcept;
};
using StoryKey = std::pair<std::size_t, std::uint32_t>;  // device, semaphore

// What the scan finds beside the nodes.
struct GraphParts {
  std::unordered_map<EventId, std::uint32_t> transfer_places;  // into WorkGraph::transfers
  std::vector<std::uint32_t> first_packet;                     // by transfer, size count + 1, into packets
  std::vector<NodeIndex> packets;                              // by transfer
  std::vector<std::uint32_t> engine_of_lane;                   // by lane of the graph; rows of one engine are equal
  std::vector<std::int64_t> queue_of_lane;                     // of packets: their queue's number; below 0: unknown
  std::vector<TransferTrigger> triggers;                       // by node
  std::map<StoryKey, SemaphoreStory> stories;
  std::vector<std::pair<NodeIndex, NodeIndex>> matched;  // packets, and the instruction that set their transfer off
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

// Reads what semaphores were set to, and joins packets that name neither their transfer nor their semaphore with what
// set them off and what they add to: a queue serves in order, so the nth signal of a queue on a DMA engine is that of
// the nth transfer which was set off on it, and the nth time that one of the queue's semaphores rises.
[[nodiscard]] Result<void> join_transfers(const QueryContext& query, WorkGraph& graph, GraphParts& parts);

// Adds the edges of dependencies, of semaphores and of the order of issue.
[[nodiscard]] Result<void> add_graph_edges(const QueryContext& query, const Dependencies& dependencies,
                                           GraphParts& parts, WorkGraph& graph);

}  // namespace accelscope::analysis
