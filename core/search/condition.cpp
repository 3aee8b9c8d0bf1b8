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

// The values v of [smallest, largest] for which `v compare number` holds, as stored values; != negates.
void set_range(Condition& condition, const Number& number, Wide smallest, Wide largest) {
  Wide low = smallest;
  Wide high = largest;
  switch (condition.compare) {
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
      condition.negated = condition.compare == Compare::unequal;
  }
  low = std::max(low, smallest);
  high = std::min(high, largest);
  if (low > high) return;  // low 1, high 0: none
  // Signed values are stored with the sign bit flipped: their distance from the smallest.
  condition.low = static_cast<std::uint64_t>(low - smallest);
  condition.high = static_cast<std::uint64_t>(high - smallest);
}

void set_int64_range(Condition& condition, const Number& number) {
  set_range(condition, number, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}

bool compare_reals(double a, Compare compare, double b) noexcept {
  switch (compare) {
    case Compare::less:
      return a < b;
    case Compare::less_equal:
      return a <= b;
    case Compare::greater:
      return a > b;
    case Compare::greater_equal:
      return a >= b;
    case Compare::unequal:
      return a != b;
    default:
      return a == b;
  }
}

bool is_text_compare(Compare compare) noexcept { return compare == Compare::contains || compare == Compare::matches; }
bool is_order(Compare compare) noexcept {
  return compare != Compare::equal && compare != Compare::unequal && !is_text_compare(compare);
}

std::uint64_t stored_int64(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63);
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

Result<StringSet> matching_strings(const QueryContext& context, const TextTest& test) {
  const StringPool& strings = *context.snapshot->strings;
  const std::size_t count = strings.size();
  StringSet set(count);
  constexpr std::size_t kAtOnce = 4096;  // a multiple of 64: no two threads write one word
  context.pool.for_each((count + kAtOnce - 1) / kAtOnce, context.control, [&](std::size_t index, std::size_t) {
    const std::size_t end = std::min(count, (index + 1) * kAtOnce);
    for (std::size_t id = index * kAtOnce; id < end; ++id) {
      if (test(strings.text(static_cast<StringId>(id)))) set.insert(static_cast<StringId>(id));
    }
  });
  if (context.control.cancelled()) return cancelled_error();
  return set;
}

std::uint64_t Condition::apply(const ScannedChunk& chunk, const ScannedBlock& block, std::uint64_t mask) const {
  std::uint64_t values[kBlockEvents];
  std::uint64_t passed = 0;
  const auto each = [&](auto&& passes) {
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      passed |= std::uint64_t{static_cast<bool>(passes(i)) != negated} << i;
    }
  };
  if (subject == Subject::name) {
    chunk.view.names(block.block, values);
    each([&](std::uint32_t i) { return strings->contains(chunk.session_string(values[i])); });
    return mask & passed;
  }
  if (subject != Subject::column) {
    const ClockMap& clock = *chunk.lane.clock;
    each([&](std::uint32_t i) {
      const std::int64_t begin = clock.to_ns(block.times.begins[i]);
      const std::uint64_t stored =
          stored_int64(subject == Subject::begin ? begin : clock.to_ns(block.times.ends[i]) - begin);
      return low <= stored && stored <= high;
    });
    return mask & passed;
  }
  if (column >= chunk.view.column_count()) return 0;
  mask &= chunk.view.validity(column, block.block);
  if (mask == 0) return 0;
  if (test == Test::text) {
    each([&](std::uint32_t i) { return (mask >> i & 1) != 0 && text(chunk.view.text(column, block.first_row + i)); });
    return mask & passed;
  }
  chunk.view.values(column, block.block, values);
  switch (test) {
    case Test::real:
      each([&](std::uint32_t i) { return compare_reals(chunk.view.to_float64(column, values[i]), compare, real); });
      break;
    case Test::strings:
      each([&](std::uint32_t i) { return strings->contains(chunk.session_string(values[i])); });
      break;
    default:
      each([&](std::uint32_t i) { return low <= values[i] && values[i] <= high; });
  }
  return mask & passed;
}

