// What a user may not know of a search whose hits have been counted: why it found nothing, or that it passes
// everything.
//
//   const SearchHint hint = *search_hint(context, *query, lanes, search.total());
//   hint.text      // `no name is exactly "gemm"; 1,204 contain it`; "": nothing to say
//   hint.instead   // the search that finds those: `name~gemm`; "": none
//
// The same words stand in the search page, below the search box and on the error stream of commands.
#pragma once

#include <cstdint>
#include <string>

#include "core/search/search.h"

namespace accelscope::search {

struct SearchHint {
  std::string text;
  std::string instead;
};

// `total`: the hits of the query in these lanes, of the context's mask. Counts again for terms that may pass
// everything, and for the query with ~ in place of = where nothing was found. Fails when cancelled.
[[nodiscard]] Result<SearchHint> search_hint(const QueryContext& context, const SearchQuery& query,
                                             const LaneIndices& lanes, std::uint64_t total);

// The lanes whose events a search finds: flows and rows of tables without time are no events.
[[nodiscard]] LaneIndices searched_lanes(const Snapshot& snapshot);

// The term as it is typed.
[[nodiscard]] std::string term_text(const SearchTerm& term);

// "/./" alone: events that have a source line, in a session whose events can have one.
[[nodiscard]] bool asks_for_lines(const SearchTerm& term, const Snapshot& snapshot, const LaneIndices& lanes);

}  // namespace accelscope::search
