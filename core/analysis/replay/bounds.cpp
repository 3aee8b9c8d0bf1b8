#include "core/analysis/replay/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/analysis/replay/graph_replay.h"
#include "core/analysis/replay/what_if.h"
#include "core/analysis/roofline/memory_levels.h"
#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/sorted_runs.h"
#include "core/analysis/time/track_devices.h"
#include "core/base/format.h"

namespace accelscope::analysis {
namespace {

constexpr std::array<std::string_view, kPathBounds> kBoundNames = {"memory", "compute",   "issue",  "dependency",
                                                                   "host",   "imbalance", "unknown"};

PathBound bound_of_gap(WaitReason reason) noexcept {
  constexpr std::array<PathBound, kWaitReasonCount> kBounds = {
      PathBound::dependency, PathBound::memory, PathBound::memory, PathBound::imbalance,
      PathBound::dependency, PathBound::host,   PathBound::issue,  PathBound::unknown};
  return kBounds[static_cast<std::size_t>(reason)];
}

// A stream's queue is the stream's own work.
PathBound bound_of_work(WorkKind kind) noexcept {
  switch (kind) {
    case WorkKind::compute:
      return PathBound::compute;
    case WorkKind::transfer:
      return PathBound::memory;
    case WorkKind::collective:
      return PathBound::imbalance;
    case WorkKind::host:
      return PathBound::host;
    default:
      return PathBound::unknown;
  }
}

// How long each server of a kind works inside of the range.
struct OwnTimes {
  std::int64_t longest_ns = 0, sum_ns = 0;
  std::size_t servers = 0;
  std::string busiest;
};
OwnTimes own_times(const WorkGraph& graph, const TimeRange& range, WorkKind kind) {
  std::map<std::uint32_t, std::pair<CoveredTime, TrackNumber>> servers;
  for (const GraphLane& lane : graph.lanes) {
    if (lane.kind != kind) continue;
    auto& [covered, track] = servers[lane.server];
    track = lane.track;
    for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
      if (graph.waits[node] != 0) continue;
      covered.add(std::max(graph.begin_ns[node], range.begin_ns), std::min(graph.end_ns[node], range.end_ns));
    }
  }
  OwnTimes times;
  for (auto& [server, own] : servers) {
    own.first.close_window();
    const std::int64_t length = own.first.length_ns();
    if (length <= 0) continue;
    ++times.servers;
    times.sum_ns += length;
    if (length <= times.longest_ns) continue;
    times.longest_ns = length;
    const TrackSnapshot* track = graph.snapshot->find_track(own.second);
    times.busiest = track == nullptr ? std::string() : track->track->name;
  }
  return times;
}

class BoundIdeals {
 public:
  BoundIdeals(const WorkGraph& graph, const CriticalPath& path, std::vector<BoundFigure>& bounds)
      : graph_(graph), path_(path), bounds_(bounds) {}

  Result<void> find(const QueryContext& query, const PeakEdits& edits) {
    const QueryContext whole = query.unmasked();
    const auto levels = TRY(memory_levels(whole, path_.range, edits));
    set_peaks(*levels);
    const OwnTimes engines = own_times(graph_, path_.range, WorkKind::compute);
    if (engines.servers > 0) {
      set(PathBound::issue, static_cast<double>(engines.longest_ns), engines.busiest + " without a pause");
      set(PathBound::imbalance, static_cast<double>(engines.sum_ns) / static_cast<double>(engines.servers),
          fmt::format("{} engines or streams equally busy", engines.servers));
    } else {
      at(PathBound::issue).rests_on = at(PathBound::imbalance).rests_on = "no engine or stream works";
    }
    const OwnTimes host = own_times(graph_, path_.range, WorkKind::host);
    if (host.servers > 0) {
      set(PathBound::host, static_cast<double>(host.longest_ns), host.busiest + " without a pause");
    } else {
      at(PathBound::host).rests_on = "no calls of a host were recorded";
    }
    set(PathBound::dependency, static_cast<double>(path_.range.length_ns() - path_.gap_ns),
        "events of the path without its gaps");
    return {};
  }