bool Condition::possible(const ChunkView& view) const noexcept {
  if (subject != Subject::column) return true;
  if (column >= view.column_count()) return false;
  const ColumnEntry& entry = view.entry(column);
  if (entry.flags & kAbsent) return false;
  if (test != Test::stored_range) return true;
  if (negated) return entry.min < low || entry.max > high || low > high;
  return low <= high && entry.min <= high && entry.max >= low;
}

Result<std::optional<Condition>> ConditionBuilder::build_text(const SearchTerm& term, const Column* column,
                                                              Condition condition) {
  if (is_order(term.compare)) {
    return Error{fmt::format("search: {} holds text; compare it with =, != or ~", term.column)};
  }
  auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& k) { return k.term == &term; });
  if (known == known_.end()) {
    const Result<TextTest> test = text_test(term);
    if (!test) return test.error();
    known = known_.insert(known_.end(), Known{&term, *test, nullptr});
  }
  condition.text = known->test;
  condition.test =
      column != nullptr && column->type == ColumnType::text ? Condition::Test::text : Condition::Test::strings;
  if (condition.test == Condition::Test::strings) {
    if (!known->strings) {
      Result<StringSet> set = matching_strings(context_, known->test);
      if (!set) return set.error();
      known->strings = std::make_shared<const StringSet>(std::move(set).value());
    }
    condition.strings = known->strings;
  }
  return std::optional(std::move(condition));
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
  Condition condition;
  condition.compare = term.compare;
  const Column* column = nullptr;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& candidate = schema.columns[i];
    const bool wanted =
        term.source_location ? candidate.role == Role::source_location : same_word(candidate.name, term.column);
    if (wanted && column == nullptr) {
      column = &candidate;
      condition.column = i;
    }
  }
  if (column == nullptr && !term.source_location) {
    if (const auto place = column_of_role(schema, term.column)) {
      column = &schema.columns[*place];
      condition.column = *place;
    }
  }
  static const Column kTime{.name = "", .unit = "ns"};
  if (column == nullptr) {
    if (term.source_location) return std::optional<Condition>();
    if (same_word(term.column, "name") || same_word(term.column, schema.name_column)) {
      condition.subject = Condition::Subject::name;
      return build_text(term, nullptr, std::move(condition));
    }
    // As in the tables of SQL, and as one says it.
    const auto called = [&](std::initializer_list<std::string_view> words) {
      return std::any_of(words.begin(), words.end(),
                         [&](std::string_view word) { return same_word(term.column, word); });
    };
    if (called({"duration", "dur", "dur_ns"})) {
      condition.subject = Condition::Subject::duration;
    } else if (called({"start", "ts", "ts_ns"})) {
      condition.subject = Condition::Subject::begin;
    } else {
      return std::optional<Condition>();
    }
    column = &kTime;
  }
  if (column->type == ColumnType::string || column->type == ColumnType::text) {
    return build_text(term, column, std::move(condition));
  }
  if (is_text_compare(term.compare)) {
    return Error{fmt::format("search: {} holds numbers; compare it with =, !=, <, <=, > or >=", term.column)};
  }
  if (column->type == ColumnType::boolean && (term.value == "true" || term.value == "false")) {
    const bool yes = term.value == "true";
    set_range(condition, Number{yes ? 1 : 0, true, yes ? 1.0 : 0.0}, 0, 1);
    return std::optional(std::move(condition));
  }
  const Result<Number> number = parse_number(term, *column);
  if (!number) return number.error();
  if (column->type == ColumnType::float64) {
    condition.test = Condition::Test::real;
    condition.real = number->real;
  } else if (column->type == ColumnType::int64) {
    set_int64_range(condition, *number);
  } else {
    set_range(condition, *number, 0, std::numeric_limits<std::uint64_t>::max());
  }
  return std::optional(std::move(condition));
}

}  // namespace accelscope
