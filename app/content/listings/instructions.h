// The instruction listing as a table: of all, or of one line of source.
#pragma once

#include "app/content/listings/base/listing.h"

namespace accelscope::app {

// request.by: none, or one source location, "kernel.py:33".
[[nodiscard]] Result<Listing> list_instructions(const QueryContext& query, const ListingRequest& request);

}  // namespace accelscope::app
