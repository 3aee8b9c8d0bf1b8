// The memory hierarchy, the roofline and the peaks of the session's devices as tables; the panel draws from the same
// analysis.
#pragma once

#include "app/content/listings/base/listing.h"
#include "core/analysis/roofline/memory_levels.h"
#include "core/analysis/roofline/roofline.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_memory_levels(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_roofline(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_peaks(const QueryContext& query, const ListingRequest& request);

// The events of a point within the filter that its roofline is of.
[[nodiscard]] EventFilter events_of_point(const Snapshot& snapshot, RoofGrouping grouping, const RoofPoint& point,
                                          const EventFilter& within);

}  // namespace accelscope::app
