// The instruction listing as a table: of all, or of one line of source; and what the lines themselves cost.
#pragma once

#include "app/content/listings/base/listing.h"

namespace accelscope::app {

// request.by: none, or one source location, "kernel.py:33".
[[nodiscard]] Result<Listing> list_instructions(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_lines(const QueryContext& query, const ListingRequest& request);

}  // namespace accelscope::app
