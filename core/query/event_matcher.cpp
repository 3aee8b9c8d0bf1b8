#include "core/query/event_matcher.h"

#include <fmt/format.h>

#include <algorithm>

namespace accelscope {

namespace {

bool is_name_term(const SearchTerm& term) noexcept { return term.column.empty() && !term.source_location; }

}  // namespace

Result<EventMatcher> EventMatcher::prepare(const QueryContext& context, const SearchQuery& query,
                                           const LaneIndices& lanes) {
  EventMatcher matcher;
  matcher.conditions_.resize(context.snapshot->lanes.size());
  if (const Result<void> set = matcher.set_names(context, query); !set) return set.error();
  if (const Result<void> set = matcher.set_conditions(context, query, lanes); !set) return set.error();
  return matcher;
}

std::uint64_t EventMatcher::hits(const ScannedChunk& chunk, const ScannedBlock& block) const {
  std::uint64_t mask = bits_between(block.first, block.last);
  if (!any_name_) {
    std::uint64_t ids[kBlockEvents];
    chunk.view.names(block.block, ids);
    std::uint64_t named = 0;
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      named |= std::uint64_t{names_.contains(chunk.session_string(ids[i]))} << i;
    }
    mask &= named;
  }
  for (const Condition& condition : *conditions_[chunk.lane_index]) {
    if (mask == 0) return 0;
    mask = condition.apply(chunk, block, mask);
  }
  return mask;
}

bool EventMatcher::possible(const ScannedChunk& chunk) const {
  if (!covers(chunk.lane_index)) return false;
  const std::vector<Condition>& conditions = *conditions_[chunk.lane_index];
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Condition& condition) { return condition.possible(chunk.view); });
}

Result<void> EventMatcher::set_names(const QueryContext& context, const SearchQuery& query) {
  for (const SearchTerm& term : query.terms) {
    if (!is_name_term(term)) continue;
    const Result<TextTest> test = text_test(term);
    if (!test) return test.error();
    Result<StringSet> set = matching_strings(context, *test);
    if (!set) return set.error();
    if (any_name_) {
      names_ = std::move(set).value();
    } else {
      for (std::size_t i = 0; i < std::min(names_.words().size(), set->words().size()); ++i) {
        names_.words()[i] &= set->words()[i];
      }
    }
    any_name_ = false;
  }
  return {};
}

Result<void> EventMatcher::set_conditions(const QueryContext& context, const SearchQuery& query,
                                          const LaneIndices& selected) {
  ConditionBuilder builder(context);
  std::vector<char> known(query.terms.size(), 0);  // by term: some schema has its column
  std::vector<std::pair<const Schema*, std::shared_ptr<const std::vector<Condition>>>> by_schema;
  static const Schema kPlain;  // of lanes without a schema: name, start and duration
  for (const std::uint32_t lane_index : selected) {
    const LaneSnapshot& lane = context.snapshot->lanes[lane_index];
    const Schema* schema = lane.schema ? lane.schema.get() : &kPlain;
    auto found =
        std::find_if(by_schema.begin(), by_schema.end(), [&](const auto& entry) { return entry.first == schema; });
    if (found == by_schema.end()) {
      auto conditions = std::make_shared<std::vector<Condition>>();
      bool complete = true;
      for (std::size_t i = 0; i < query.terms.size(); ++i) {
        if (is_name_term(query.terms[i])) continue;
        names_only_ = false;
        Result<std::optional<Condition>> condition = builder.build(query.terms[i], *schema);
        if (!condition) return condition.error();
        if (*condition) {
          known[i] = 1;
          conditions->push_back(std::move(**condition));
        } else {
          complete = false;
        }
      }
      if (!complete) conditions = nullptr;
      found = by_schema.insert(by_schema.end(), {schema, std::move(conditions)});
    }
    conditions_[lane_index] = found->second;
  }
  for (std::size_t i = 0; i < query.terms.size(); ++i) {
    const SearchTerm& term = query.terms[i];
    if (is_name_term(term) || known[i] != 0 || selected.empty()) continue;
    if (term.source_location) {
      return Error{
          fmt::format("search: no event of this session has a source line, so {} cannot be found; put it in "
                      "quotes to search for it in names",
                      term.value)};
    }
    return Error{
        fmt::format("search: no event of this session has a field \"{}\"; put the text in quotes to search for "
                    "it in names",
                    term.column)};
  }
  return {};
}

}  // namespace accelscope
