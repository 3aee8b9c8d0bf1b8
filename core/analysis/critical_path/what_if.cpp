#include "core/analysis/critical_path/what_if.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>

#include "core/analysis/critical_path/changed_graph.h"
#include "core/analysis/critical_path/path_walk.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/column_values.h"
#include "core/scan/event_mask.h"

namespace accelscope {
namespace {

using Effect = WhatIfChange::Effect;

class ChangeReader {
 public:
  ChangeReader(const QueryContext& query, const WorkGraph& graph) : query_(query), graph_(graph), changed_(graph) {}

  Result<ChangedGraph> run(std::span<const WhatIfChange> changes) {
    for (const WhatIfChange& change : changes) {
      if (query_.mask && !is_of_events(change.effect)) {
        return Error{"the change '" + change.text + "' is of the whole session: it takes a range, but no filter"};
      }
      const std::uint64_t before = changed_.touched;
      if (const Result<void> done = read(change); !done) return done.error();
      if (changed_.touched == before) return nothing(change);
    }
    return std::move(changed_);
  }

 private:
  Result<void> read(const WhatIfChange& change) {
    const auto factor = static_cast<float>(change.factor);
    switch (change.effect) {
      case Effect::bandwidth:
        scale(1 / factor, [&](NodeIndex node) {
          return graph_.lane(node).kind == WorkKind::transfer && has_payload(graph_, node);
        });
        return {};
      case Effect::dma_latency:
        scale_latencies(change.factor, [](WorkKind from, WorkKind to) {
          return to == WorkKind::transfer && from != WorkKind::transfer;
        });
        return {};
      case Effect::launch_latency:
        scale_latencies(change.factor,
                        [](WorkKind from, WorkKind to) { return from == WorkKind::host && is_device_work(to); });
        return {};
      case Effect::name: {
        const StringId name = graph_.snapshot->strings->find(change.name);
        if (name != kNone) scale(factor, [&](NodeIndex node) { return graph_.names[node] == name; });
        return {};
      }
      case Effect::line: {
        const StringId line = graph_.snapshot->strings->find(change.name);
        if (line == kNone || graph_.locations.empty()) return {};
        scale(factor, [&](NodeIndex node) { return graph_.locations[node] == line; });
        return {};
      }
      case Effect::track: {
        const std::vector<std::uint8_t> named = lanes_named(change.name);
        scale(factor, [&](NodeIndex node) { return named[graph_.graph_lane[node]] != 0; });
        return {};
      }
      case Effect::host:
        scale(factor, [&](NodeIndex node) { return graph_.lane(node).kind == WorkKind::host; });
        return {};
      case Effect::layer:
        return scale_layer(change);
      case Effect::drop_reload:
        return drop_reloads(change);
      case Effect::merge_transfers:
        return merge_small(change);
      case Effect::remove_wait:
        remove_wait(change);
        return {};
      case Effect::double_queue: {
        const std::vector<std::uint8_t> named = lanes_named(change.name);
        for (std::size_t i = 0; i < named.size(); ++i) {
          if (named[i] == 0) continue;
          changed_.doubled[i] = 1;
          changed_.touched += graph_.lanes[i].count;
        }
        return {};
      }
    }
    return {};
  }

  [[nodiscard]] bool passes(NodeIndex node) const {
    const Snapshot& snapshot = *graph_.snapshot;
    return query_.mask->passes(snapshot, graph_.event(node)) || query_.mask->passes(snapshot, graph_.whole_event(node));
  }
  // Edges and what sets off a transfer cannot be told by a filter of events.
  [[nodiscard]] static bool is_of_events(Effect effect) noexcept {
    constexpr std::array kOfOthers = {Effect::dma_latency,     Effect::launch_latency, Effect::drop_reload,
                                      Effect::merge_transfers, Effect::remove_wait,    Effect::double_queue};
    return std::find(kOfOthers.begin(), kOfOthers.end(), effect) == kOfOthers.end();
  }

