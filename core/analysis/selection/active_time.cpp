#include "core/analysis/selection/summary.h"

#include "core/analysis/time/work_kind.h"

namespace accelscope {
LaneIndices active_lanes(const Snapshot& snapshot, const EventFilter& filter) {
  const WorkKinds work(snapshot);
  LaneIndices lanes;
  LaneIndices repeated;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (!filter.has_track(track.track->number)) continue;
    for (const std::uint32_t lane : track.lanes) {
      if (is_device_work(work.of_lane(lane))) (work.covers_time(lane) ? lanes : repeated).push_back(lane);
    }
  }
  if (!lanes.empty()) return lanes;
  return repeated.empty() ? working_lanes(snapshot, filter) : repeated;  // transfers alone were asked for
}

bool has_cut_times(const Snapshot& snapshot) noexcept { return !snapshot.meta_value(kCutTimesFact).empty(); }

std::int64_t active_ns(const CoveredTime& covered, bool cut_times) noexcept {
  return covered.length_ns() + (cut_times ? static_cast<std::int64_t>(covered.stretches() / 2) : 0);
}

}  // namespace accelscope
