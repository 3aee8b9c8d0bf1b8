// Where a session does its work. Real runs idle for most of their time before the work begins, so a view that fits
// the activity spares the user a search; the overview shows how busy each pixel's time is.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/scan/chunk_scan.h"

namespace accelscope {

// What counts as work.
struct ActivityRule {
  std::span<const std::string_view> track_kinds;  // empty: every track of slices
  std::span<const std::string_view> setup_names;  // events that prepare and order, but do not work
};

// From the begin of the first to the end of the last event that neither waits nor only sets up; nothing if there
// is none. Decodes a few chunks of each lane.
[[nodiscard]] Result<std::optional<TimeRange>> active_stretch(const QueryContext& query, const ActivityRule& rule);

// Mean share of the lanes that is busy within each pixel, 0 to 1. Only from the lanes' trees: coarse where a tree
// leaf (64 events) is wider than a pixel, but never empty where an event is. Lanes of slices only.
[[nodiscard]] std::vector<float> activity_density(const Snapshot& snapshot, const LaneIndices& lanes,
                                                  const TimeRange& range, std::size_t pixels);

}  // namespace accelscope
