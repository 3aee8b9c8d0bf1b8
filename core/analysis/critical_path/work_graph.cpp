#include "core/analysis/critical_path/work_graph.h"

#include <algorithm>

#include "core/analysis/critical_path/graph_scan.h"
#include "core/analysis/time/sorted_runs.h"
#include "core/store/retained_answers.h"

namespace accelscope::analysis {
namespace {

constexpr std::uint64_t kMostRetainedBytes = std::uint64_t{1} << 30;  // a larger graph is of who asked for it alone

// An event is settled at its begin, one that waits at its end: what ends it may begin after it. Of equal times what
// takes no time comes first, then waits that end, then what begins, then what another one's begin let go.
void order_nodes(WorkGraph& graph) {
  // Every node after all that may come before it, by the time at which it is settled.
  std::vector<DigitKey> keys(graph.count());
  for (NodeIndex node = 0; node < graph.count(); ++node) {
    const bool waits = graph.waits[node] != 0;
    const std::int64_t at = graph.settled_ns(node);
    const bool let_go = std::ranges::any_of(graph.edges_of(node), [&](const GraphEdge& edge) {
      return edge.from_begin && graph.begin_ns[edge.source] == at;
    });
    const std::uint64_t rank = waits ? 1 : let_go ? 3 : graph.begin_ns[node] == graph.end_ns[node] ? 0 : 2;
    keys[node] = {static_cast<std::uint64_t>(at - graph.begin_of_all_ns) << 2 | rank, node};
  }
  sort_by_digits(keys);
  graph.order.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) graph.order[i] = keys[i].value;
}

// Edges that the order contradicts: equal times may be told in any order.
void drop_backward_edges(WorkGraph& graph) {
  std::vector<std::uint32_t> place(graph.count());
  for (std::uint32_t i = 0; i < graph.order.size(); ++i) place[graph.order[i]] = i;
  std::uint32_t retained = 0;
  for (NodeIndex node = 0; node < graph.count(); ++node) {
    const std::uint32_t first = graph.edges_from[node], last = graph.edges_from[node + 1];
    graph.edges_from[node] = retained;
    for (std::uint32_t i = first; i < last; ++i) {
      if (place[graph.edges[i].source] >= place[node]) continue;
      graph.edges[retained++] = graph.edges[i];
    }
    NodeIndex& before = graph.server_before[node];
    if (before != kNoNode && place[before] >= place[node]) before = kNoNode;
  }
  graph.edges_from[graph.count()] = retained;
  graph.edges.resize(retained);
}

}  // namespace

Result<std::shared_ptr<const WorkGraph>> WorkGraph::build(const QueryContext& query, const Dependencies& dependencies) {
  auto graph = std::make_shared<WorkGraph>();
  graph->snapshot = query.snapshot;
  GraphParts parts;
  TRY(scan_graph_nodes(query, dependencies, *graph, parts));
  order_servers(query, *graph);
  if (query.control.cancelled()) return cancelled_error();
  TRY(join_transfers(query, *graph, parts));
  TRY(add_graph_edges(query, dependencies, parts, *graph));
  order_nodes(*graph);
  drop_backward_edges(*graph);
  if (query.control.cancelled()) return cancelled_error();
  return std::shared_ptr<const WorkGraph>(graph);
}

Result<std::shared_ptr<const WorkGraph>> session_graph(const QueryContext& query) {
  const QueryContext whole = query.unmasked();
  const auto build = [&]() -> Result<std::shared_ptr<const WorkGraph>> {
    const auto dependencies = TRY(session_dependencies(whole));
    return WorkGraph::build(whole, *dependencies);
  };
  const auto keeps = [](const WorkGraph& graph) { return graph.memory_bytes() <= kMostRetainedBytes; };
  return query.store.retained().find<WorkGraph>(whole.snapshot, query.control, build, keeps);
}

void WorkGraph::resize(std::size_t nodes, bool with_locations) {
  begin_ns.resize(nodes);
  end_ns.resize(nodes);
  names.resize(nodes);
  graph_lane.resize(nodes);
  waits.resize(nodes);
  edges_from.resize(nodes + 1);
  if (!wait_ns.empty()) wait_ns.resize(nodes);
  if (with_locations || !locations.empty()) locations.resize(nodes);
  if (!parts.empty()) parts.resize(nodes, kNone);
  if (!has_signal.empty()) has_signal.resize(nodes);
}

EventId WorkGraph::event(NodeIndex node) const noexcept {
  if (lane(node).is_thread) return calls[node - first_call];
  const GraphLane& lane = lanes[graph_lane[node]];
  const std::uint64_t ordinal = positions[graph_lane[node]].ordinal(node - lane.first);
  return make_event_id(snapshot->lanes[lane.lane].number(), ordinal);
}

TrackNumber WorkGraph::track(NodeIndex node) const noexcept {
  if (!lane(node).is_thread) return lane(node).track;
  const LaneSnapshot* of = snapshot->find_lane(lane_of(event(node)));
  return of == nullptr ? lane(node).track : of->track;
}

EventId WorkGraph::whole_event(NodeIndex node) const noexcept {
  return parts.empty() || parts[node] == kNone ? event(node) : transfers[parts[node]];
}

NodeIndex WorkGraph::find(EventId event) const noexcept {
  const LaneNumber number = lane_of(event);
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    if (!lanes[place].is_thread && snapshot->lanes[lanes[place].lane].number() == number) return node_of(place, event);
  }
  const auto call = std::find(calls.begin(), calls.end(), event);
  if (call != calls.end()) return first_call + static_cast<NodeIndex>(call - calls.begin());
  const auto transfer = std::find(transfers.begin(), transfers.end(), event);
  if (transfer == transfers.end()) return kNoNode;
  NodeIndex last = kNoNode;
  const auto place = static_cast<std::uint32_t>(transfer - transfers.begin());
  for (NodeIndex node = 0; node < parts.size(); ++node) {
    if (parts[node] == place && (last == kNoNode || end_ns[node] > end_ns[last])) last = node;
  }
  return last;
}

