// Many lanes as one row of texels: each pixel in the mean colour of its lanes, by the mean of their busy shares. For
// collapsed groups and the overview.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/query/lane_window.h"
#include "render/theme.h"
#include "render/timeline/lane_strip.h"

namespace accelscope::render {

// `lanes` are indices into Snapshot::lanes; those of counters are left out. `colours` null: by name. False while a lane
// is incomplete.
bool summary_texels(const Snapshot& snapshot, std::span<const std::uint32_t> lanes, LaneWindows& windows,
                    const TimeView& view, LaneStripBuilder& builder, std::vector<Pixel>& texels,
                    const EventColours* colours = nullptr);

}  // namespace accelscope::render
