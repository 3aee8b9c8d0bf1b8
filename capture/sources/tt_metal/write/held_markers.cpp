#include "capture/sources/tt_metal/write/held_markers.h"

#include <algorithm>

namespace accelscope::capture::sources::tt_metal {
namespace {

[[nodiscard]] bool earlier(const LogMarker& a, const LogMarker& b) noexcept { return a.time < b.time; }

}  // namespace

void HeldMarkers::hand_on_before(std::int64_t time) {
  const auto end =
      std::partition(markers_.begin(), markers_.end(), [time](const LogMarker& marker) { return marker.time < time; });
  hand_on(static_cast<std::size_t>(end - markers_.begin()));
}

Result<bool> HeldMarkers::add(const LogMarker& marker, ChunkSpill& spill) {
  if (!events_->bounds->hold(marker.time, 0)) {
    std::vector<LogMarker> alone = {marker};
    writer_->add(*events_, alone);
    return true;
  }
  if (marker.time <= written_) {
    if (const Result<void> kept = late_.add(marker, spill); !kept) return kept.error();
    return false;
  }
  markers_.push_back(marker);
  if (markers_.size() >= MarkerRuns::kHeld) {
    std::sort(markers_.begin(), markers_.end(), earlier);
    hand_on(MarkerRuns::kHeld / 2);
  }
  return true;
}

// The first ones: none of the others is earlier.
void HeldMarkers::hand_on(std::size_t count) {
  if (count == 0) return;
  const auto end = markers_.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(markers_.begin(), end, earlier);
  const std::int64_t last = markers_[count - 1].time;
  // Those of one time go together.
  const auto more = std::partition(end, markers_.end(), [&](const LogMarker& marker) { return marker.time == last; });
  std::vector<LogMarker> of_one_time;
  for (auto at = markers_.begin(); at != more;) {
    const auto next = std::find_if(at, more, [&](const LogMarker& marker) { return marker.time != at->time; });
    of_one_time.assign(at, next);
    if (writer_->add(*events_, of_one_time)) written_ = of_one_time.front().time;
    at = next;
  }
  markers_.erase(markers_.begin(), more);
}

Result<void> HeldMarkers::finish(ChunkSpill& spill, std::int64_t last_time) {
  hand_on_all();
  Result<void> done;
  if (late_.count() > 0) done = late_.finish(spill);
  if (done) {
    done = late_.merge(spill, [this](std::vector<LogMarker>& of_one_time) {
      writer_->add(*events_, of_one_time, true);
      return true;
    });
  }
  writer_->end(*events_, last_time);
  return done;
}

}  // namespace accelscope::capture::sources::tt_metal
