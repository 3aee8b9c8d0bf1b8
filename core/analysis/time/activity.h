// Where a session does its work. Real runs idle for most of their time before the work begins, so a view that fits
// the activity spares the user a search.
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

}  // namespace accelscope
