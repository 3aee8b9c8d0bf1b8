#include "core/search/hint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/scan/event_mask.h"

namespace accelscope::search {
namespace {

constexpr std::array<std::string_view, 8> kSymbols = {"=", "!=", "<", "<=", ">", ">=", "~", "~"};  // by Compare

std::string quoted_where_needed(const std::string& text, std::string_view special) {
  return text.empty() || text.find_first_of(special) != std::string::npos ? fmt::format("\"{}\"", text) : text;
}

std::uint64_t events_in(const QueryContext& context, const LaneIndices& lanes) {
  std::uint64_t all = 0;
  for (const std::uint32_t lane : lanes)
    all += context.mask ? context.mask->count(lane) : context.snapshot->lanes[lane].event_count;
  return all;
}

// How many events a query finds; 0 where it cannot be asked, as ~ of a number.
Result<std::uint64_t> count_of(const QueryContext& context, const std::vector<SearchTerm>& terms,
                               const LaneIndices& lanes) {
  const auto found = EventSearch::run(context, {.text = {}, .terms = terms}, lanes);
  if (context.control.cancelled()) return cancelled_error();
  return found ? found->total() : 0;
}

std::string joined_terms(const std::vector<SearchTerm>& terms) {
  std::string text;
  for (const SearchTerm& term : terms) text += (text.empty() ? "" : " ") + term_text(term);
  return text;
}

// Of a query that found nothing: the first = in whose place ~ finds something.
Result<SearchHint> hint_of_none(const QueryContext& context, const SearchQuery& query, const LaneIndices& lanes) {
  for (std::size_t i = 0; i < query.terms.size(); ++i) {
    const SearchTerm& term = query.terms[i];
    if (term.compare != Compare::equal || term.value.empty()) continue;
    std::vector<SearchTerm> terms = query.terms;
    terms[i].compare = Compare::contains;
    terms[i].ignore_case = true;
    const std::uint64_t found = TRY(count_of(context, terms, lanes));
    if (found == 0) continue;
    return SearchHint{fmt::format("No {} is exactly {}; {} {} it", term.column, term.value, format_count(found),
                                  found == 1 ? "contains" : "contain"),
                      joined_terms(terms)};
  }
  return SearchHint{};
}

}  // namespace

LaneIndices searched_lanes(const Snapshot& snapshot) {
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const EventKind kind = snapshot.lanes[i].data->kind;
    if (kind != EventKind::flow && kind != EventKind::table) lanes.push_back(i);
  }
  return lanes;
}

std::string term_text(const SearchTerm& term) {
  if (term.compare == Compare::matches)
    return fmt::format("{}{}/{}/{}", term.column, term.column.empty() ? "" : "~", term.value,
                       term.ignore_case ? "i" : "");
  if (term.column.empty()) return term.source_location ? term.value : quoted_where_needed(term.value, " \t\"=<>~!/:");
  return quoted_where_needed(term.column, " \t") + std::string(kSymbols[static_cast<std::size_t>(term.compare)]) +
         quoted_where_needed(term.value, " \t\"/");
}

bool asks_for_lines(const SearchTerm& term, const Snapshot& snapshot, const LaneIndices& lanes) {
  if (!term.column.empty() || term.compare != Compare::matches || term.value != "." || term.ignore_case) return false;
  return std::ranges::any_of(lanes, [&](std::uint32_t lane) {
    const auto& schema = snapshot.lanes[lane].schema;
    return schema && schema->find(Role::source_location);
  });
}

Result<SearchHint> search_hint(const QueryContext& context, const SearchQuery& query, const LaneIndices& lanes,
                               std::uint64_t total) {
  if (query.terms.empty()) return SearchHint{};
  const auto lines = std::ranges::find_if(
      query.terms, [&](const SearchTerm& term) { return asks_for_lines(term, *context.snapshot, lanes); });
  if (lines != query.terms.end())
    return SearchHint{
        fmt::format("/./ finds events that have a source line{}", total == 0 ? "; none has one here" : ""),
        total == 0 ? "name~/./" : ""};
  if (total == 0) return hint_of_none(context, query, lanes);
  const std::uint64_t all = events_in(context, lanes);
  std::string passing;
  std::vector<SearchTerm> others;
  std::size_t count = 0;
  for (const SearchTerm& term : query.terms) {
    const std::uint64_t found = query.terms.size() == 1 ? total : TRY(count_of(context, {term}, lanes));
    if (found < all) {
      others.push_back(term);
      continue;
    }
    passing += (passing.empty() ? "" : " and ") + term_text(term);
    ++count;
  }
  if (count == 0) return SearchHint{};
  return SearchHint{fmt::format("{} {} every event", passing, count == 1 ? "matches" : "match"), joined_terms(others)};
}

}  // namespace accelscope::search
