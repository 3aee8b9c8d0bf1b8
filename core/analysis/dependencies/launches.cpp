#include "core/analysis/dependencies/launches.h"

#include <algorithm>
#include <map>
#include <optional>

namespace accelscope {
namespace {

class LaunchFinder {
 public:
  LaunchFinder(const QueryContext& query, const WorkKinds& kinds) : query_(query), snapshot_(*query.snapshot) {
    for (std::size_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      if (kinds.of_lane(lane) != WorkKind::host) continue;
      thread_of_track_[snapshot_.lanes[lane].track] = kinds.thread_of_lane(lane);
    }
  }

  Result<std::vector<HostLaunch>> run(const Dependencies* known) {
    if (thread_of_track_.empty()) return std::move(launches_);
    std::shared_ptr<const Dependencies> built;
    if (known == nullptr) {
      auto dependencies = Dependencies::build(query_);
      if (!dependencies) return dependencies.error();
      built = std::move(*dependencies);
      known = built.get();
    }
    for (const Dependency& dependency : known->all()) add(dependency);
    if (launches_.empty()) return std::move(launches_);
    if (const Result<void> read = read_times(); !read) return read.error();
    return std::move(launches_);
  }

 private:
  // Flows come by target: of several to one target the first counts.
  void add(const Dependency& dependency) {
    if (!launches_.empty() && launches_.back().target == dependency.target) return;
    if (lane_of(dependency.source) != last_source_) {
      last_source_ = lane_of(dependency.source);
      const LaneSnapshot* source = snapshot_.find_lane(last_source_);
      const auto thread = source == nullptr ? thread_of_track_.end() : thread_of_track_.find(source->track);
      source_thread_ = thread == thread_of_track_.end() ? std::nullopt : std::optional(thread->second);
    }
    if (!source_thread_) return;
    const LaneSnapshot* target = snapshot_.find_lane(lane_of(dependency.target));
    const TrackSnapshot* track = target == nullptr ? nullptr : snapshot_.find_track(target->track);
    if (track == nullptr || work_kind_of(*track) == WorkKind::none) return;  // a range is no work
    if (target->data->kind != EventKind::slice || thread_of_track_.contains(target->track)) return;
    launches_.push_back({dependency.source, dependency.target, *source_thread_, 0, 0, {}});
  }

  // Times of the sources and of the targets.
  Result<void> read_times() {
    std::vector<std::pair<EventId, HostLaunch*>> ends;
    for (HostLaunch& launch : launches_) {
      ends.emplace_back(launch.source, &launch);
      ends.emplace_back(launch.target, &launch);
    }
    std::sort(ends.begin(), ends.end());
    LaneIndices lanes;
    for (std::uint32_t i = 0; i < snapshot_.lanes.size(); ++i) {
      const EventId first = make_event_id(snapshot_.lanes[i].number(), 0);
      const auto found = std::lower_bound(ends.begin(), ends.end(), std::pair<EventId, HostLaunch*>{first, nullptr});
      if (found != ends.end() && lane_of(found->first) == snapshot_.lanes[i].number()) lanes.push_back(i);
    }
    return scan_chunks(query_, lanes, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t) {
      const EventId first = chunk.event_id(0), last = chunk.event_id(chunk.view.count());
      auto end = std::lower_bound(ends.begin(), ends.end(), std::pair<EventId, HostLaunch*>{first, nullptr});
      for (; end != ends.end() && end->first < last; ++end) {
        std::int64_t begin_ticks = 0, end_ticks = 0;
        chunk.view.event_times(static_cast<std::uint32_t>(end->first - first), begin_ticks, end_ticks);
        const std::int64_t begin_ns = chunk.lane.clock->to_ns(begin_ticks), end_ns = chunk.lane.clock->to_ns(end_ticks);
        if (end->first == end->second->source) {
          end->second->begin_ns = begin_ns;
          end->second->end_ns = end_ns;
        }
        if (end->first == end->second->target) end->second->work = {begin_ns, end_ns};
      }
    });
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  std::map<TrackNumber, std::size_t> thread_of_track_;  // of those of host threads
  LaneNumber last_source_ = kNone;
  std::optional<std::size_t> source_thread_;  // of last_source_
  std::vector<HostLaunch> launches_;
};

}  // namespace

Result<std::vector<HostLaunch>> host_launches(const QueryContext& query, const WorkKinds& kinds,
                                              const Dependencies* known) {
  return LaunchFinder(query, kinds).run(known);
}

}  // namespace accelscope
