#include "core/analysis/replay/host_replay.h"

#include <algorithm>

#include "core/analysis/replay/graph_replay.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"

namespace accelscope::analysis {
namespace {

// A device's lanes in the graph, and its nodes in them.
struct DeviceNodes {
  std::vector<std::pair<NodeIndex, NodeIndex>> runs;
  std::uint64_t count = 0, launched = 0;
};

class HostChanges {
 public:
  HostChanges(const WorkGraph& graph, const LaunchedWork& work) : graph_(graph), work_(work) {
    find_devices();
    find_launches();
  }

  // Empty where the host has no such delay.
  [[nodiscard]] std::optional<ChangedGraph> without(HostDelay delay) const {
    ChangedGraph changed(graph_);
    switch (delay) {
      case HostDelay::own:
        changed.host_delays = 0;
        each_call([&](NodeIndex node, double loading) { changed.scale(graph_, node, loading); });
        break;
      case HostDelay::loading:
        if (work_.loading.empty()) return std::nullopt;
        each_call([&](NodeIndex node, double loading) {
          if (loading > 0) changed.scale(graph_, node, 1 - loading);
        });
        break;
      case HostDelay::synchronising:
      case HostDelay::copying:
        for (NodeIndex node = graph_.first_call; node < graph_.count(); ++node) {
          if (graph_.waits[node] == 0 || waits_for_thread(node)) continue;
          if (waits_for_its_copy(node) == (delay == HostDelay::copying))
            changed.take_out(graph_, node, ChangedGraph::kGone);
        }
        break;
      case HostDelay::tiny_launches:
        take_out_tiny(changed);
        break;
    }
    if (changed.factors.empty() && changed.gone.empty() && changed.host_delays == 1) return std::nullopt;
    return changed;
  }

  [[nodiscard]] const DeviceNodes& device(std::size_t d) const { return devices_[d]; }

 private:
  void find_devices() {
    devices_.resize(work_.devices.size());
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      const LaunchedWork::Device& device = work_.devices[d];
      for (const GraphLane& lane : graph_.lanes) {
        if (std::find(device.tracks.begin(), device.tracks.end(), lane.track) == device.tracks.end()) continue;
        const auto begins = graph_.begin_ns.begin();
        const auto first =
            std::lower_bound(begins + lane.first, begins + lane.first + lane.count, device.stretch.begin_ns);
        const auto last = std::lower_bound(first, begins + lane.first + lane.count, device.stretch.end_ns);
        devices_[d].runs.emplace_back(first - begins, last - begins);
        devices_[d].count += static_cast<std::uint64_t>(last - first);
      }
    }
  }

  // Which calls start anything, and which nothing but what is tiny.
  void find_launches() {
    launches_.assign(graph_.count() - graph_.first_call, kNothing);
    for (DeviceNodes& device : devices_) {
      for (const auto& [first, last] : device.runs) {
        for (NodeIndex node = first; node < last; ++node) {
          bool launched = false;
          for (const GraphEdge& edge : graph_.edges_of(node)) {
            if (!graph_.lane(edge.source).is_thread) continue;
            launched = true;
            std::uint8_t& starts = launches_[edge.source - graph_.first_call];
            starts = std::max(starts, is_tiny(node) ? kTiny : kWork);
          }
          device.launched += launched ? 1 : 0;
        }
      }
    }
  }
  [[nodiscard]] bool is_tiny(NodeIndex node) const {
    return graph_.end_ns[node] - graph_.begin_ns[node] < work_.tiny_ns;
  }

  // What works in a thread, and how much of it is loading.
  template <typename Body>
  void each_call(const Body& body) const {
    const TrackDevices processes(*graph_.snapshot);
    for (const GraphLane& lane : graph_.lanes) {
      if (!lane.is_thread) continue;
      const auto loads = work_.loading.find({scope_of(lane.track), processes.of_lane(lane.lane)});
      for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
        if (graph_.waits[node] != 0) continue;
        const std::int64_t begin = graph_.begin_ns[node], length = graph_.end_ns[node] - begin;
        const std::int64_t loading =
            loads == work_.loading.end() ? 0 : shared_ns(loads->second, begin, graph_.end_ns[node]);
        body(node, length > 0 ? static_cast<double>(loading) / static_cast<double>(length) : 0);
      }
    }
  }

  [[nodiscard]] bool waits_for_thread(NodeIndex node) const {
    const auto edges = graph_.edges_of(node);
    return std::ranges::any_of(edges, [&](const GraphEdge& edge) { return graph_.lane(edge.source).is_thread; });
  }

