#include "core/analysis/replay/graph_replay.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/critical_path/path_walk.h"
#include "core/analysis/time/sorted_runs.h"
#include "core/analysis/time/track_devices.h"
#include "core/base/capped.h"

namespace accelscope::analysis {
namespace {

constexpr std::int64_t kNoTime = IdleStretches::kNoTime;

// What an event began (or, where it waits, ended) at by its edges as they were recorded.
struct Explained {
  std::int64_t begin_ns = kNoTime, end_ns = 0;
};
Explained explained_before(const WorkGraph& graph, NodeIndex node, bool doubts) noexcept {
  std::int64_t last = kNoTime;
  for (const GraphEdge& edge : graph.edges_of(node)) {
    if (doubts && edge.confidence == EdgeConfidence::inferred) continue;
    const std::int64_t since = edge.from_begin ? graph.begin_ns[edge.source] : graph.end_ns[edge.source];
    last = std::max(last, capped_sum(since, graph.latencies_ns[edge.latency]));
  }
  Explained explained;
  if (graph.server_before[node] != kNoNode) {
    explained.begin_ns =
        capped_sum(graph.end_ns[graph.server_before[node]], graph.server_latencies_ns[graph.lane(node).server]);
  }
  const std::int64_t shortest = graph.shortest_wait_ns[graph.graph_lane[node]];
  if (graph.waits[node] != 0) {
    explained.end_ns = std::max(capped_sum(graph.begin_ns[node], shortest), last);
  } else {
    explained.begin_ns = std::max(explained.begin_ns, last);
  }
  return explained;
}

// What it comes later by is its own engine's: what a DMA engine needs before a packet whose transfer is known, and when
// a pipeline takes the next instruction in.
bool is_paced(const WorkGraph& graph, NodeIndex node) noexcept {
  if (!graph.parts.empty() && graph.parts[node] != kNone) return true;
  const auto edges = graph.edges_of(node);
  return std::ranges::any_of(edges, [&](const GraphEdge& edge) {
    return edge.kind == EdgeKind::issue && graph.lane(edge.source).server == graph.lane(node).server;
  });
}

}  // namespace

bool follows_part(const WorkGraph& graph, NodeIndex node) noexcept {
  const NodeIndex before = graph.server_before[node];
  return before != kNoNode && !graph.parts.empty() && graph.parts[node] != kNone &&
         graph.parts[before] == graph.parts[node];
}

// What a host launches says itself what it comes after.
IdleStretches::IdleStretches(const WorkGraph& graph) : graph_(graph), device_of_lane_(graph.lanes.size(), kNone) {
  const TrackDevices labels(*graph.snapshot);
  std::vector<bool> launched(labels.count(), false);
  for (const GraphLane& lane : graph.lanes) {
    if (lane.waits_when_idle) launched[labels.of_lane(lane.lane)] = true;
  }
  for (std::size_t i = 0; i < graph.lanes.size(); ++i) {
    const std::size_t device = labels.of_lane(graph.lanes[i].lane);
    if (!is_device_work(graph.lanes[i].kind) || launched[device]) continue;
    device_of_lane_[i] = static_cast<std::uint32_t>(device);
    devices_.resize(std::max(devices_.size(), device + 1));
  }
}

IdleStretches::Device* IdleStretches::device_of(NodeIndex node) {
  const std::uint32_t device = device_of_lane_[graph_.graph_lane[node]];
  return device == kNone || graph_.waits[node] != 0 ? nullptr : &devices_[device];
}

IdleStretches::Idle IdleStretches::before(NodeIndex node) {
  Device* device = device_of(node);
  if (device == nullptr) return {};
  if (device->recorded_ns != kNoTime && graph_.begin_ns[node] - device->recorded_ns >= kLeastIdleNs) {
    device->idle = {device->idle.stretch + 1, device->recorded_ns, device->replayed_ns, device->last};
  }
  return device->idle;
}

void IdleStretches::after(NodeIndex node, std::int64_t replayed_end_ns) {
  Device* device = device_of(node);
  if (device == nullptr) return;
  device->recorded_ns = std::max(device->recorded_ns, graph_.end_ns[node]);
  if (replayed_end_ns <= device->replayed_ns) return;
  device->replayed_ns = replayed_end_ns;
  device->last = node;
}

// The times of the replay, and what holds events up in it.
class GraphReplay::Times {
 public:
  explicit Times(const GraphReplay& replay)
      : replay_(replay),
        graph_(replay.graph_),
        changed_(replay.changed_),
        rewired_(!changed_.gone.empty() || !changed_.sources.empty() || !changed_.places.empty()) {}
  [[nodiscard]] const std::vector<std::int64_t>& begins() const noexcept { return replay_.begin_ns; }
  [[nodiscard]] const std::vector<std::int64_t>& ends() const noexcept { return replay_.end_ns; }