  template <typename Wanted>
  void scale(float factor, Wanted wanted) {
    changed_.factors.resize(graph_.count(), 1.0F);
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    std::atomic<std::uint64_t> touched{0};
    query_.pool.for_each((graph_.count() + kPiece - 1) / kPiece, query_.control, [&](std::size_t piece, std::size_t) {
      std::uint64_t here = 0;
      const std::size_t last = std::min(graph_.count(), (piece + 1) * kPiece);
      for (std::size_t node = piece * kPiece; node < last; ++node) {
        // A wait lasts as long as what it waits for.
        if (graph_.waits[node] != 0 || !wanted(static_cast<NodeIndex>(node))) continue;
        if (query_.mask && !passes(static_cast<NodeIndex>(node))) continue;
        changed_.factors[node] *= factor;
        ++here;
      }
      touched += here;
    });
    changed_.touched += touched;
  }

  template <typename Wanted>
  void scale_latencies(double factor, Wanted wanted) {
    std::map<TrackNumber, WorkKind> kinds;
    for (const GraphLane& lane : graph_.lanes) kinds[lane.track] = lane.kind;
    for (std::size_t i = 1; i < changed_.latencies_ns.size(); ++i) {
      const auto& [from, to] = graph_.latency_tracks[i];
      if (!wanted(kinds[from], kinds[to])) continue;
      changed_.latencies_ns[i] = std::llround(static_cast<double>(changed_.latencies_ns[i]) * factor);
      ++changed_.touched;
    }
  }

  // By lane of the graph: those of the track, and of packets those of their queue.
  std::vector<std::uint8_t> lanes_named(std::string_view name) const {
    std::vector<std::uint8_t> named(graph_.lanes.size(), 0);
    for (std::size_t i = 0; i < named.size(); ++i) {
      for (const TrackNumber number : {graph_.lanes[i].track, graph_.lanes[i].resource}) {
        const TrackSnapshot* track = graph_.snapshot->find_track(number);
        if (track != nullptr && track->track->name == name) named[i] = 1;
      }
    }
    return named;
  }

  Result<void> scale_layer(const WhatIfChange& change) {
    std::vector<std::uint8_t> inside(graph_.count(), 0);
    std::map<std::uint32_t, const GraphLane*> lanes;
    LaneIndices indices;
    for (const GraphLane& lane : graph_.lanes) {
      if (!graph_.snapshot->lanes[lane.lane].schema->find(Role::layer)) continue;
      lanes[lane.lane] = &lane;
      indices.push_back(lane.lane);
    }
    const Result<void> scanned = scan_chunks(query_, indices, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t) {
      const std::size_t column = *chunk.lane.schema->find(Role::layer);
      const GraphLane& lane = *lanes.at(chunk.lane_index);
      for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
        const std::string_view layer =
            text_at(chunk, *graph_.snapshot->strings, column, chunk.lane.schema->columns[column].type, row);
        inside[lane.first + ordinal_of(chunk.event_id(row))] = lies_in(layer, change.name) ? 1 : 0;
      }
    });
    if (!scanned) return scanned;
    scale(static_cast<float>(change.factor), [&](NodeIndex node) { return inside[node] != 0; });
    return {};
  }
  // Whole steps of the path: "mlp" is a step of "layers.3/mlp/up_proj".
  static bool lies_in(std::string_view layer, std::string_view wanted) {
    for (std::size_t at = layer.find(wanted); at != std::string_view::npos; at = layer.find(wanted, at + 1)) {
      const std::size_t end = at + wanted.size();
      if ((at == 0 || layer[at - 1] == '/') && (end == layer.size() || layer[end] == '/')) return true;
    }
    return false;
  }