 private:
  BoundFigure& at(PathBound bound) {
    return *std::ranges::find_if(bounds_, [&](const auto& each) { return each.bound == bound; });
  }
  void set(PathBound bound, double ideal_ns, std::string rests_on) {
    at(bound).ideal_ns = ideal_ns;
    at(bound).rests_on = std::move(rests_on);
  }
  // Devices work side by side: the slowest counts.
  void set_peaks(const MemoryLevels& levels) {
    at(PathBound::memory).rests_on = "no peak of a memory is known, or no bytes were recorded";
    at(PathBound::compute).rests_on = "no peak of compute is known, or no operations were recorded";
    for (const DeviceLevels& device : levels.devices) {
      for (const LevelPath& level : device.paths) {
        if (!level.ideal_ns || !level.peak_value || at(PathBound::memory).ideal_ns.value_or(0) >= *level.ideal_ns) {
          continue;
        }
        set(PathBound::memory, *level.ideal_ns,
            fmt::format("{} to {} at {}", level.from, level.to, format_value(*level.peak_value, kBytesPerSecond)));
      }
      const Peak* compute = device.peaks.best_compute();
      if (compute == nullptr || !compute->value || device.flops <= 0) continue;
      const double ideal_ns = device.flops / *compute->value * 1e9;
      if (at(PathBound::compute).ideal_ns.value_or(0) >= ideal_ns) continue;
      set(PathBound::compute, ideal_ns,
          fmt::format("{} at {}", compute->title, format_value(*compute->value, kFlopsPerSecond)));
    }
  }

  const WorkGraph& graph_;
  const CriticalPath& path_;
  std::vector<BoundFigure>& bounds_;
};

// By what the path is put down to, the longest first, the unknown last.
std::vector<BoundFigure> parts_of_path(const WorkGraph& graph, const CriticalPath& path) {
  std::vector<BoundFigure> parts(kPathBounds);
  for (std::size_t i = 0; i < kPathBounds; ++i) parts[i].bound = static_cast<PathBound>(i);
  for (const PathSegment& segment : path.segments) {
    parts[static_cast<std::size_t>(bound_of(graph, segment))].path_ns += segment.length_ns();
  }
  std::stable_sort(parts.begin(), parts.end() - 1,
                   [](const BoundFigure& a, const BoundFigure& b) { return a.path_ns > b.path_ns; });
  return parts;
}

std::vector<PathGap> grouped_gaps(const WorkGraph& graph, const CriticalPath& path,
                                  std::vector<std::vector<NodeIndex>>& nodes) {
  std::map<std::tuple<WaitReason, StringId, StringId>, std::size_t> places;
  std::map<std::size_t, std::int64_t> longest;
  std::vector<PathGap> gaps;
  for (const PathSegment& segment : path.segments) {
    if (!segment.is_gap || segment.node == kNoNode) continue;
    const StringId location = graph.locations.empty() ? kNone : graph.locations[segment.node];
    const StringId name = graph.names[segment.node];
    const auto [place, is_new] = places.try_emplace({segment.reason, name, location}, gaps.size());
    if (is_new) {
      gaps.push_back({.reason = segment.reason, .name = name, .location = location});
      nodes.emplace_back();
    }
    PathGap& gap = gaps[place->second];
    ++gap.count;
    gap.gap_ns += segment.length_ns();
    nodes[place->second].push_back(segment.node);
    std::int64_t& most = longest[place->second];
    if (segment.length_ns() > most) gap.longest = segment.node;
    most = std::max(most, segment.length_ns());
  }
  return gaps;
}

}  // namespace

std::string_view path_bound_name(PathBound bound) noexcept { return kBoundNames[static_cast<std::size_t>(bound)]; }

PathBound bound_of(const WorkGraph& graph, const PathSegment& segment) noexcept {
  if (!segment.is_gap) return bound_of_work(graph.lane(segment.node).kind);
  const bool of_stream = segment.node != kNoNode && graph.lane(segment.node).kind != WorkKind::transfer;
  if (segment.reason == WaitReason::queue && of_stream) return PathBound::issue;
  return bound_of_gap(segment.reason);
}

Result<std::vector<BoundFigure>> bounds_of_path(const QueryContext& query, const WorkGraph& graph,
                                                const CriticalPath& path, const PeakEdits& edits) {
  std::vector<BoundFigure> bounds = parts_of_path(graph, path);
  TRY(BoundIdeals(graph, path, bounds).find(query, edits));
  bounds.back().rests_on = "nothing recorded explains it";
  return bounds;
}

std::string path_most_text(const WorkGraph& graph, const CriticalPath& path) {
  return bounds_text(parts_of_path(graph, path));
}

std::string bounds_text(const std::vector<BoundFigure>& bounds) {
  std::int64_t total_ns = 0;
  for (const BoundFigure& bound : bounds) total_ns += bound.path_ns;
  if (bounds.empty() || total_ns <= 0) return {};
  const auto percent = [total_ns](const BoundFigure& bound) {
    return 100.0 * static_cast<double>(bound.path_ns) / static_cast<double>(total_ns);
  };
  const BoundFigure &most = bounds.front(), &unknown = bounds.back();
  if (unknown.path_ns >= total_ns - unknown.path_ns) {
    return fmt::format("What bounds it is unknown: nothing recorded explains {:.1f} % of the critical path",
                       percent(unknown));
  }
  // A device may be busy all the while: that is what the verdict speaks of.
  const std::string_view beside = most.bound == PathBound::host ? "; what it starts runs beside it" : "";
  return fmt::format("Most of the critical path: {}, {:.1f} %{}", path_bound_name(most.bound), percent(most), beside);
}