  [[nodiscard]] Hold begin_hold(NodeIndex node) const noexcept {
    Hold held;
    const bool at_once = changed_.is(node, ChangedGraph::kAtOnce);
    if (graph_.waits[node] == 0 && (changed_.is(node, ChangedGraph::kHere) || changed_.gone.empty() || at_once)) {
      held = last_edge(node);
    }
    const Hold server = server_hold(node);
    if (server.source != kNoNode && (held.source == kNoNode || server.reached_ns() >= held.reached_ns())) held = server;
    if (replay_.idle_holds_.empty()) return held;
    const auto idle = replay_.idle_holds_.find(node);
    if (idle == replay_.idle_holds_.end()) return held;
    return {idle->second, EdgeKind::server, false, ends()[idle->second], 0};
  }
  [[nodiscard]] Hold end_hold(NodeIndex node) const noexcept {
    if (changed_.is_left_out(node)) return {};
    const Hold held = last_edge(node);
    const std::int64_t anyway = begins()[node] + graph_.shortest_wait_ns[graph_.graph_lane[node]];
    return held.source != kNoNode && held.reached_ns() > anyway ? held : Hold{};
  }
  // Of a bypassed event what it waited for last; none: it waited for nothing.
  [[nodiscard]] Hold passed(NodeIndex node) const noexcept {
    Hold last = last_edge(node, false);
    // A packet comes after those of its transfer, what was waited for before an instruction was for that.
    const NodeIndex before = graph_.server_before[node];
    const bool follows = follows_part(graph_, node) ||
                         (before != kNoNode && changed_.is(before, ChangedGraph::kBypassed) && graph_.is_wait(before));
    if (!follows || replay_.passed_by_[before] == kNoNode) return last;
    if (last.source != kNoNode && last.since_ns >= replay_.passed_ns_[before]) return last;
    return {replay_.passed_by_[before], EdgeKind::dependency, false, replay_.passed_ns_[before], 0};
  }
  [[nodiscard]] bool doubts() const noexcept { return changed_.reading == ChangedGraph::Reading::doubtful; }