  // Bytes of a tensor, from a vendor's table; 0: none tells.
  Result<std::int64_t> tensor_bytes(std::string_view tensor) const {
    std::atomic<std::int64_t> bytes{0};
    LaneIndices lanes;
    const auto size_of = [](const Schema& schema) -> std::optional<std::size_t> {
      for (const Vendor& vendor : vendors()) {
        if (const auto column = schema.find(vendor.size_column); column) return column;
      }
      return std::nullopt;
    };
    const Snapshot& snapshot = *graph_.snapshot;
    for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
      const LaneSnapshot& lane = snapshot.lanes[i];
      if (lane.schema && lane.data->kind == EventKind::table && size_of(*lane.schema)) lanes.push_back(i);
    }
    const StringId name = snapshot.strings->find(std::string(tensor));
    const Result<void> scanned = scan_chunks(query_, lanes, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t) {
      const std::size_t column = *size_of(*chunk.lane.schema);
      for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
        if (chunk.session_string(chunk.view.name(row)) != name) continue;
        const auto size = number_at(chunk.view, column, chunk.lane.schema->columns[column].type, row);
        if (size) bytes = std::max<std::int64_t>(bytes, *size);
      }
    });
    if (!scanned) return scanned.error();
    return bytes.load();
  }

  // The first transfers that bring the whole tensor stay; of the others, and of what sets them off, nothing is left.
  Result<void> drop_reloads(const WhatIfChange& change) {
    const Result<std::int64_t> size = tensor_bytes(change.name);
    if (!size) return size.error();
    if (*size <= 0) return Error{"nothing tells how large " + change.name + " is, so its reloads cannot be told"};
    const StringId name = graph_.snapshot->strings->find(change.name);
    std::vector<std::int64_t> bytes;
    if (const Result<void> read = read_bytes(bytes); !read) return read;
    changed_.gone.resize(graph_.count(), 0);
    // By transfer, where packets have one; else each event for itself.
    std::vector<NodeIndex> loads;
    for (const NodeIndex node : graph_.order) {
      if (graph_.names[node] == name && graph_.lane(node).kind == WorkKind::transfer) loads.push_back(node);
    }
    std::map<std::uint64_t, bool> stays;
    std::map<std::uint64_t, std::int64_t> size_of;
    for (const NodeIndex node : loads) {
      if (has_payload(graph_, node)) size_of[transfer_of(graph_, node)] += bytes[node];
    }
    std::int64_t loaded = 0;
    for (const NodeIndex node : loads) {
      const std::uint64_t transfer = transfer_of(graph_, node);
      const auto [place, is_new] = stays.try_emplace(transfer, loaded < *size);
      if (is_new) loaded += size_of[transfer];
      place->second ? free_of_place(node) : changed_.drop(graph_, node);
    }
    return {};
  }
  // What stays has a place of its own: what sets it off waits for none to come free.
  void free_of_place(NodeIndex node) {
    changed_.each_trigger(graph_, node,
                          [&](NodeIndex trigger) { changed_.gone[trigger] = ChangedGraph::kWaitsForNothing; });
  }
  Result<void> merge_small(const WhatIfChange& change) {
    std::vector<std::int64_t> bytes;
    if (const Result<void> read = read_bytes(bytes); !read) return read;
    merge_transfers(graph_, change, bytes, changed_);
    return {};
  }
  Result<void> read_bytes(std::vector<std::int64_t>& bytes) const {
    bytes.assign(graph_.count(), 0);
    std::map<std::uint32_t, const GraphLane*> lanes;
    LaneIndices indices;
    for (const GraphLane& lane : graph_.lanes) {
      if (lane.kind != WorkKind::transfer || !graph_.snapshot->lanes[lane.lane].schema->find(Role::bytes)) continue;
      lanes[lane.lane] = &lane;
      indices.push_back(lane.lane);
    }
    return scan_chunks(query_, indices, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t) {
      const std::size_t column = *chunk.lane.schema->find(Role::bytes);
      const GraphLane& lane = *lanes.at(chunk.lane_index);
      for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
        const auto value = number_at(chunk.view, column, chunk.lane.schema->columns[column].type, row);
        bytes[lane.first + ordinal_of(chunk.event_id(row))] = value.value_or(0);
      }
    });
  }

  void remove_wait(const WhatIfChange& change) {
    changed_.removed.push_back(&change);
    for (std::size_t i = 1; i < graph_.latency_tracks.size(); ++i) {
      const TrackSnapshot* to = graph_.snapshot->find_track(graph_.latency_tracks[i].second);
      if (change.name.empty() || (to != nullptr && to->track->name == change.name)) changed_.may_lose[i] = 1;
    }
    for (NodeIndex node = 0; node < graph_.count(); ++node) {
      for (const GraphEdge& edge : graph_.edges_of(node)) {
        if (changed_.may_lose[edge.latency] != 0 && graph_.semaphore_of(edge.source) == change.semaphore) {
          ++changed_.touched;
        }
      }
    }
  }

  Error nothing(const WhatIfChange& change) const {
    if (change.effect == Effect::merge_transfers && change.name.empty()) {
      return Error{"the change '" + change.text + "' touches nothing: no transfers in a row have packets below 2 KiB"};
    }
    std::vector<std::string> names;
    if (change.effect == Effect::name || change.effect == Effect::drop_reload ||
        change.effect == Effect::merge_transfers) {
      std::vector<StringId> ids(graph_.names);
      std::sort(ids.begin(), ids.end());
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
      for (const StringId id : ids) names.emplace_back(graph_.snapshot->strings->text(id));
    } else if (change.effect == Effect::track || change.effect == Effect::double_queue) {
      for (const GraphLane& lane : graph_.lanes) {
        const TrackSnapshot* track = graph_.snapshot->find_track(lane.track);
        if (track != nullptr) names.push_back(track->track->name);
      }
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
    }
    std::string text = "the change '" + change.text + "' touches nothing of this session";
    constexpr std::size_t kMostNames = 12;
    for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
      text += (i == 0 ? "; there are " : ", ") + names[i];
    }
    if (names.size() > kMostNames) text += " and others";
    return Error{text};
  }

  const QueryContext& query_;
  const WorkGraph& graph_;
  ChangedGraph changed_;
};

