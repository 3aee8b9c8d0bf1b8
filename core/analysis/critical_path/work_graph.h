// All work of a session as a graph: the events of engines, DMA queues, streams, collectives and of the host's calls
// that launch or wait are its nodes; what an event had to come after is an edge. Built once per snapshot, on the pool.
//
//   const auto graph = WorkGraph::build(query, *dependencies);
//   const Hold held = (*graph)->begin_hold(node);      // what let it begin
//
// An edge is known from one of four things: the event before on the same server (an engine, a stream whatever tracks it
// is drawn on, a DMA engine, a thread of a host), a dependency that the source recorded, a semaphore that an
// instruction waited for, or the order in which an engine issues what it has on several rows. How long an edge takes at
// least (its latency) is the least that the session shows between the tracks that it joins; what an event began later
// than all of its edges allow is its delay, which nothing recorded explains.
//
// Nodes lie lane by lane in the order of their ids; those of a host's threads last, in the order of time: see
// host_work.h. Some 50 bytes a node and 8 an edge.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/base/capped.h"
#include "core/model/track_kinds.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/lane_positions.h"

namespace accelscope::analysis {

using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kNoNode = 0xffffffffU;

enum class EdgeKind : std::uint8_t {
  none,
  server,      // the event before on the same server
  dependency,  // as the source recorded it
  semaphore,   // found by the semaphore's updates
  issue,       // an engine issues in order what it has on several rows
};

// What an edge is known from.
enum class EdgeConfidence : std::uint8_t {
  recorded,  // the source says so
  matched,   // the order of a queue or the values of a semaphore leave no other
  inferred,  // it ended where the other one went on
};

[[nodiscard]] std::string_view edge_confidence_name(EdgeConfidence confidence) noexcept;

struct GraphEdge {
  NodeIndex source = kNoNode;
  std::uint16_t latency = 0;  // into WorkGraph::latencies_ns
  EdgeKind kind : 4 = EdgeKind::none;
  EdgeConfidence confidence : 4 = EdgeConfidence::recorded;
  bool from_begin = false;  // the source had only to begin
};

// A value of a semaphore that an event waited for.
struct SemaphoreCondition {
  NodeIndex node = kNoNode;
  std::uint32_t semaphore = 0;
  std::int64_t value = 0;
  bool exactly = false;
  bool of_transfers = false;  // they add to it
};
// A semaphore that an event adds to when it ends.
struct SemaphoreUpdate {
  NodeIndex node = kNoNode;
  std::uint32_t semaphore = 0;
};

// What let an event begin, or a waiting event end.
struct Hold {
  NodeIndex source = kNoNode;  // kNoNode: nothing that is known
  EdgeKind kind = EdgeKind::none;
  bool from_begin = false;
  std::int64_t since_ns = 0;    // when the source ended or began
  std::int64_t latency_ns = 0;  // that it takes at least from there
  EdgeConfidence confidence = EdgeConfidence::recorded;
  [[nodiscard]] std::int64_t reached_ns() const noexcept { return capped_sum(since_ns, latency_ns); }
};

struct GraphLane {
  std::uint32_t lane = 0;  // of Snapshot::lanes
  TrackNumber track = 0;
  TrackNumber resource = 0;  // the track that its time is put down to: of packets that of their queue
  NodeIndex first = 0;
  std::uint32_t count = 0;
  std::uint32_t server = 0;
  WorkKind kind = WorkKind::none;
  bool shares_server = false;    // of packets: DMA engines serve all queues
  bool waits_recorded = false;   // Role::wait_ns
  bool waits_when_idle = false;  // a stream: what it stands idle before an event, that waited for something
  bool is_thread = false;        // of a host: its nodes are stretches in which one call is the innermost
  StringId queue = kNone;        // of packets that were matched with their queue: its name
};

// Waits for transfers by what tells which one.
struct TransferWaits {
  std::uint64_t recorded = 0, matched = 0, inferred = 0, unknown = 0;
};

struct WorkGraph {
  std::shared_ptr<const Snapshot> snapshot;
  std::vector<GraphLane> lanes;
  std::vector<LanePositions> positions;  // by lane: where its events stand among its nodes

  // By node.
  std::vector<std::int64_t> begin_ns, end_ns;
  std::vector<std::int32_t> wait_ns;       // recorded, before it began; empty where no lane records any
  std::vector<NodeIndex> server_before;    // kNoNode: it is the first of its server
  std::vector<std::uint32_t> graph_lane;   // into lanes
  std::vector<StringId> names, locations;  // locations: empty where none has any
  std::vector<std::uint32_t> parts;        // of packets: into transfers, kNone of other nodes; empty: there are none
  std::vector<std::uint8_t> waits;         // the event itself is a wait
  std::vector<EventId> calls;              // of the nodes of threads: the innermost call
  NodeIndex first_call = 0;                // the node of calls[0]
  std::vector<std::uint8_t> has_signal;    // a packet without payload; empty: there are none
  std::vector<std::uint32_t> edges_from;   // size count + 1: the edges of node n are [edges_from[n], edges_from[n+1])
  std::vector<GraphEdge> edges;
  std::vector<NodeIndex> order;  // every node after all that its edges come from

