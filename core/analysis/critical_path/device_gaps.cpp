#include "core/analysis/critical_path/device_gaps.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/analysis/dependencies/digit_sort.h"
#include "core/analysis/time/track_devices.h"

namespace accelscope {
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

}  // namespace accelscope
