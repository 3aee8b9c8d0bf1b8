// What a lane holds in a stretch of time, from its tree and the windows that are decoded already: nothing is read, so
// a thread that draws may ask. The cost follows the tree's height.
#pragma once

#include <cstdint>
#include <optional>

#include "core/lod/lane_window.h"
#include "core/model/time_range.h"
#include "core/store/snapshot.h"

namespace accelscope {

struct LaneStretch {
  double events = 0;
  double busy_ns = 0;
  double wait_ns = 0;
  bool exact = true;  // false: leaves at its edges stand in part for events that are not decoded, spread evenly
  std::optional<StringId> name;  // that takes the most of its busy time, as far as the index tells
  std::optional<EventId> lone;   // its only event, where windows tell which one that is
};

// `detail` may be null. Counters hold nothing.
[[nodiscard]] LaneStretch lane_stretch(const LaneSnapshot& lane, const LaneDetail* detail, const TimeRange& range);

}  // namespace accelscope
