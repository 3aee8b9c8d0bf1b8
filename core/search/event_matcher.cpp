#include "core/search/event_matcher.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/model/source_location.h"
#include "core/scan/predicate.h"
#include "core/search/hint.h"

namespace accelscope::search {
namespace {

// The terms of a search as conditions on the events of one schema.

// The string and text terms of a query are tested once and shared by all schemas.
class ConditionBuilder {
 public:
  explicit ConditionBuilder(const StringPool& strings) : strings_(strings) {}
  // Nothing: the schema has no such column. An error: the term is wrong for this column.
  [[nodiscard]] Result<std::optional<Condition>> build(const SearchTerm& term, const Schema& schema);

 private:
  [[nodiscard]] Result<std::optional<Condition>> build_text(const SearchTerm& term, const ValuePlace& place);
  struct Known {
    const SearchTerm* term;
    std::shared_ptr<const StringTest> test;
  };
  const StringPool& strings_;
  std::vector<Known> known_;
};

__extension__ using Wide = __int128;

bool same_word(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower_case(x) == lower_case(y); });
}

bool contains_ignoring_case(std::string_view text, std::string_view lower_part) noexcept {
  return std::search(text.begin(), text.end(), lower_part.begin(), lower_part.end(),
                     [](char x, char y) { return lower_case(x) == y; }) != text.end();
}

// A number as the user wrote it: exact if it is whole.
struct Number {
  Wide floor = 0;
  bool whole = true;
  double real = 0;
};

Result<Number> parse_number(const SearchTerm& term, const Column& column) {
  const std::string_view text = term.value;
  const char* end = text.data() + text.size();
  const auto wrong = [&] {
    return Error{fmt::format("search: {} ({}) cannot be compared with \"{}\"; write a number such as 12, 0x1f{}",
                             term.column, column.unit.empty() ? "a number" : "in " + column.unit, text,
                             column.unit == Unit::ns      ? " or 5us"
                             : column.unit == Unit::bytes ? " or 1MiB"
                                                          : "")};
  };
  Number number;
  if (text.starts_with("0x")) {
    std::uint64_t value = 0;
    const auto [last, code] = std::from_chars(text.data() + 2, end, value, 16);
    if (code != std::errc() || last != end) return wrong();
    return Number{Wide{value}, true, static_cast<double>(value)};
  }
  if (std::uint64_t value = 0; std::from_chars(text.data(), end, value).ptr == end) {
    return Number{Wide{value}, true, static_cast<double>(value)};
  }
  if (std::int64_t value = 0; std::from_chars(text.data(), end, value).ptr == end) {
    return Number{Wide{value}, true, static_cast<double>(value)};
  }
  const auto [last, code] = std::from_chars(text.data(), end, number.real);
  if (code == std::errc() && last == end && std::isfinite(number.real)) {
    const double floor = std::floor(std::clamp(number.real, -1e19, 2e19));
    number.floor = static_cast<Wide>(floor);
    number.whole = floor == number.real;
    return number;
  }
  if (column.unit == Unit::ns) {
    if (const Result<std::int64_t> time = parse_time(text, 0, 0))
      return Number{*time, true, static_cast<double>(*time)};
  }
  if (column.unit == Unit::bytes) {
    if (const Result<std::uint64_t> size = parse_size(text))
      return Number{Wide{*size}, true, static_cast<double>(*size)};
  }
  return wrong();
}

// The values v of the type for which `v compare number` holds; for != those that do not.
template <typename T>
ValueTest whole_numbers(Compare compare, const Number& number) {
  const Wide smallest = std::numeric_limits<T>::min();
  const Wide largest = std::numeric_limits<T>::max();
  Wide low = smallest;
  Wide high = largest;
  switch (compare) {
    case Compare::less:
      high = number.whole ? number.floor - 1 : number.floor;
      break;
    case Compare::less_equal:
      high = number.floor;
      break;
    case Compare::greater:
      low = number.floor + 1;
      break;
    case Compare::greater_equal:
      low = number.whole ? number.floor : number.floor + 1;
      break;
    default:
      low = number.whole ? number.floor : largest + 1;
      high = number.floor;
  }
  low = std::max(low, smallest);
  high = std::min(high, largest);
  Bounds<T> bounds;
  if (low > high) {
    bounds.clear();
  } else {
    bounds = {static_cast<T>(low), static_cast<T>(high)};
  }
  return within(bounds);
}

