#include "core/search/event_matcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/search/condition.h"
#include "core/search/lane_terms.h"

namespace accelscope {

namespace {

bool is_name_term(const SearchTerm& term) noexcept { return term.column.empty() && !term.source_location; }

}  // namespace

Result<EventMatcher> EventMatcher::prepare(const QueryContext& context, const SearchQuery& query,
                                           const LaneIndices& lanes) {
  EventMatcher matcher;
  matcher.lanes_.resize(context.snapshot->lanes.size());
  if (const Result<void> set = matcher.set_names(context, query); !set) return set.error();
  if (const Result<void> set = matcher.set_conditions(context, query, lanes); !set) return set.error();
  return matcher;
}

Result<void> EventMatcher::set_names(const QueryContext& context, const SearchQuery& query) {
  std::vector<TextTest> tests;
  for (const SearchTerm& term : query.terms) {
    if (!is_name_term(term)) continue;
    Result<TextTest> test = text_test(term);
    if (!test) return test.error();
    tests.push_back(std::move(*test));
  }
  if (tests.empty()) return {};
  TextTest all = tests.front();
  if (tests.size() > 1) {
    all = [tests](std::string_view text) {
      return std::all_of(tests.begin(), tests.end(), [text](const TextTest& test) { return test(text); });
    };
  }
  auto names = std::make_shared<StringTest>(std::move(all), *context.snapshot->strings);
  names->answer_all(context.pool, context.control);
  if (context.control.cancelled()) return cancelled_error();
  names_ = std::move(names);
  return {};
}

Result<void> EventMatcher::set_conditions(const QueryContext& context, const SearchQuery& query,
                                          const LaneIndices& selected) {
  struct OfSchema {
    const Schema* schema = nullptr;
    std::shared_ptr<const std::vector<Condition>> conditions;
    std::vector<std::size_t> of_lane;  // terms that are about the lane
  };
  ConditionBuilder builder(*context.snapshot->strings);
  Result<LaneTerms> lane_terms = LaneTerms::prepare(query);
  if (!lane_terms) return lane_terms.error();
  std::vector<char> known(query.terms.size(), 0);  // by term: some schema has its column
  std::vector<OfSchema> by_schema;
  static const Schema kPlain;  // of lanes without a schema: name, start and duration
  for (const std::uint32_t lane_index : selected) {
    const LaneSnapshot& lane = context.snapshot->lanes[lane_index];
    const Schema* schema = lane.schema ? lane.schema.get() : &kPlain;
    auto found =
        std::find_if(by_schema.begin(), by_schema.end(), [&](const auto& each) { return each.schema == schema; });
    if (found == by_schema.end()) {
      OfSchema made;
      made.schema = schema;
      auto conditions = std::make_shared<std::vector<Condition>>();
      for (std::size_t i = 0; i < query.terms.size(); ++i) {
        if (is_name_term(query.terms[i])) continue;
        Result<std::optional<Condition>> condition = builder.build(query.terms[i], *schema);
        if (!condition && !lane_terms->is_one(i)) return condition.error();
        if ((!condition || !*condition) && lane_terms->is_one(i)) {
          made.of_lane.push_back(i);
          all_lanes_ = false;
          continue;
        }
        names_only_ = false;
        if (*condition && conditions) {
          conditions->push_back(std::move(**condition));
        } else {
          conditions = nullptr;
        }
        if (*condition) known[i] = 1;
      }
      made.conditions = std::move(conditions);
      found = by_schema.insert(by_schema.end(), std::move(made));
    }
    const TrackSnapshot* track = context.snapshot->find_track(lane.track);
    bool passes = true;
    for (const std::size_t i : found->of_lane) {
      if (lane_terms->passes(i, track)) {
        known[i] = 1;
      } else {
        passes = false;
      }
    }
    if (!passes || !found->conditions) continue;
    LanePredicate& predicate = lanes_[lane_index].emplace(lane, lane_index, context.mask.get());
    if (names_) predicate.add({.source = ValuePlace::Source::name, .type = ColumnType::string}, names_);
    for (const Condition& condition : *found->conditions)
      predicate.add(condition.place, condition.test, condition.negated);
  }
  for (std::size_t i = 0; i < query.terms.size(); ++i) {
    const SearchTerm& term = query.terms[i];
    if (is_name_term(term) || known[i] != 0 || selected.empty()) continue;
    if (lane_terms->is_one(i)) {
      if (term.compare == Compare::equal) return lane_terms->no_such(i, *context.snapshot, selected);
      if (term.compare != Compare::less && term.compare != Compare::less_equal && term.compare != Compare::greater &&
          term.compare != Compare::greater_equal) {
        continue;
      }
      return Error{fmt::format("search: {} holds text; compare it with =, != or ~", term.column)};
    }
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

ChunkHits::ChunkHits(const EventMatcher& matcher, const ScannedChunk& chunk)
    : predicate_(matcher.of_lane(chunk.lane_index)), reader_(chunk.reader) {
  if (predicate_ == nullptr || !predicate_->may_match(chunk.view)) return;
  part_ = predicate_->part(chunk.chunk_index);
}

std::uint64_t ChunkHits::of(std::uint32_t block) {
  if (block_ != block) {
    block_ = block;
    reader_.seek(block);
    hits_ = predicate_->matches(reader_, part_);
  }
  return hits_;
}

}  // namespace accelscope