std::size_t most_replays(const WorkGraph& graph) noexcept {
  if (graph.count() == 0) return 0;
  return std::clamp<std::size_t>(kReplayedNodes / graph.count(), 1, kMostReplayed);
}

Result<std::int64_t> saving_without_gap(const QueryContext& query, const WorkGraph& graph, const WorkGap& gap) {
  ChangedGraph changed(graph);
  for (const PathSegment& segment : gap_path(graph, gap).segments) {
    if (segment.is_gap || !graph.lane(segment.node).is_thread || graph.waits[segment.node] != 0) continue;
    const auto length = static_cast<double>(graph.end_ns[segment.node] - graph.begin_ns[segment.node]);
    changed.scale(graph, segment.node, 1 - static_cast<double>(segment.length_ns()) / length);
  }
  if (gap.after != kNoNode)
    changed.take_out(graph, gap.after, gap.launch != kNoNode ? ChangedGraph::kAtOnce : ChangedGraph::kWaitsForNothing);
  const auto replay = TRY(GraphReplay::run(query, graph, changed));
  return std::max<std::int64_t>(0, graph.end_of_all_ns - replay->end_of_all_ns());
}

Result<std::vector<PathGap>> path_gaps(const QueryContext& query, const WorkGraph& graph, const CriticalPath& path) {
  std::vector<std::vector<NodeIndex>> nodes;
  std::vector<PathGap> gaps = grouped_gaps(graph, path, nodes);
  std::vector<std::size_t> by_length(gaps.size());
  for (std::size_t i = 0; i < by_length.size(); ++i) by_length[i] = i;
  std::ranges::stable_sort(by_length, [&](std::size_t a, std::size_t b) { return gaps[a].gap_ns > gaps[b].gap_ns; });
  by_length.resize(std::min(by_length.size(), most_replays(graph)));
  const std::int64_t total_ns = graph.end_of_all_ns - path.range.begin_ns;
  for (const std::size_t place : by_length) {
    const auto without = TRY(total_without_gaps(query, graph, nodes[place], path.range.begin_ns));
    // What followed nothing that is known cannot be moved by a replay.
    const bool unmoved = without == total_ns && gaps[place].reason == WaitReason::unknown;
    if (unmoved) continue;
    gaps[place].saving_ns = std::max<std::int64_t>(total_ns - without, 0);
  }
  std::ranges::stable_sort(gaps, [](const PathGap& a, const PathGap& b) {
    return std::tuple(a.saving_ns.has_value(), a.saving_ns.value_or(0), a.gap_ns) >
           std::tuple(b.saving_ns.has_value(), b.saving_ns.value_or(0), b.gap_ns);
  });
  return gaps;
}

namespace {

// The call that started it; kNoNode: it is not known.
NodeIndex launch_of(const WorkGraph& graph, NodeIndex node) {
  for (const GraphEdge& edge : graph.edges_of(node)) {
    if (graph.lane(edge.source).is_thread) return edge.source;
  }
  return kNoNode;
}

class GapFinder {
 public:
  GapFinder(const WorkGraph& graph, const TimeRange& range) : graph_(graph), range_(range), devices_(*graph.snapshot) {}

  std::vector<WorkGap> run() {
    std::map<std::size_t, std::vector<std::uint32_t>> lanes;
    for (std::uint32_t i = 0; i < graph_.lanes.size(); ++i) {
      if (is_device_work(graph_.lanes[i].kind)) lanes[devices_.of_lane(graph_.lanes[i].lane)].push_back(i);
    }
    for (const auto& [device, of_device] : lanes) find(device, of_device);
    return std::move(gaps_);
  }

 private:
  void find(std::size_t device, const std::vector<std::uint32_t>& lanes) {
    std::vector<DigitKey> keys;
    for (const std::uint32_t i : lanes) {
      const GraphLane& lane = graph_.lanes[i];
      for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
        if (graph_.waits[node] != 0 || graph_.end_ns[node] <= range_.begin_ns || graph_.begin_ns[node] >= range_.end_ns)
          continue;
        keys.push_back({static_cast<std::uint64_t>(graph_.begin_ns[node] - graph_.begin_of_all_ns), node});
      }
    }
    sort_by_digits(keys);
    std::int64_t reached = range_.begin_ns;
    NodeIndex before = kNoNode;
    for (const DigitKey& key : keys) {
      const NodeIndex node = key.value;
      if (graph_.begin_ns[node] > reached) {
        WorkGap gap{.device = device, .range = {reached, graph_.begin_ns[node]}, .before = before, .after = node};
        gap.launch = launch_of(graph_, node);
        add(gap);
      }
      if (graph_.end_ns[node] < reached) continue;
      reached = graph_.end_ns[node];
      before = node;
    }
    if (before != kNoNode && reached < range_.end_ns) {
      add({.device = device, .range = {reached, range_.end_ns}, .before = before});
    }
  }

