// The segments that allocators hold, and who holds what in them, as tables. Both are of one instant: the end of the
// range, or of the session.
#pragma once

#include "app/content/listings/base/listing.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_segments(const QueryContext& query, const ListingRequest& request);
// Allocations that are alive, together by tensor, size, line or stack.
[[nodiscard]] Result<Listing> list_alive(const QueryContext& query, const ListingRequest& request);

}  // namespace accelscope::app