ValueTest real_numbers(Compare compare, double number) {
  const double infinity = std::numeric_limits<double>::infinity();
  RealBounds bounds{number, number};
  if (compare == Compare::less) bounds = {-infinity, std::nextafter(number, -infinity)};
  if (compare == Compare::less_equal) bounds = {-infinity, number};
  if (compare == Compare::greater) bounds = {std::nextafter(number, infinity), infinity};
  if (compare == Compare::greater_equal) bounds = {number, infinity};
  return within(bounds);
}

bool is_text_compare(Compare compare) noexcept { return compare == Compare::contains || compare == Compare::matches; }
bool is_order(Compare compare) noexcept {
  return compare != Compare::equal && compare != Compare::unequal && !is_text_compare(compare);
}

// Fails if the expression is wrong.
[[nodiscard]] Result<TextTest> text_test(const SearchTerm& term) {
  const std::string& value = term.value;
  if (term.source_location && term.compare == Compare::unequal)
    return TextTest([value](std::string_view text) { return text != value; });
  if (term.compare == Compare::matches) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_case_sensitive(!term.ignore_case);
    auto expression = std::make_shared<RE2>(value, options);
    if (!expression->ok()) {
      return Error{fmt::format("search: /{}/ is not a regular expression: {}", value, expression->error())};
    }
    return TextTest([expression](std::string_view text) {
      return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression);
    });
  }
  if (term.source_location) {
    std::string_view path;
    std::uint32_t line = 0;
    if (!parse_source_location(value, path, line)) {
      return Error{fmt::format("search: \"{}\" names no source line; write file.py:33", value)};
    }
    return TextTest([wanted = std::string(path), line](std::string_view text) {
      std::string_view found;
      std::uint32_t found_line = 0;
      if (!parse_source_location(text, found, found_line) || found_line != line || !found.ends_with(wanted))
        return false;
      return found.size() == wanted.size() || found[found.size() - wanted.size() - 1] == '/';
    });
  }
  if (term.compare == Compare::contains) {
    if (term.ignore_case) {
      return TextTest([part = lower_case(value)](std::string_view text) { return contains_ignoring_case(text, part); });
    }
    return TextTest([value](std::string_view text) { return text.find(value) != std::string_view::npos; });
  }
  const bool equal = term.compare == Compare::equal;
  return TextTest([value, equal](std::string_view text) { return (text == value) == equal; });
}

Result<std::optional<Condition>> ConditionBuilder::build_text(const SearchTerm& term, const ValuePlace& place) {
  if (is_order(term.compare)) {
    return Error{fmt::format("search: {} holds text; compare it with =, != or ~", term.column)};
  }
  auto known = std::ranges::find_if(known_, [&](const Known& k) { return k.term == &term; });
  if (known == known_.end()) {
    TextTest test = TRY(text_test(term));
    known = known_.insert(known_.end(), Known{&term, std::make_shared<StringTest>(std::move(test), strings_)});
  }
  return std::optional(Condition{place, known->test});
}

// What sources call by different names, in one word: "bytes" is the transfer_size of one and the size of another.
std::optional<std::size_t> column_of_role(const Schema& schema, const std::string& word) {
  static constexpr std::array<std::pair<std::string_view, Role>, 3> kWords = {
      {{"bytes", Role::bytes}, {"flops", Role::flops}, {"layer", Role::layer}}};
  for (const auto& [name, role] : kWords) {
    if (same_word(word, name)) return schema.find(role);
  }
  return std::nullopt;
}

