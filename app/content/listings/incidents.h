// Errors, throttling and warnings as a table.
#pragma once

#include "app/content/listings/listing.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_incidents(const QueryContext& query, const ListingRequest& request);

}  // namespace accelscope::app
