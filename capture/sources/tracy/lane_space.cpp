#include "capture/sources/tracy/lane_space.h"

#include <limits>

namespace accelscope::capture::sources::tracy {

std::optional<TrackNumber> LaneSpace::add_track(Track track) {
  if (tracks_ == kMostTracks) {
    ++tracks_left_out_;
    return std::nullopt;
  }
  ++tracks_;
  const TrackNumber number = writer_.add_track(std::move(track));
  if (ends_.size() <= number) ends_.resize(number + 1);
  return number;
}

bool LaneSpace::grow(std::vector<std::int64_t>& ends, std::uint32_t depth) {
  const auto more = static_cast<std::uint32_t>(depth + 1 - ends.size());
  if (depth >= kMostDepth || lanes_ + more > kMostLanes) {
    ++without_lane_;
    return false;
  }
  lanes_ += more;
  ends.resize(depth + 1, std::numeric_limits<std::int64_t>::min());
  return true;
}

std::optional<Row> LaneSpace::put(TrackNumber track, std::int64_t start, std::int64_t duration, StringId name) {
  std::vector<std::int64_t>& ends = ends_[track];
  std::uint32_t depth = 0;
  while (depth < ends.size() && ends[depth] > start) ++depth;
  return put_at(track, depth, start, start + duration, name);
}

}  // namespace accelscope::capture::sources::tracy