  std::vector<std::int64_t> latencies_ns;                           // of edges
  std::vector<std::pair<TrackNumber, TrackNumber>> latency_tracks;  // from and to, of each latency
  std::vector<std::int64_t> server_latencies_ns;                    // by server
  std::vector<std::int64_t> shortest_wait_ns;                       // by lane of the graph: of events that wait
  std::vector<EventId> transfers;                                   // that packets are parts of
  std::uint32_t first_matched = 0;          // of transfers: from there on each is the event that set it off
  std::vector<NodeIndex> triggers;          // its node, by transfer from first_matched on
  std::vector<std::uint8_t> waited_before;  // a wait that had ended before the event began; empty: none is
  std::vector<NodeIndex> unknown_waits;     // for transfers that nothing tells of; by node
  TransferWaits transfer_waits;
  std::vector<StringId> transfer_names;                      // of events that set off transfers, sorted
  std::vector<SemaphoreCondition> conditions;                // by node
  std::vector<SemaphoreUpdate> updates;                      // by node
  std::vector<std::uint32_t> first_condition, first_update;  // of each 64 nodes and those after them
  std::uint64_t contradicted = 0;                            // dependencies whose target began before their source
  std::int64_t begin_of_all_ns = 0, end_of_all_ns = 0;

  [[nodiscard]] static Result<std::shared_ptr<const WorkGraph>> build(const QueryContext& query,
                                                                      const Dependencies& dependencies);

  void resize(std::size_t nodes, bool with_locations);  // while it is built
  [[nodiscard]] std::size_t count() const noexcept { return begin_ns.size(); }
  [[nodiscard]] const GraphLane& lane(NodeIndex node) const noexcept { return lanes[graph_lane[node]]; }
  [[nodiscard]] std::span<const GraphEdge> edges_of(NodeIndex node) const noexcept {
    return {edges.data() + edges_from[node], edges.data() + edges_from[node + 1]};
  }
  // The node of row 0 of a scanned chunk of a lane of the graph, and those of its other rows after it.
  [[nodiscard]] NodeIndex first_node(std::size_t place, std::uint32_t chunk) const noexcept {
    return lanes[place].first + static_cast<NodeIndex>(positions[place].before(chunk));
  }
  // Of an event of that lane, which is no thread's; kNoNode: it was lost.
  [[nodiscard]] NodeIndex node_of(std::size_t place, EventId event) const noexcept {
    const std::uint64_t position = positions[place].of_ordinal(ordinal_of(event));
    return position < lanes[place].count ? lanes[place].first + static_cast<NodeIndex>(position) : kNoNode;
  }
  // When an event is settled: as it begins, or, where it waits, as it ends.
  [[nodiscard]] std::int64_t settled_ns(NodeIndex node) const noexcept {
    return waits[node] != 0 ? end_ns[node] : begin_ns[node];
  }
  // The last of a lane's that has ended by then; kNoNode: none has.
  [[nodiscard]] NodeIndex last_ended(const GraphLane& lane, std::int64_t until_ns) const noexcept {
    const auto begin = end_ns.begin() + lane.first;
    const auto last = std::upper_bound(begin, begin + lane.count, until_ns);
    return last == begin ? kNoNode : static_cast<NodeIndex>(last - 1 - end_ns.begin());
  }
  [[nodiscard]] EventId event(NodeIndex node) const noexcept;
  // The event that a user knows it as: of a packet its transfer.
  [[nodiscard]] EventId whole_event(NodeIndex node) const noexcept;
  // kNoNode: it is none; of a transfer one of its packets, of a call the first stretch of its own.
  [[nodiscard]] NodeIndex find(EventId event) const noexcept;
  [[nodiscard]] TrackNumber track(NodeIndex node) const noexcept;  // of its event

  [[nodiscard]] Hold hold_of(const GraphEdge& edge) const noexcept;
  // What let it begin: of all that it had to come after, what came last. Of an event that says that it waited, what it
  // waited for. since + latency may lie before its begin: the rest is its delay.
  [[nodiscard]] Hold begin_hold(NodeIndex node) const noexcept;
  // What ended an event that waits; none where that had come before, so that it took its shortest time.
  [[nodiscard]] Hold end_hold(NodeIndex node) const noexcept;

  // What set off the transfer of a packet that was matched; kNoNode: it was not.
  [[nodiscard]] NodeIndex trigger_of(NodeIndex packet) const noexcept;
  // It waits, or waited before it began to take its time.
  [[nodiscard]] bool is_wait(NodeIndex node) const noexcept {
    return waits[node] != 0 || (!waited_before.empty() && waited_before[node] != 0);
  }
  // Nothing says for what of other work it waited.
  [[nodiscard]] bool waits_for_unknown(NodeIndex node) const noexcept;

  // An instruction that sets off a transfer, whether or not the source says which.
  [[nodiscard]] bool sets_off_transfers(NodeIndex node) const noexcept;
  // The semaphore whose value an event waited for that `source` set; null where the operands name none.
  [[nodiscard]] const SemaphoreCondition* condition_of(NodeIndex node, NodeIndex source) const noexcept;
  [[nodiscard]] std::optional<std::uint32_t> semaphore_of(NodeIndex node) const noexcept;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

// Of the whole session, whatever the query's mask: what waits may have waited for anything. Found once for all who ask
// while the session does not change.
[[nodiscard]] Result<std::shared_ptr<const WorkGraph>> session_graph(const QueryContext& query);

}  // namespace accelscope::analysis
