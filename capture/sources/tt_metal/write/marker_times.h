// When the markers of a chip's processors were, those left out whose times cannot be true (tracks/doubtful_times.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "capture/sources/tracks/doubtful_times.h"

namespace accelscope::capture::sources::tt_metal {

// Of the markers of one processor.
struct MarkerTimes {
  tracks::TimeSketch sketch;
  tracks::TimeExtremes extremes;

  void add(std::int64_t time) {
    sketch.add(time, 0);
    extremes.add(time, time);
  }
};

struct ChipTimes {
  tracks::TimeBounds bounds;
  std::optional<std::int64_t> first, last;  // within the bounds
};
[[nodiscard]] ChipTimes times_of_chip(std::span<const MarkerTimes* const> processors, double frequency_mhz);

}  // namespace accelscope::capture::sources::tt_metal
