// Compilations and cache hits, and what the calls of recurring functions cost, as tables.
#pragma once

#include "app/content/listings/base/listing.h"
#include "core/analysis/compilation/compilations.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_compilations(const QueryContext& query, const ListingRequest& request);
// --by function: a row for each function; else one for each call.
[[nodiscard]] Result<Listing> list_calls(const QueryContext& query, const ListingRequest& request);

// The same of what is known already, of a range.
[[nodiscard]] Listing compilations_listing(const Compilations& all, const Snapshot& snapshot, const TimeRange& range);
[[nodiscard]] Listing calls_listing(const Compilations& all, const Snapshot& snapshot,
                                    const std::vector<CallRow>& rows);
// The share is of the range's part of the session; `within` is what rows select their calls of.
[[nodiscard]] Listing functions_listing(const Compilations& all, const Snapshot& snapshot,
                                        const std::vector<CallRow>& rows, const std::vector<CallFunctionRow>& functions,
                                        const TimeRange& range, const EventFilter& within);

// "12 compilations take 3.4 s, 12 % of 28 s; 4 of what had been compiled before; 96 cache hits".
[[nodiscard]] std::string compile_text(const CompileSummary& summary, std::int64_t range_ns);
// The part of the session that a range holds, in ns.
[[nodiscard]] std::int64_t session_part_ns(const Snapshot& snapshot, const TimeRange& range);

}  // namespace accelscope::app
