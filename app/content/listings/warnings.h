// What costs time that could be saved, ranked, as a table; and of every error what ran around it.
#pragma once

#include "app/content/listings/listing.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/advice/error_surroundings.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_warnings(const QueryContext& query, const ListingRequest& request);
// The same rows of what is known already.
[[nodiscard]] Listing warnings_listing(const Advice& advice);

[[nodiscard]] Result<Listing> list_errors(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Listing errors_listing(const Snapshot& snapshot, const ErrorReport& report);

}  // namespace accelscope::app
