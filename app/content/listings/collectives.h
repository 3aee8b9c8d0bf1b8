// Collective operations, their instances and the ranks that take part, as tables.
#pragma once

#include "app/content/listings/base/listing.h"
#include "core/analysis/collectives/report.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_collectives(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_collective_instances(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_ranks(const QueryContext& query, const ListingRequest& request);

// The same of what is known already. The range of the targets is the request's, or the session's.
[[nodiscard]] Listing collectives_listing(const CollectivesReport& report, const Snapshot& snapshot);
[[nodiscard]] Listing ranks_listing(const CollectivesReport& report);

// "AllReduce 4 MiB"
[[nodiscard]] std::string collective_title(const CollectiveKind& kind);
// All parts of an instance: its tracks, from the first arrival to the end, as the timeline shows them.
[[nodiscard]] EventFilter instance_events(const Collectives& all, const CollectiveInstance& instance);
// What a filter keeps out, though the times of the others are told by it; "": nothing.
[[nodiscard]] std::string hidden_text(const Collectives& all);
// What the numbers lack: ranks, or an order to match by, or what a filter hides; "": nothing.
[[nodiscard]] std::string lacking_text(const CollectivesReport& report);
// What the clocks allow: "Clocks set by 48 collectives; residual ø 420 ns, at most 1.31 µs (rank 58)".
[[nodiscard]] std::string clocks_text(const Collectives& all);

}  // namespace accelscope::app