 private:
  [[nodiscard]] NodeIndex before(NodeIndex node) const noexcept {
    return replay_.before_.empty() ? graph_.server_before[node] : replay_.before_[node];
  }
  // The event before on its server; where there are two, the one before that, and the second begins with the first.
  [[nodiscard]] Hold server_hold(NodeIndex node) const noexcept {
    NodeIndex last = before(node);
    if (last == kNoNode) return {};
    if (changed_.doubled[graph_.graph_lane[node]] != 0) {
      const NodeIndex other = before(last);
      if (other == kNoNode) return {last, EdgeKind::server, true, begins()[last], 0};
      last = other;
    }
    const bool at_once = changed_.is(node, ChangedGraph::kAtOnce);
    return {last, EdgeKind::server, false, ends()[last],
            at_once ? 0 : graph_.server_latencies_ns[graph_.lane(node).server]};
  }
  [[nodiscard]] bool is_removed(const GraphEdge& edge) const noexcept {
    if (changed_.may_lose[edge.latency] == 0) return false;
    const auto semaphore = graph_.semaphore_of(edge.source);
    return semaphore && std::ranges::any_of(changed_.removed, [&](const auto& waits) {
             return waits.semaphore == *semaphore && waits.classes[edge.latency] != 0;
           });
  }
  // The sources that hold: of what is merged into another the other, of issue what its row does before.
  template <typename Body>
  void each_source(NodeIndex node, Body&& body) const noexcept {
    for (std::uint32_t e = graph_.edges_from[node]; e < graph_.edges_from[node + 1]; ++e) {
      const GraphEdge& edge = graph_.edges[e];
      if (is_removed(edge) || (doubts() && edge.confidence == EdgeConfidence::inferred)) continue;
      const NodeIndex source = rewired_ ? source_of(e, node) : edge.source;
      if (source != kNoNode) body(edge, source);
    }
  }
  // kNoNode: it does not hold.
  [[nodiscard]] NodeIndex source_of(std::uint32_t e, NodeIndex node) const noexcept {
    const GraphEdge& edge = graph_.edges[e];
    NodeIndex source = edge.source;
    if (!changed_.sources.empty()) {
      const auto other = changed_.sources.find(e);
      if (other != changed_.sources.end()) source = other->second;
    }
    if (source == kNoNode) return kNoNode;
    if (!changed_.instead.empty() && changed_.instead[source] != kNoNode) source = changed_.instead[source];
    if (changed_.is_left_out(source) && edge.kind == EdgeKind::issue) source = before(source);
    if (source == kNoNode || changed_.is(source, ChangedGraph::kGone)) return kNoNode;
    if (changed_.is(source, ChangedGraph::kBypassed) && (edge.from_begin || replay_.passed_by_[source] == kNoNode)) {
      return kNoNode;
    }
    // What has another place may come before what it came after.
    const bool later = !replay_.position_.empty() && replay_.position_[source] >= replay_.position_[node];
    return later ? kNoNode : source;
  }
  [[nodiscard]] std::int64_t since_ns(const GraphEdge& edge, NodeIndex source) const noexcept {
    if (changed_.is(source, ChangedGraph::kBypassed)) return replay_.passed_ns_[source];
    return edge.from_begin ? begins()[source] : ends()[source];
  }
  [[nodiscard]] Hold last_edge(NodeIndex node, bool with_latency = true) const noexcept {
    Hold held;
    const bool at_once = !with_latency || changed_.is(node, ChangedGraph::kAtOnce);
    each_source(node, [&](const GraphEdge& edge, NodeIndex source) {
      Hold other{source, edge.kind, edge.from_begin, since_ns(edge, source),
                 at_once ? 0 : changed_.latencies_ns[edge.latency]};
      if (changed_.is(source, ChangedGraph::kBypassed)) other.source = replay_.passed_by_[source];
      if (held.source == kNoNode || other.reached_ns() > held.reached_ns()) held = other;
    });
    return held;
  }