Hold WorkGraph::hold_of(const GraphEdge& edge) const noexcept {
  return {edge.source,
          edge.kind,
          edge.from_begin,
          edge.from_begin ? begin_ns[edge.source] : end_ns[edge.source],
          latencies_ns[edge.latency],
          edge.confidence};
}

Hold WorkGraph::begin_hold(NodeIndex node) const noexcept {
  Hold held;
  const auto offer = [&](const Hold& other) {
    if (held.source == kNoNode || other.reached_ns() > held.reached_ns()) held = other;
  };
  const bool waited = !wait_ns.empty() && wait_ns[node] > 0;
  if (waited && waits[node] == 0) {
    for (const GraphEdge& edge : edges_of(node)) {
      if (!edge.from_begin && edge.kind != EdgeKind::issue) offer(hold_of(edge));
    }
    // An event that says that it waited did not wait for its server, but for what came while it did.
    if (held.source != kNoNode && held.reached_ns() >= begin_ns[node] - wait_ns[node]) return held;
  }
  if (waits[node] == 0) {
    for (const GraphEdge& edge : edges_of(node)) offer(hold_of(edge));
  }
  if (server_before[node] != kNoNode) {
    offer({server_before[node], EdgeKind::server, false, end_ns[server_before[node]],
           server_latencies_ns[lanes[graph_lane[node]].server]});
  }
  return held;
}

Hold WorkGraph::end_hold(NodeIndex node) const noexcept {
  Hold held;
  for (const GraphEdge& edge : edges_of(node)) {
    const Hold other = hold_of(edge);
    if (held.source == kNoNode || other.reached_ns() > held.reached_ns()) held = other;
  }
  if (held.source == kNoNode) return held;
  const std::int64_t anyway = begin_ns[node] + shortest_wait_ns[graph_lane[node]];
  return held.reached_ns() > anyway || held.since_ns > begin_ns[node] ? held : Hold{};
}

namespace {

constexpr unsigned kNodesOfBlock = 6;  // as a power of two

template <typename Signal>
std::vector<std::uint32_t> first_of_blocks(const std::vector<Signal>& signals, std::size_t nodes) {
  std::vector<std::uint32_t> first((nodes >> kNodesOfBlock) + 2, 0);
  for (const Signal& each : signals) ++first[(each.node >> kNodesOfBlock) + 1];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  return first;
}

// The first signal of a node; behind the last of its block where it has none.
template <typename Signal>
std::uint32_t first_of_node(const std::vector<Signal>& signals, const std::vector<std::uint32_t>& blocks,
                            NodeIndex node) noexcept {
  if (blocks.empty()) return static_cast<std::uint32_t>(signals.size());
  std::uint32_t at = blocks[node >> kNodesOfBlock];
  const std::uint32_t last = blocks[(node >> kNodesOfBlock) + 1];
  while (at < last && signals[at].node < node) ++at;
  return at;
}

}  // namespace

void index_signals(WorkGraph& graph) {
  graph.first_condition = first_of_blocks(graph.conditions, graph.count());
  graph.first_update = first_of_blocks(graph.updates, graph.count());
}

std::optional<std::uint32_t> WorkGraph::semaphore_of(NodeIndex node) const noexcept {
  const std::uint32_t at = first_of_node(updates, first_update, node);
  if (at == updates.size() || updates[at].node != node) return std::nullopt;
  return updates[at].semaphore;
}

const SemaphoreCondition* WorkGraph::condition_of(NodeIndex node, NodeIndex source) const noexcept {
  const SemaphoreCondition* best = nullptr;
  for (std::uint32_t at = first_of_node(conditions, first_condition, node);
       at < conditions.size() && conditions[at].node == node; ++at) {
    if (source != kNoNode) {
      const auto set = semaphore_of(source);
      if (!set || *set != conditions[at].semaphore) continue;
    }
    if (best == nullptr || conditions[at].value > best->value) best = &conditions[at];
  }
  return best;
}

std::string_view edge_confidence_name(EdgeConfidence confidence) noexcept {
  constexpr std::string_view kNames[] = {"recorded", "matched", "inferred"};
  return kNames[static_cast<std::size_t>(confidence)];
}

NodeIndex WorkGraph::trigger_of(NodeIndex packet) const noexcept {
  if (parts.empty() || parts[packet] == kNone || parts[packet] < first_matched) return kNoNode;
  return triggers[parts[packet] - first_matched];
}

bool WorkGraph::waits_for_unknown(NodeIndex node) const noexcept {
  return std::binary_search(unknown_waits.begin(), unknown_waits.end(), node);
}

bool WorkGraph::sets_off_transfers(NodeIndex node) const noexcept {
  return std::binary_search(transfer_names.begin(), transfer_names.end(), names[node]);
}

std::uint64_t WorkGraph::memory_bytes() const noexcept {
  const auto of = [](const auto& values) { return values.capacity() * sizeof(values[0]); };
  return of(begin_ns) + of(end_ns) + of(wait_ns) + of(server_before) + of(graph_lane) + of(names) + of(locations) +
         of(parts) + of(waits) + of(calls) + of(has_signal) + of(edges_from) + of(edges) + of(order) + of(transfers) +
         of(triggers) + of(waited_before) + of(unknown_waits) + of(conditions) + of(updates) + of(first_condition) +
         of(first_update);
}

}  // namespace accelscope::analysis
