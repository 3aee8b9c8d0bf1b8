// The table of gaps: when each device had nothing to do, what its host did meanwhile, what ended it and what closing it
// would save.
#pragma once

#include "app/content/listings/base/listing.h"
#include "core/analysis/critical_path/work_graph.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_idle(const QueryContext& query, const ListingRequest& request);
// The longest ones first; no more than `most` of them, as the note says then. Of the range, the whole session's where
// it is empty.
[[nodiscard]] Result<Listing> idle_listing(const QueryContext& query, const WorkGraph& graph, const TimeRange& range,
                                           std::size_t most);

}  // namespace accelscope::app