// The times of the replay, and what holds events up in it.
class ReplayedTimes {
 public:
  ReplayedTimes(const WorkGraph& graph, const ChangedGraph& changed, const std::vector<std::int64_t>& begins,
                const std::vector<std::int64_t>& ends)
      : graph_(graph), changed_(changed), begins_(begins), ends_(ends) {}
  [[nodiscard]] const std::vector<std::int64_t>& begins() const noexcept { return begins_; }
  [[nodiscard]] const std::vector<std::int64_t>& ends() const noexcept { return ends_; }

  [[nodiscard]] NodeIndex server_before(NodeIndex node) const noexcept {
    NodeIndex before = graph_.server_before[node];
    if (before == kNoNode || changed_.doubled[graph_.graph_lane[node]] == 0) return before;
    if (graph_.parts.empty() || graph_.parts[node] == kNone) return graph_.server_before[before];
    // Within a transfer its packets stay in order; of the transfer before nothing is waited for.
    const std::uint32_t other = graph_.parts[before];
    if (other == graph_.parts[node] || changed_.doubled[graph_.graph_lane[before]] == 0) return before;
    while (before != kNoNode && graph_.parts[before] == other) before = graph_.server_before[before];
    return before;
  }
  [[nodiscard]] bool is_gone(NodeIndex node) const noexcept {
    return !changed_.gone.empty() && changed_.gone[node] == ChangedGraph::kGone;
  }
  [[nodiscard]] bool is_at_once(NodeIndex node) const noexcept {
    return !changed_.gone.empty() && changed_.gone[node] == ChangedGraph::kAtOnce;
  }
  // Of what is merged into another: the other.
  [[nodiscard]] NodeIndex source_of(const GraphEdge& edge) const noexcept {
    if (changed_.instead.empty() || changed_.instead[edge.source] == kNoNode) return edge.source;
    return changed_.instead[edge.source];
  }
  [[nodiscard]] bool is_removed(const GraphEdge& edge) const noexcept {
    if (is_gone(edge.source) && source_of(edge) == edge.source) return true;
    if (changed_.may_lose[edge.latency] == 0) return false;
    const auto semaphore = graph_.semaphore_of(edge.source);
    return semaphore && std::any_of(changed_.removed.begin(), changed_.removed.end(),
                                    [&](const WhatIfChange* change) { return change->semaphore == *semaphore; });
  }
  [[nodiscard]] Hold begin_hold(NodeIndex node) const noexcept {
    Hold held;
    const bool waits_for_nothing = !changed_.gone.empty() && changed_.gone[node] != 0 && !is_at_once(node);
    if (graph_.waits[node] == 0 && !waits_for_nothing) held = last_edge(node);
    const NodeIndex before = server_before(node);
    if (before == kNoNode) return held;
    const std::int64_t latency =
        is_gone(node) || is_at_once(node) ? 0 : graph_.server_latencies_ns[graph_.lane(node).server];
    const Hold server{before, EdgeKind::server, false, ends_[before], latency};
    return held.source == kNoNode || server.reached_ns() >= held.reached_ns() ? server : held;
  }
  [[nodiscard]] Hold end_hold(NodeIndex node) const noexcept {
    if (is_gone(node)) return {};
    const Hold held = last_edge(node);
    const std::int64_t anyway = begins_[node] + graph_.shortest_wait_ns[graph_.graph_lane[node]];
    return held.source != kNoNode && held.reached_ns() > anyway ? held : Hold{};
  }