Result<std::optional<Condition>> ConditionBuilder::build(const SearchTerm& term, const Schema& schema) {
  using Source = ValuePlace::Source;
  ValuePlace place;
  const Column* column = nullptr;
  const auto found = [&](std::size_t index) {
    column = &schema.columns[index];
    place = {.source = Source::column, .column = index, .type = column->type};
  };
  for (std::size_t i = 0; column == nullptr && i < schema.columns.size(); ++i) {
    const Column& candidate = schema.columns[i];
    const bool wanted =
        term.source_location ? candidate.role == Role::source_location : same_word(candidate.name, term.column);
    if (wanted) found(i);
  }
  if (column == nullptr && !term.source_location) {
    if (const auto index = column_of_role(schema, term.column)) found(*index);
  }
  static const Column kTime{.name = "", .unit = "ns"};
  if (column == nullptr) {
    if (term.source_location) return std::optional<Condition>();
    if (same_word(term.column, "name") || same_word(term.column, schema.name_column)) {
      return build_text(term, {.source = Source::name, .type = ColumnType::string});
    }
    // As in the tables of SQL, and as one says it.
    const auto called = [&](std::initializer_list<std::string_view> words) {
      return std::ranges::any_of(words, [&](std::string_view word) { return same_word(term.column, word); });
    };
    if (called({"duration", "dur", "dur_ns"})) {
      place.source = Source::duration;
    } else if (called({"start", "ts", "ts_ns"})) {
      place.source = Source::begin;
    } else {
      return std::optional<Condition>();
    }
    column = &kTime;
  }
  if (column->type == ColumnType::string || column->type == ColumnType::text) return build_text(term, place);
  if (is_text_compare(term.compare)) {
    return Error{fmt::format("search: {} holds numbers; compare it with =, !=, <, <=, > or >=", term.column)};
  }
  Condition condition{place, {}, term.compare == Compare::unequal};
  if (column->type == ColumnType::boolean && (term.value == "true" || term.value == "false")) {
    condition.test = whole_numbers<std::int64_t>(term.compare, {term.value == "true" ? 1 : 0, true, 0});
    return std::optional(std::move(condition));
  }
  const Number number = TRY(parse_number(term, *column));
  if (column->type == ColumnType::float64) {
    condition.test = real_numbers(term.compare, number.real);
  } else if (column->type == ColumnType::uint64) {
    condition.test = whole_numbers<std::uint64_t>(term.compare, number);
  } else {
    condition.test = whole_numbers<std::int64_t>(term.compare, number);
  }
  return std::optional(std::move(condition));
}

// The terms of a search that are about the lane of an event and not the event itself: lane="stream 7", device=nc4,
// host~trn1. Upper and lower case alike. A schema's own column of such a name comes first.
class LaneTerms {
 public:
  // Fails if an expression is wrong, or such a term asks for more or less.
  [[nodiscard]] static Result<LaneTerms> prepare(const SearchQuery& query);

  [[nodiscard]] bool is_one(std::size_t term) const noexcept { return terms_[term].about != About::event; }
  [[nodiscard]] bool passes(std::size_t term, const TrackSnapshot* track) const;
  // That no lane is called so, and what they are called.
  [[nodiscard]] Error no_such(std::size_t term, const Snapshot& snapshot, const LaneIndices& lanes) const;

 private:
  enum class About : std::uint8_t { event, lane, device, host };
  struct Term {
    About about = About::event;
    Compare compare = Compare::equal;
    std::string value;
    TextTest test;  // for contains and matches
  };
  [[nodiscard]] static std::string text_of(About about, const Track& track);

  std::vector<Term> terms_;  // one for each of the query
};

constexpr std::size_t kMostLanesListed = 12;

bool same_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

Result<LaneTerms> LaneTerms::prepare(const SearchQuery& query) {
  LaneTerms all;
  for (const SearchTerm& term : query.terms) {
    Term made;
    made.compare = term.compare;
    made.value = term.value;
    if (same_ignoring_case(term.column, "lane") || same_ignoring_case(term.column, "track")) made.about = About::lane;
    if (same_ignoring_case(term.column, "device")) made.about = About::device;
    if (same_ignoring_case(term.column, "host")) made.about = About::host;
    const bool of_text = term.compare == Compare::contains || term.compare == Compare::matches;
    if (made.about != About::event && of_text) {
      auto test = TRY(text_test(term));
      made.test = std::move(test);
    }
    all.terms_.push_back(std::move(made));
  }
  return all;
}

std::string LaneTerms::text_of(About about, const Track& track) {
  if (about == About::device) return track.device;
  return about == About::host ? track.host : track.name;
}

