#include "core/search/condition.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/model/source_location.h"

namespace accelscope {
namespace {

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
                             column.unit == "ns"  ? " or 5us"
                             : column.unit == "B" ? " or 1MiB"
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
  if (column.unit == "ns") {
    if (const Result<std::int64_t> time = parse_time(text, 0, 0))
      return Number{*time, true, static_cast<double>(*time)};
  }
  if (column.unit == "B") {
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

}  // namespace

Result<TextTest> text_test(const SearchTerm& term) {
  const std::string& value = term.value;
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
  auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& k) { return k.term == &term; });
  if (known == known_.end()) {
    Result<TextTest> test = text_test(term);
    if (!test) return test.error();
    known = known_.insert(known_.end(), Known{&term, std::make_shared<StringTest>(std::move(*test), strings_)});
  }
  return std::optional(Condition{place, known->test});
}

namespace {

// What sources call by different names, in one word: "bytes" is the transfer_size of one and the size of another.
std::optional<std::size_t> column_of_role(const Schema& schema, const std::string& word) {
  static constexpr std::array<std::pair<std::string_view, Role>, 3> kWords = {
      {{"bytes", Role::bytes}, {"flops", Role::flops}, {"layer", Role::layer}}};
  for (const auto& [name, role] : kWords) {
    if (same_word(word, name)) return schema.find(role);
  }
  return std::nullopt;
}

}  // namespace

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
      return std::any_of(words.begin(), words.end(),
                         [&](std::string_view word) { return same_word(term.column, word); });
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
  const Result<Number> number = parse_number(term, *column);
  if (!number) return number.error();
  if (column->type == ColumnType::float64) {
    condition.test = real_numbers(term.compare, number->real);
  } else if (column->type == ColumnType::uint64) {
    condition.test = whole_numbers<std::uint64_t>(term.compare, *number);
  } else {
    condition.test = whole_numbers<std::int64_t>(term.compare, *number);
  }
  return std::optional(std::move(condition));
}

}  // namespace accelscope
