// Iterations, the body that repeats, and regions by name, as tables.
#pragma once

#include <optional>

#include "core/analysis/iterations/iterations.h"
#include "core/listing/base/listing.h"

namespace accelscope::listing {

[[nodiscard]] Result<Listing> list_loops(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_iterations(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_iteration_body(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_regions(const QueryContext& query, const ListingRequest& request);

// The same of what is known already: of one loop, or of all where none is given, with the track and level of each. A
// row of an iteration speaks of its range, one of an operation of the events of its name on the track.
inline constexpr std::size_t kMostIterationRows = 200'000;
[[nodiscard]] Listing iterations_listing(const analysis::IterationList& list, const Snapshot& snapshot,
                                         std::optional<std::size_t> loop = {}, std::size_t most = kMostIterationRows);
[[nodiscard]] Listing iteration_body_listing(const analysis::IterationList& list, const Snapshot& snapshot,
                                             std::optional<std::size_t> loop = {});
[[nodiscard]] Listing loops_listing(const analysis::IterationList& list, const Snapshot& snapshot);  // a row each
[[nodiscard]] Listing regions_listing(const analysis::RegionList& list, const Snapshot& snapshot,
                                      const std::vector<const analysis::NamedRegion*>& chosen, std::string_view kind);
// Why nothing was found, or what is left out; "": nothing is to be said.
[[nodiscard]] std::string iterations_note(const analysis::IterationList& list,
                                          const analysis::IterationQuestion& question);
// "gemm_128", "Step#*", "gemm_128 (3)" of the third of its name in an iteration, "relu × 40" of forty added up.
[[nodiscard]] std::string operation_text(const analysis::LoopOperation& operation, const Snapshot& snapshot);

}  // namespace accelscope::listing