bool LaneTerms::passes(std::size_t term, const TrackSnapshot* track) const {
  if (track == nullptr) return false;
  const Term& wanted = terms_[term];
  const std::string text = text_of(wanted.about, *track->track);
  const auto is_called = [&](const std::string& name) { return same_ignoring_case(name, wanted.value); };
  switch (wanted.compare) {
    case Compare::contains:
    case Compare::matches:
      return wanted.test(text);
    case Compare::equal:
    case Compare::unequal: {
      bool called = is_called(text);
      if (wanted.about == About::lane) {  // as it is called where several devices or hosts have one
        called = called || is_called(track->track->device + " " + text) || is_called(track->track->host + " " + text);
      }
      return called == (wanted.compare == Compare::equal);
    }
    default:
      return false;
  }
}

Error LaneTerms::no_such(std::size_t term, const Snapshot& snapshot, const LaneIndices& lanes) const {
  const Term& wanted = terms_[term];
  const std::string_view word = wanted.about == About::lane     ? "lane"
                                : wanted.about == About::device ? "device"
                                                                : "host";
  std::vector<std::string> names;
  for (const std::uint32_t index : lanes) {
    const TrackSnapshot* track = snapshot.find_track(snapshot.lanes[index].track);
    if (track == nullptr) continue;
    std::string name = text_of(wanted.about, *track->track);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  std::string known;
  for (std::size_t i = 0; i < std::min(names.size(), kMostLanesListed); ++i) known += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMostLanesListed) known += ", ...";
  return Error{fmt::format("search: no {} is called \"{}\"; there are {}", word, wanted.value,
                           known.empty() ? "none with a name" : known)};
}

bool is_name_term(const SearchTerm& term) noexcept { return term.column.empty() && !term.source_location; }

}  // namespace

Result<EventMatcher> EventMatcher::prepare(const QueryContext& context, const SearchQuery& asked,
                                           const LaneIndices& lanes) {
  EventMatcher matcher;
  SearchQuery query = asked;
  for (SearchTerm& term : query.terms) {
    if (asks_for_lines(term, *context.snapshot, lanes))
      term = {.column = "", .compare = Compare::unequal, .value = "", .source_location = true};
  }
  matcher.lanes_.resize(context.snapshot->lanes.size());
  TRY(matcher.set_names(context, query));
  TRY(matcher.set_conditions(context, query, lanes));
  return matcher;
}

Result<void> EventMatcher::set_names(const QueryContext& context, const SearchQuery& query) {
  std::vector<TextTest> tests;
  for (const SearchTerm& term : query.terms) {
    if (!is_name_term(term)) continue;
    TextTest test = TRY(text_test(term));
    tests.push_back(std::move(test));
  }
  if (tests.empty()) return {};
  TextTest all = tests.front();
  if (tests.size() > 1) {
    all = [tests](std::string_view text) {
      return std::ranges::all_of(tests, [text](const TextTest& test) { return test(text); });
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
  LaneTerms lane_terms = TRY(LaneTerms::prepare(query));
  std::vector<char> known(query.terms.size(), 0);  // by term: some schema has its column
  std::vector<OfSchema> by_schema;
  static const Schema kPlain;  // of lanes without a schema: name, start and duration
  for (const std::uint32_t lane_index : selected) {
    const LaneSnapshot& lane = context.snapshot->lanes[lane_index];
    const Schema* schema = lane.schema ? lane.schema.get() : &kPlain;
    auto found = std::ranges::find_if(by_schema, [&](const auto& each) { return each.schema == schema; });
    if (found == by_schema.end()) {
      OfSchema made;
      made.schema = schema;
      auto conditions = std::make_shared<std::vector<Condition>>();
      for (std::size_t i = 0; i < query.terms.size(); ++i) {
        if (is_name_term(query.terms[i])) continue;
        Result<std::optional<Condition>> condition = builder.build(query.terms[i], *schema);
        if (!condition && !lane_terms.is_one(i)) return condition.error();
        if ((!condition || !*condition) && lane_terms.is_one(i)) {
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
      if (lane_terms.passes(i, track)) {
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
    if (lane_terms.is_one(i)) {
      if (term.compare == Compare::equal) return lane_terms.no_such(i, *context.snapshot, selected);
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

}  // namespace accelscope::search
