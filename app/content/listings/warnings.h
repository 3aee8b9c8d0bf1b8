// What costs time that could be saved, ranked, as a table; of every error what ran around it; and errors, throttling
// and warnings that have a time.
#pragma once

#include "app/content/listings/base/listing.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/advice/error_surroundings.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_warnings(const QueryContext& query, const ListingRequest& request);
// The same rows of what is known already.
[[nodiscard]] Listing warnings_listing(const Advice& advice);

[[nodiscard]] Result<Listing> list_errors(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Listing errors_listing(const Snapshot& snapshot, const ErrorReport& report);

[[nodiscard]] Result<Listing> list_incidents(const QueryContext& query, const ListingRequest& request);

}  // namespace accelscope::app
