#include "capture/sources/tt_metal/write/marker_times.h"

#include <algorithm>
#include <vector>

namespace accelscope::capture::sources::tt_metal {
namespace {

void find_ends(std::span<const MarkerTimes* const> processors, const tracks::TimeBounds& bounds, ChipTimes& times) {
  times.first.reset();
  times.last.reset();
  for (const MarkerTimes* of : processors) {
    const auto first = of->extremes.first_within(bounds);
    const auto last = of->extremes.last_within(bounds);
    if (first && (!times.first || *first < *times.first)) times.first = first;
    if (last && (!times.last || *last > *times.last)) times.last = last;
  }
}

}  // namespace

// A chip counts since its reset, so a marker at 0 was never stamped where the others lie far behind.
ChipTimes times_of_chip(std::span<const MarkerTimes* const> processors, double frequency_mhz) {
  constexpr std::int64_t kFarther = 100;  // times as long as all the others last
  std::vector<tracks::SketchedTrack> known;
  for (const MarkerTimes* of : processors) known.push_back({&of->sketch, false});
  ChipTimes times;
  times.bounds = tracks::bounds_of(known, frequency_mhz > 0 ? frequency_mhz / 1000 : 1);
  tracks::TimeBounds stamped = times.bounds;
  stamped.first = std::max<std::int64_t>(times.bounds.first, 1);
  find_ends(processors, stamped, times);
  if (times.first && *times.first / kFarther > *times.last - *times.first) {
    times.bounds = stamped;
  } else {
    find_ends(processors, times.bounds, times);
  }
  return times;
}

}  // namespace accelscope::capture::sources::tt_metal
