// A measure of every core as a table: the most and the least loaded core and those far from the others first.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "app/content/listings/base/listing.h"
#include "core/analysis/core_grid/grid_frames.h"
#include "core/analysis/core_grid/spread.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_core_grid(const QueryContext& query, const ListingRequest& request);

// The measure of a stretch of frames [first, last) by cell; nothing of a core that lacks the processor which is
// measured.
struct CoreValues {
  std::vector<std::optional<double>> cells;
  CoreSpread spread;         // over those that have one; its indices are cells
  std::size_t measured = 0;  // how many have one
};
[[nodiscard]] CoreValues core_grid_values(const GridFrames& frames, std::size_t first, std::size_t last);
// Times as shares of the stretch.
[[nodiscard]] CoreValues core_grid_shares(const GridFrames& frames, std::size_t first, std::size_t last);

// Cells in the order of such a table: most, least, far from the others, then by falling value, those without one last.
[[nodiscard]] std::vector<std::size_t> core_grid_order(const CoreValues& values);
// The rows of a stretch of frames.
[[nodiscard]] Listing core_grid_listing(const GridFrames& frames, const Snapshot& snapshot, std::size_t first,
                                        std::size_t last, std::span<const std::size_t> order);

}  // namespace accelscope::app