  [[nodiscard]] bool waits_for_its_copy(NodeIndex node) const {
    const auto edges = graph_.edges_of(node);
    return std::ranges::any_of(edges, [&](const GraphEdge& ends) {
      const auto before = graph_.edges_of(ends.source);
      return std::ranges::any_of(before, [&](const GraphEdge& edge) {
        return graph_.lane(edge.source).is_thread && graph_.event(edge.source) == graph_.event(node);
      });
    });
  }

  // What a thread does up to a call that starts nothing but tiny kernels is there for these alone.
  void take_out_tiny(ChangedGraph& changed) const {
    std::vector<std::pair<NodeIndex, double>> before;
    NodeIndex end = kNoNode;  // of the thread
    each_call([&](NodeIndex node, double loading) {
      if (end == kNoNode || node >= end) {
        before.clear();
        end = graph_.lane(node).first + graph_.lane(node).count;
      }
      before.emplace_back(node, loading);
      const std::uint8_t starts = launches_[node - graph_.first_call];
      if (starts == kNothing) return;
      for (const auto& [each, retained] : before) {
        if (starts != kTiny) break;
        changed.scale(graph_, each, retained);
        changed.take_out(graph_, each, ChangedGraph::kAtOnce);
      }
      before.clear();
    });
    if (changed.touched == 0) return;
    for (const DeviceNodes& device : devices_) {
      for (const auto& [first, last] : device.runs) {
        for (NodeIndex node = first; node < last; ++node) {
          if (is_tiny(node)) changed.take_out(graph_, node, ChangedGraph::kAtOnce);
        }
      }
    }
  }

  static constexpr std::uint8_t kNothing = 0, kTiny = 1, kWork = 2;
  const WorkGraph& graph_;
  const LaunchedWork& work_;
  std::vector<DeviceNodes> devices_;
  std::vector<std::uint8_t> launches_;  // by node of threads
};

std::int64_t length_of(const DeviceNodes& device, const std::vector<std::int64_t>& begins,
                       const std::vector<std::int64_t>& ends) {
  std::int64_t begin = INT64_MAX, end = INT64_MIN;
  for (const auto& [first, last] : device.runs) {
    for (NodeIndex node = first; node < last; ++node) {
      begin = std::min(begin, begins[node]);
      end = std::max(end, ends[node]);
    }
  }
  return std::max<std::int64_t>(0, end - begin);
}

}  // namespace

Result<std::unique_ptr<HostReplay>> HostReplay::build(const QueryContext& query, const LaunchedWork& work) {
  const auto graph = TRY(session_graph(query));
  const WorkGraph& recorded = *graph;
  if (recorded.count() > kMostEvents || recorded.first_call >= recorded.count()) return std::unique_ptr<HostReplay>();
  const HostChanges changes(recorded, work);
  auto made = std::make_unique<HostReplay>();
  for (const LaunchedWork::Device& device : work.devices) made->savings_[device.name] = {};
  query.pool.for_each(kDelays, query.control, [&](std::size_t delay, std::size_t) {
    auto changed = changes.without(static_cast<HostDelay>(delay));
    const std::size_t count = work.devices.size();
    std::vector<std::int64_t> after_ns(count), explained_ns(count);
    for (const bool without_delays : {false, true}) {
      if (!changed) break;
      changed->without_delays = without_delays;
      const auto replay = GraphReplay::run(query, recorded, *changed);
      if (!replay) return;
      for (std::size_t d = 0; d < count; ++d) {
        const std::int64_t length = length_of(changes.device(d), (*replay)->begin_ns, (*replay)->end_ns);
        (without_delays ? explained_ns : after_ns)[d] = length;
      }
    }
    for (std::size_t d = 0; d < count; ++d) {
      const DeviceNodes& device = changes.device(d);
      if (static_cast<double>(device.launched) < kLeastLaunched * static_cast<double>(device.count)) continue;
      std::optional<std::int64_t>& saving = made->savings_.find(work.devices[d].name)->second[delay];
      const std::int64_t before = length_of(device, recorded.begin_ns, recorded.end_ns);
      const auto unknown = static_cast<double>(after_ns[d] - explained_ns[d]);
      if (!changed) {
        saving = 0;
      } else if (unknown <= kMostUnexplained * static_cast<double>(before)) {
        saving = std::max<std::int64_t>(0, before - after_ns[d]);
      }
    }
  });
  if (query.control.cancelled()) return cancelled_error();
  return made;
}

}  // namespace accelscope::analysis