  void add(WorkGap gap) {
    HostTally tally;
    for (const PathSegment& segment : gap_path(graph_, gap).segments) {
      if (!segment.is_gap && graph_.lane(segment.node).is_thread) tally.add(graph_, segment.node, segment.length_ns());
    }
    gap.host_on_path = 2 * tally.recorded_ns >= gap.length_ns();
    if (!gap.host_on_path && gap.launch != kNoNode) tally = of_other_threads(gap);
    if (2 * tally.recorded_ns >= gap.length_ns()) tally.tell(graph_, gap);
    gaps_.push_back(gap);
  }

  // Time of a host's calls by their names.
  struct HostTally {
    struct Call {
      NodeIndex longest = kNoNode;
      std::int64_t longest_ns = 0, ns = 0;
    };
    std::unordered_map<StringId, Call> calls;
    std::int64_t recorded_ns = 0;

    void add(const WorkGraph& graph, NodeIndex node, std::int64_t ns) {
      Call& call = calls[graph.names[node]];
      call.ns += ns;
      recorded_ns += ns;
      if (ns <= call.longest_ns) return;
      call.longest_ns = ns;
      call.longest = node;
    }
    void tell(const WorkGraph& graph, WorkGap& gap) const {
      for (const auto& [name, call] : calls) {
        const StringId known = gap.host == kNoNode ? StringId{0} : graph.names[gap.host];
        if (std::pair(call.ns, name) <= std::pair(gap.host_ns, known)) continue;
        gap.host_ns = call.ns;
        gap.host = call.longest;
      }
    }
  };

  // Where nothing is recorded of the thread that launches, another one told it to: the one of its process that works
  // most in the gap.
  [[nodiscard]] HostTally of_other_threads(const WorkGap& gap) const {
    HostTally most;
    const std::size_t process = devices_.of_lane(graph_.lane(gap.launch).lane);
    for (const GraphLane& lane : graph_.lanes) {
      if (!lane.is_thread || devices_.of_lane(lane.lane) != process) continue;
      HostTally tally;
      const auto ends = graph_.end_ns.begin() + lane.first;
      auto node =
          static_cast<NodeIndex>(std::upper_bound(ends, ends + lane.count, gap.range.begin_ns) - graph_.end_ns.begin());
      for (; node < lane.first + lane.count && graph_.begin_ns[node] < gap.range.end_ns; ++node) {
        const std::int64_t inside =
            std::min(gap.range.end_ns, graph_.end_ns[node]) - std::max(gap.range.begin_ns, graph_.begin_ns[node]);
        if (graph_.waits[node] == 0) tally.add(graph_, node, inside);
      }
      if (tally.recorded_ns > most.recorded_ns) most = std::move(tally);
    }
    return most;
  }

  const WorkGraph& graph_;
  TimeRange range_;
  TrackDevices devices_;
  std::vector<WorkGap> gaps_;
};

}  // namespace

std::vector<WorkGap> device_gaps(const WorkGraph& graph, const TimeRange& range) {
  return GapFinder(graph, range).run();
}

CriticalPath gap_path(const WorkGraph& graph, const WorkGap& gap) {
  if (gap.launch != kNoNode) {
    // The call goes on after its work has begun, or was over long before.
    const std::int64_t until = std::min(gap.range.end_ns, graph.end_ns[gap.launch]);
    return find_path_to(graph, gap.launch, {gap.range.begin_ns, until});
  }
  if (gap.after != kNoNode || gap.before == kNoNode) return {};
  const NodeIndex launched = launch_of(graph, gap.before);
  if (launched == kNoNode) return {};
  const GraphLane& lane = graph.lane(launched);
  const auto first = graph.begin_ns.begin() + lane.first;
  const auto last = std::lower_bound(first, first + lane.count, gap.range.end_ns);
  const auto node = static_cast<NodeIndex>(last - 1 - graph.begin_ns.begin());  // the launch at least is before it
  return find_path_to(graph, node, {gap.range.begin_ns, std::min(gap.range.end_ns, graph.end_ns[node])});
}

}  // namespace accelscope::analysis