 private:
  [[nodiscard]] Hold last_edge(NodeIndex node) const noexcept {
    Hold held;
    const bool at_once = is_at_once(node);
    for (const GraphEdge& edge : graph_.edges_of(node)) {
      if (is_removed(edge)) continue;
      const NodeIndex source = source_of(edge);
      const Hold other{source, edge.kind, edge.from_begin, edge.from_begin ? begins_[source] : ends_[source],
                       at_once ? 0 : changed_.latencies_ns[edge.latency]};
      if (held.source == kNoNode || other.reached_ns() > held.reached_ns()) held = other;
    }
    return held;
  }

  const WorkGraph& graph_;
  const ChangedGraph& changed_;
  const std::vector<std::int64_t>& begins_;
  const std::vector<std::int64_t>& ends_;
};

// What an event began (or, where it waits, ended) at by its edges as they were recorded.
struct Explained {
  bool any = false;
  std::int64_t begin_ns = 0, end_ns = 0;
};
Explained explained_before(const WorkGraph& graph, NodeIndex node) noexcept {
  std::int64_t last = INT64_MIN;
  for (const GraphEdge& edge : graph.edges_of(node)) {
    const std::int64_t since = edge.from_begin ? graph.begin_ns[edge.source] : graph.end_ns[edge.source];
    last = std::max(last, since + graph.latencies_ns[edge.latency]);
  }
  std::int64_t begin = INT64_MIN;
  if (graph.server_before[node] != kNoNode) {
    begin = graph.end_ns[graph.server_before[node]] + graph.server_latencies_ns[graph.lane(node).server];
  }
  Explained explained;
  const std::int64_t shortest = graph.shortest_wait_ns[graph.graph_lane[node]];
  if (graph.waits[node] != 0) {
    explained.end_ns = std::max(graph.begin_ns[node] + shortest, last);
  } else {
    begin = std::max(begin, last);
  }
  explained.any = begin != INT64_MIN;
  explained.begin_ns = begin;
  return explained;
}

