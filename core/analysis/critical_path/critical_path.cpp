#include "core/analysis/critical_path/critical_path.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/analysis/critical_path/path_walk.h"
#include "core/analysis/time/session_activity.h"

namespace accelscope::analysis {
namespace {

constexpr std::array<std::string_view, kWorkKindCount> kKindNames = {"other work",  "engines",      "DMA",
                                                                     "collectives", "device waits", "the host"};

class RecordedTimes {
 public:
  explicit RecordedTimes(const WorkGraph& graph) : graph_(graph) {}
  [[nodiscard]] const std::vector<std::int64_t>& begins() const noexcept { return graph_.begin_ns; }
  [[nodiscard]] const std::vector<std::int64_t>& ends() const noexcept { return graph_.end_ns; }
  [[nodiscard]] Hold begin_hold(NodeIndex node) const noexcept { return graph_.begin_hold(node); }
  [[nodiscard]] Hold end_hold(NodeIndex node) const noexcept { return graph_.end_hold(node); }

 private:
  const WorkGraph& graph_;
};

std::string waited_text(const WorkGraph& graph, NodeIndex node) {
  const TrackSnapshot* track = graph.snapshot->find_track(graph.lane(node).resource);
  return track == nullptr ? std::string() : ", on " + track->track->name;
}

}  // namespace

CriticalPath find_critical_path(const WorkGraph& graph, const TimeRange& range) {
  return PathWalk(graph, RecordedTimes(graph), range).run();
}

CriticalPath find_path_to(const WorkGraph& graph, NodeIndex node, const TimeRange& range) {
  return PathWalk(graph, RecordedTimes(graph), range).run(node);
}

Result<TimeRange> path_range(const QueryContext& query, const WorkGraph& graph,
                             const std::optional<TimeRange>& wanted) {
  if (wanted && !(*wanted == TimeRange{})) {
    return TimeRange{std::max(wanted->begin_ns, graph.snapshot->begin_ns),
                     std::min(wanted->end_ns, graph.end_of_all_ns)};
  }
  const QueryContext whole = query.unmasked();
  const std::vector<SessionPart> parts = session_parts(query.snapshot);
  if (parts.size() > 1) {
    TimeRange longest{0, 0};
    for (const SessionPart& part : parts) {
      const auto works = TRY(find_active_stretch(part_of(whole, part)));
      if (works && works->length_ns() > longest.length_ns()) longest = *works;
    }
    if (!longest.empty()) return longest;
  }
  const bool any_host =
      std::ranges::any_of(graph.lanes, [](const GraphLane& lane) { return lane.kind == WorkKind::host; });
  TimeRange all{graph.begin_of_all_ns, graph.end_of_all_ns};
  if (any_host || graph.count() == 0) return all;
  const auto active = TRY(find_active_stretch(whole));
  if (active && active->begin_ns < all.end_ns) all.begin_ns = std::max(all.begin_ns, active->begin_ns);
  return all;
}

Result<SessionPath> session_path(const QueryContext& query, const std::optional<TimeRange>& wanted) {
  auto graph = TRY(session_graph(query));
  const auto range = TRY(path_range(query, *graph, wanted));
  CriticalPath path = find_critical_path(*graph, range);
  return SessionPath{std::move(graph), std::move(path)};
}

std::vector<PathShare> path_shares(const WorkGraph& graph, const CriticalPath& path, PathBy by) {
  std::unordered_map<std::uint64_t, std::size_t> places;
  std::vector<PathShare> shares;
  const StringPool& strings = *graph.snapshot->strings;
  for (const PathSegment& segment : path.segments) {
    const NodeIndex node = segment.node;
    std::uint64_t key = 0;
    std::string label;
    if (segment.is_gap) {
      key = std::uint64_t{1} << 48 | static_cast<std::uint64_t>(segment.reason);
      if (by == PathBy::wait && node != kNoNode) key |= (std::uint64_t{graph.lane(node).resource} + 1) << 8;
    } else if (by == PathBy::resource) {
      key = graph.lane(node).resource;
    } else if (by == PathBy::line) {
      key = graph.locations.empty() ? 0 : graph.locations[node];
    } else if (by == PathBy::name) {
      key = graph.names[node];
    } else {
      key = static_cast<std::uint64_t>(graph.lane(node).kind);
    }
    const auto [place, is_new] = places.try_emplace(key, shares.size());
    if (is_new) {
      PathShare share;
      share.is_gap = segment.is_gap;
      share.first = node;
      if (segment.is_gap) {
        share.label = wait_reason_name(segment.reason);
        if (by == PathBy::wait && node != kNoNode) share.label += waited_text(graph, node);
      } else if (by == PathBy::resource) {
        const TrackSnapshot* track = graph.snapshot->find_track(static_cast<TrackNumber>(key));
        share.label = track == nullptr ? std::string() : track->track->name;
      } else if (by == PathBy::kind || by == PathBy::wait) {
        share.label = kKindNames[key];
      } else {
        share.label = strings.text(static_cast<StringId>(key));
      }
      shares.push_back(std::move(share));
    }
    ++shares[place->second].count;
    shares[place->second].length_ns += segment.length_ns();
  }
  std::ranges::stable_sort(shares, std::ranges::greater{}, &PathShare::length_ns);
  return shares;
}

Result<std::vector<std::int64_t>> event_slack(const WorkGraph& graph, const TaskControl& control) {
  std::vector<std::int64_t> slack(graph.count());
  for (NodeIndex node = 0; node < graph.count(); ++node) slack[node] = graph.end_of_all_ns - graph.end_ns[node];
  constexpr std::size_t kBetweenLooks = std::size_t{1} << 16;
  const auto reached = [&](const GraphEdge& edge) {
    const std::int64_t since = edge.from_begin ? graph.begin_ns[edge.source] : graph.end_ns[edge.source];
    return since + graph.latencies_ns[edge.latency];
  };
  for (std::size_t i = graph.order.size(); i-- > 0;) {
    if (i % kBetweenLooks == 0 && control.cancelled()) return cancelled_error();
    const NodeIndex node = graph.order[i];
    const NodeIndex before = graph.server_before[node];
    const std::int64_t server_latency = graph.server_latencies_ns[graph.lane(node).server];
    const std::int64_t free = before == kNoNode ? INT64_MIN : graph.end_ns[before] + server_latency;
    std::int64_t last = INT64_MIN;
    for (const GraphEdge& edge : graph.edges_of(node)) last = std::max(last, reached(edge));
    std::int64_t of_begin = slack[node];
    if (graph.waits[node] != 0) {
      // What it waits for moves its end; its begin may move until its shortest time would end later than that.
      const std::int64_t anyway = graph.begin_ns[node] + graph.shortest_wait_ns[graph.graph_lane[node]];
      const std::int64_t ended = std::max(anyway, last);
      for (const GraphEdge& edge : graph.edges_of(node)) {
        slack[edge.source] = std::min(slack[edge.source], slack[node] + ended - reached(edge));
      }
      of_begin += ended - anyway;
      last = INT64_MIN;
    }
    const std::int64_t explained = std::max(free, last);
    if (graph.waits[node] == 0) {
      for (const GraphEdge& edge : graph.edges_of(node)) {
        slack[edge.source] = std::min(slack[edge.source], of_begin + explained - reached(edge));
      }
    }
    if (before != kNoNode) slack[before] = std::min(slack[before], of_begin + explained - free);
  }
  return slack;
}

}  // namespace accelscope::analysis
