// A measure of every core as a table: the most and the least loaded core and those far from the others first.
#pragma once

#include <span>
#include <vector>

#include "app/content/listings/listing.h"
#include "core/analysis/core_grid/grid_frames.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_core_grid(const QueryContext& query, const ListingRequest& request);

// Cells in the order of such a table, for a stretch of frames: most, least, far from the others, then by falling value.
[[nodiscard]] std::vector<std::size_t> core_grid_order(const GridFrames& frames, std::size_t first, std::size_t last);
// The rows of a stretch of frames [first, last).
[[nodiscard]] Listing core_grid_listing(const GridFrames& frames, const Snapshot& snapshot, std::size_t first,
                                        std::size_t last, std::span<const std::size_t> order);
[[nodiscard]] std::vector<double> core_grid_values(const GridFrames& frames, std::size_t first, std::size_t last);

}  // namespace accelscope::app
