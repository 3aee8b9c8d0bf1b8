// A lane's amounts spread over equal stretches of time, from its tree: nodes that lie in one stretch are added as a
// whole, leaves longer than a quarter of a stretch are decoded, shorter ones at an edge are split by their length.
#pragma once

#include <span>
#include <vector>

#include "core/scan/chunk_scan.h"

namespace accelscope {

// Adds to each cell the ns in which an event of the lane does not wait. Cells divide the range evenly.
[[nodiscard]] Result<void> add_busy_time(const QueryContext& query, std::uint32_t lane, const TimeRange& range,
                                         std::span<double> cells);

// Adds to each cell the useful floating point operations of the lane's events, spread over their time. `sums` is that
// of LeafWork::Lane.
[[nodiscard]] Result<void> add_work(const QueryContext& query, std::uint32_t lane, const std::vector<double>& sums,
                                    const TimeRange& range, std::span<double> cells);

}  // namespace accelscope
