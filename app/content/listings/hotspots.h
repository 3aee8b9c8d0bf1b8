// Kernels and operations of the devices by total time, and how the devices used their time, as tables.
#pragma once

#include "app/content/listings/base/listing.h"
#include "core/analysis/figures/range_activity.h"
#include "core/analysis/hotspots/hotspots.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_hotspots(const QueryContext& query, const ListingRequest& request);
// The same of what is known already; each row speaks of all events of its name on its tracks, `within` what is given.
[[nodiscard]] Listing hotspots_listing(const HotspotList& hotspots, const Snapshot& snapshot,
                                       const EventFilter& within);

// How long each device computed, moved data, took part in collectives and idled.
[[nodiscard]] Result<Listing> list_devices(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Listing devices_listing(const RangeActivity& activity, const Snapshot& snapshot);

// Operations of a report of tt-metal in the style that its users know.
[[nodiscard]] Result<Listing> list_tt_perf(const QueryContext& query, const ListingRequest& request);

}  // namespace accelscope::app