Result<WhatIfResult> replay(const QueryContext& query, const WorkGraph& graph, const ChangedGraph& changed,
                            std::int64_t begin_ns) {
  WhatIfResult result;
  result.touched = changed.touched;
  result.begin_ns.resize(graph.count());
  result.end_ns.resize(graph.count());
  const ReplayedTimes times(graph, changed, result.begin_ns, result.end_ns);
  constexpr std::size_t kBetweenLooks = std::size_t{1} << 16;
  std::int64_t end_of_all = INT64_MIN;
  for (std::size_t i = 0; i < graph.order.size(); ++i) {
    if (i % kBetweenLooks == 0 && query.control.cancelled()) return cancelled_error();
    const NodeIndex node = graph.order[i];
    const Hold hold = times.begin_hold(node);
    if (times.is_gone(node)) {
      result.begin_ns[node] = result.end_ns[node] = hold.source == kNoNode ? graph.begin_ns[node] : hold.reached_ns();
      continue;
    }
    const Explained before = explained_before(graph, node);
    // What nothing explains stays: a delay after what was known to come before, or, of a first event, its time.
    std::int64_t begin = graph.begin_ns[node];
    const bool at_once = times.is_at_once(node);
    if (before.any && hold.source != kNoNode) {
      begin = hold.reached_ns() + (at_once ? 0 : graph.begin_ns[node] - before.begin_ns);
    }
    result.begin_ns[node] = begin;
    const std::int64_t duration = graph.end_ns[node] - graph.begin_ns[node];
    if (graph.waits[node] != 0) {
      const std::int64_t anyway = begin + graph.shortest_wait_ns[graph.graph_lane[node]];
      const Hold ended = times.end_hold(node);
      const std::int64_t settled = ended.source == kNoNode ? anyway : ended.reached_ns();
      result.end_ns[node] = at_once ? settled : std::max(begin, settled + graph.end_ns[node] - before.end_ns);
    } else {
      const double factor = changed.factors.empty() ? 1.0 : static_cast<double>(changed.factors[node]);
      result.end_ns[node] = begin + (factor == 1.0 ? duration : std::llround(static_cast<double>(duration) * factor));
    }
    end_of_all = std::max(end_of_all, result.end_ns[node]);
  }
  result.before = {begin_ns, graph.end_of_all_ns};
  result.total_before_ns = graph.end_of_all_ns - begin_ns;
  result.total_after_ns = graph.count() == 0 ? 0 : end_of_all - begin_ns;
  return result;
}

CriticalPath replayed_path(const WorkGraph& graph, const ChangedGraph& changed, const WhatIfResult& result,
                           const TimeRange& range) {
  if (graph.count() == 0) return {};
  return PathWalk(graph, ReplayedTimes(graph, changed, result.begin_ns, result.end_ns), range).run();
}

}  // namespace

Result<WhatIfResult> replay_with_changes(const QueryContext& query, const WorkGraph& graph,
                                         std::span<const WhatIfChange> changes, std::int64_t begin_ns) {
  return replay_range(query, graph, changes, {begin_ns, INT64_MAX});
}

RangeTotals totals_of_range(const WorkGraph& graph, const WhatIfResult& result, const TimeRange& range) {
  TimeRange before{INT64_MAX, INT64_MIN}, after = before;
  for (NodeIndex node = 0; node < graph.count(); ++node) {
    if (graph.begin_ns[node] < range.begin_ns || graph.end_ns[node] > range.end_ns) continue;
    before = {std::min(before.begin_ns, graph.begin_ns[node]), std::max(before.end_ns, graph.end_ns[node])};
    after = {std::min(after.begin_ns, result.begin_ns[node]), std::max(after.end_ns, result.end_ns[node])};
  }
  if (before.begin_ns > before.end_ns) return {{0, 0}, {0, 0}};
  return {before, after};
}

Result<WhatIfResult> replay_range(const QueryContext& query, const WorkGraph& graph,
                                  std::span<const WhatIfChange> changes, const TimeRange& range) {
  const Result<ChangedGraph> changed = ChangeReader(query, graph).run(changes);
  if (!changed) return changed.error();
  auto result = replay(query, graph, *changed, range.begin_ns);
  if (!result) return result;
  TimeRange after{range.begin_ns, range.begin_ns + result->total_after_ns};
  if (range.end_ns < graph.end_of_all_ns) {
    const RangeTotals totals = totals_of_range(graph, *result, range);
    if (totals.before.empty()) return Error{"no event lies wholly inside of the range"};
    result->before = totals.before;
    result->total_before_ns = totals.before.length_ns();
    result->total_after_ns = totals.after.length_ns();
    after = totals.after;
  }
  result->path = replayed_path(graph, *changed, *result, after);
  return result;
}

Result<std::int64_t> total_without_gaps(const QueryContext& query, const WorkGraph& graph,
                                        std::span<const NodeIndex> nodes, std::int64_t begin_ns) {
  ChangedGraph changed(graph);
  changed.gone.assign(graph.count(), 0);
  for (const NodeIndex node : nodes) changed.gone[node] = ChangedGraph::kAtOnce;
  const auto result = replay(query, graph, changed, begin_ns);
  if (!result) return result.error();
  return result->total_after_ns;
}

}  // namespace accelscope