  const GraphReplay& replay_;
  const WorkGraph& graph_;
  const ChangedGraph& changed_;
  bool rewired_;  // edges may come from elsewhere, or not hold
};

GraphReplay::GraphReplay(const WorkGraph& graph, const ChangedGraph& changed) : graph_(graph), changed_(changed) {}

Result<std::unique_ptr<GraphReplay>> GraphReplay::run(const QueryContext& query, const WorkGraph& graph,
                                                      const ChangedGraph& changed) {
  auto replay = std::make_unique<GraphReplay>(graph, changed);
  TRY(replay->run(query));
  return replay;
}

// What is left of the servers' order.
void GraphReplay::settle() {
  const auto left_out = [](std::uint8_t how) { return how == ChangedGraph::kGone || how == ChangedGraph::kBypassed; };
  const bool any_left_out = std::ranges::any_of(changed_.gone, left_out);
  if (!changed_.places.empty()) return place();
  if (!any_left_out) return;
  before_ = graph_.server_before;
  for (const NodeIndex node : graph_.order) {
    const NodeIndex before = before_[node];
    if (before != kNoNode && changed_.is_left_out(before)) before_[node] = before_[before];
  }
}

// The order with what has another place.
void GraphReplay::place() {
  std::vector<std::uint32_t> rank(graph_.count());
  for (std::uint32_t i = 0; i < graph_.order.size(); ++i) rank[graph_.order[i]] = i;
  std::vector<DigitKey> keys(graph_.order.size());
  std::vector<std::uint8_t> is_of_moved(graph_.server_latencies_ns.size(), 0);
  for (std::uint32_t i = 0; i < graph_.order.size(); ++i) {
    const NodeIndex node = graph_.order[i];
    const auto moved = changed_.places.find(node);
    keys[i] = {moved == changed_.places.end() ? i : rank[moved->second], node};
    if (moved != changed_.places.end()) is_of_moved[graph_.lane(node).server] = 1;
  }
  sort_by_digits(keys);
  order_.resize(keys.size());
  position_ = std::move(rank);
  before_ = graph_.server_before;
  std::vector<NodeIndex> last(is_of_moved.size(), kNoNode);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const NodeIndex node = keys[i].value;
    order_[i] = node;
    position_[node] = static_cast<std::uint32_t>(i);
    const std::uint32_t server = graph_.lane(node).server;
    // What has none before it overlaps another one, or is the first.
    if (is_of_moved[server] != 0 && (before_[node] != kNoNode || changed_.places.contains(node))) {
      before_[node] = last[server];
    } else if (before_[node] != kNoNode && changed_.is_left_out(before_[node])) {
      before_[node] = before_[before_[node]];
    }
    if (!changed_.is_left_out(node)) last[server] = node;
  }
}

Result<void> GraphReplay::run(const QueryContext& query) {
  settle();
  const auto bypassed = [](std::uint8_t how) { return how == ChangedGraph::kBypassed; };
  if (std::ranges::any_of(changed_.gone, bypassed)) {
    passed_ns_.assign(graph_.count(), kNoTime);
    passed_by_.assign(graph_.count(), kNoNode);
  }
  begin_ns.resize(graph_.count());
  end_ns.resize(graph_.count());
  const Times times(*this);
  IdleStretches devices(graph_);
  const std::vector<NodeIndex>& order = order_.empty() ? graph_.order : order_;
  const bool hopeful = changed_.reading == ChangedGraph::Reading::hopeful;
  const auto waited_ns = [&](NodeIndex node) -> std::int64_t {
    return graph_.wait_ns.empty() ? 0 : std::max<std::int32_t>(0, graph_.wait_ns[node]);
  };
  constexpr std::size_t kBetweenLooks = std::size_t{1} << 16;
  end_of_all_ns_ = graph_.count() == 0 ? 0 : graph_.begin_of_all_ns;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kBetweenLooks == 0 && query.control.cancelled()) return cancelled_error();
    const NodeIndex node = order[i];
    // What comes at another place does not tell when its device stood idle.
    const bool moved = !changed_.places.empty() && changed_.places.contains(node);
    const IdleStretches::Idle idle = moved ? IdleStretches::Idle{} : devices.before(node);
    if (changed_.is_left_out(node)) {
      if (changed_.is(node, ChangedGraph::kBypassed)) {
        const Hold passed = times.passed(node);
        passed_by_[node] = passed.source;
        passed_ns_[node] = passed.since_ns;
      }
      const NodeIndex before = before_[node];
      begin_ns[node] = end_ns[node] = before == kNoNode ? graph_.begin_ns[node] : end_ns[before];
      if (!moved) devices.after(node, kNoTime);
      continue;
    }
    const Hold hold = times.begin_hold(node);
    const Explained recorded = explained_before(graph_, node, times.doubts());
    const std::int64_t explained = std::max(recorded.begin_ns, idle.recorded_ns);
    std::int64_t reached = hold.source == kNoNode ? kNoTime : hold.reached_ns();
    if (idle.replayed_ns > reached) {
      reached = idle.replayed_ns;
      idle_holds_.emplace(node, idle.last);
    }
    const bool at_once = changed_.is(node, ChangedGraph::kAtOnce);
    // After a device stood idle, or while it waits for what nothing tells of, somebody else decides when it goes on.
    const bool after_idle = graph_.waits[node] != 0
                                ? graph_.edges_of(node).empty()
                                : idle.recorded_ns != kNoTime && explained < idle.recorded_ns + kLeastIdleNs;
    const double factor = changed_.factors.empty() ? 1.0 : static_cast<double>(changed_.factors[node]);
    // Of what comes at another place it is not known.
    const bool of_host = graph_.lane(node).kind == WorkKind::host;
    const auto delay_of = [&](std::int64_t delay_ns) -> std::int64_t {
      if (at_once || moved || (changed_.without_delays && !of_host && !after_idle && !is_paced(graph_, node))) return 0;
      if (hopeful && graph_.waits_for_unknown(node)) {
        const std::int64_t waited =
            graph_.waits[node] != 0 ? delay_ns : std::min<std::int64_t>(delay_ns, waited_ns(node));
        const double saved = static_cast<double>(waited) * (1 - std::min(1.0, changed_.unknown_waits));
        return capped_difference(delay_ns, capped_integer(std::round(saved)));
      }
      if (hopeful && factor < 1 && follows_part(graph_, node)) {
        return capped_integer(std::round(static_cast<double>(delay_ns) * factor));
      }
      return of_host ? capped_integer(std::round(static_cast<double>(delay_ns) * changed_.host_delays)) : delay_ns;
    };
    // What nothing explains stays: a delay after what was known to come before, or, of a first event, its time.
    std::int64_t begin = graph_.begin_ns[node];
    if (explained != kNoTime && reached != kNoTime)
      begin = capped_sum(reached, delay_of(capped_difference(graph_.begin_ns[node], explained)));
    begin_ns[node] = begin;
    const std::int64_t duration = graph_.end_ns[node] - graph_.begin_ns[node];
    if (graph_.waits[node] != 0) {
      const std::int64_t anyway = capped_sum(begin, graph_.shortest_wait_ns[graph_.graph_lane[node]]);
      const Hold ended = times.end_hold(node);
      const std::int64_t settled = ended.source == kNoNode ? anyway : ended.reached_ns();
      end_ns[node] =
          at_once
              ? settled
              : std::max(begin, capped_sum(settled, delay_of(capped_difference(graph_.end_ns[node], recorded.end_ns))));
    } else {
      const double scaled = static_cast<double>(duration) * factor;
      end_ns[node] = capped_sum(begin, factor == 1.0 ? duration : capped_integer(std::round(scaled)));
    }
    if (!moved) devices.after(node, end_ns[node]);
    end_of_all_ns_ = std::max(end_of_all_ns_, end_ns[node]);
  }
  return {};
}

RangeTotals GraphReplay::totals(const TimeRange& range) const {
  TimeRange before{INT64_MAX, INT64_MIN}, after = before;
  for (NodeIndex node = 0; node < graph_.count(); ++node) {
    if (graph_.begin_ns[node] < range.begin_ns || graph_.end_ns[node] > range.end_ns) continue;
    before = {std::min(before.begin_ns, graph_.begin_ns[node]), std::max(before.end_ns, graph_.end_ns[node])};
    if (changed_.is_left_out(node)) continue;
    after = {std::min(after.begin_ns, begin_ns[node]), std::max(after.end_ns, end_ns[node])};
  }
  if (before.begin_ns > before.end_ns) return {{0, 0}, {0, 0}};
  if (after.begin_ns > after.end_ns) after = {before.begin_ns, before.begin_ns};
  return {before, after};
}

CriticalPath GraphReplay::path(const TimeRange& range) const {
  if (graph_.count() == 0) return {};
  return PathWalk(graph_, Times(*this), range).run();
}

}  // namespace accelscope::analysis
