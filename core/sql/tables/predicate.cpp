#include "core/sql/tables/predicate.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/text.h"

namespace accelscope::sql {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

// `column <op> value` for a column of integers and a value that sorts after every integer (text, blobs).
template <typename T>
void narrow_by_later_type(Bounds<T>& bounds, int op) {
  if (op != SQLITE_INDEX_CONSTRAINT_LT && op != SQLITE_INDEX_CONSTRAINT_LE) bounds.clear();
}

void narrow_by_integer(IntegerBounds& bounds, int op, std::int64_t value) {
  const bool strict = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_LT;
  const bool lower = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
  const bool upper = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
  if (strict &&
      value == (lower ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min())) {
    bounds.clear();
    return;
  }
  if (!upper) bounds.at_least(strict ? value + 1 : value);
  if (!lower) bounds.at_most(strict ? value - 1 : value);
}

// The same condition with the whole numbers next to `value`.
void narrow_by_real(IntegerBounds& bounds, int op, double value) {
  const bool lower = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
  if (value >= kTwoTo63 || value < -kTwoTo63) {
    const bool keeps_all = op != SQLITE_INDEX_CONSTRAINT_EQ && lower == (value < 0);
    if (!keeps_all) bounds.clear();
    return;
  }
  const double whole = std::floor(value);
  const auto below = static_cast<std::int64_t>(whole);
  if (whole == value) {
    narrow_by_integer(bounds, op, below);
  } else if (op == SQLITE_INDEX_CONSTRAINT_EQ) {
    bounds.clear();
  } else {
    narrow_by_integer(bounds, lower ? SQLITE_INDEX_CONSTRAINT_GT : SQLITE_INDEX_CONSTRAINT_LE, below);
  }
}

}  // namespace

void narrow(IntegerBounds& bounds, int op, sqlite3_value* value) {
  switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
      return narrow_by_integer(bounds, op, sqlite3_value_int64(value));
    case SQLITE_FLOAT:
      return narrow_by_real(bounds, op, sqlite3_value_double(value));
    case SQLITE_NULL:
      return bounds.clear();
    default:
      return narrow_by_later_type(bounds, op);
  }
}

void narrow(RealBounds& bounds, int op, sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_NULL) return bounds.clear();
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return narrow_by_later_type(bounds, op);
  // An integer may lie between two doubles: widen by one step.
  const double number = sqlite3_value_double(value);
  const bool lower = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
  const bool upper = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
  const double infinity = std::numeric_limits<double>::infinity();
  if (!upper) bounds.at_least(std::nextafter(number, -infinity));
  if (!lower) bounds.at_most(std::nextafter(number, infinity));
}

void narrow(UnsignedBounds& bounds, int op, sqlite3_value* value) {
  const bool lower = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
  const bool upper = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) return bounds.clear();
  if (type == SQLITE_TEXT && !lower && !upper) {
    // Equal texts can only be values from 2^63 on, or a number that SQLite converts.
    const std::string_view text(reinterpret_cast<const char*>(sqlite3_value_text(value)),
                                static_cast<std::size_t>(sqlite3_value_bytes(value)));
    std::uint64_t number = 0;
    if (read_number(text, number)) {
      bounds.at_least(number);
      bounds.at_most(number);
    }
    return;
  }
  if (type != SQLITE_INTEGER) return;
  const std::int64_t number = sqlite3_value_int64(value);
  if (number < 0) {
    if (!lower) bounds.clear();
    return;
  }
  if (!upper) bounds.at_least(static_cast<std::uint64_t>(number));
  if (!lower) bounds.at_most(static_cast<std::uint64_t>(number));
}

namespace {

Result<TextTest> text_test(int op, std::vector<std::string> operands) {
  if (operands.empty()) return TextTest([](std::string_view) { return false; });
  if (op == SQLITE_INDEX_CONSTRAINT_EQ && operands.size() > 1) {
    std::sort(operands.begin(), operands.end());
    return TextTest([operands = std::move(operands)](std::string_view text) {
      return std::binary_search(operands.begin(), operands.end(), text, std::less<>());
    });
  }
  std::string operand = std::move(operands.front());
  const auto compared = [&operand](auto compare) {
    return TextTest([compare, operand = std::move(operand)](std::string_view text) { return compare(text, operand); });
  };
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return compared(std::equal_to<std::string_view>());
    case SQLITE_INDEX_CONSTRAINT_NE:
      return compared(std::not_equal_to<std::string_view>());
    case SQLITE_INDEX_CONSTRAINT_LT:
      return compared(std::less<std::string_view>());
    case SQLITE_INDEX_CONSTRAINT_LE:
      return compared(std::less_equal<std::string_view>());
    case SQLITE_INDEX_CONSTRAINT_GT:
      return compared(std::greater<std::string_view>());
    case SQLITE_INDEX_CONSTRAINT_GE:
      return compared(std::greater_equal<std::string_view>());
    // SQLite's matchers end at a NUL byte, so does the copy's c_str().
    case SQLITE_INDEX_CONSTRAINT_LIKE:
      return compared([](std::string_view text, const std::string& pattern) {
        return sqlite3_strlike(pattern.c_str(), std::string(text).c_str(), 0) == 0;
      });
    case SQLITE_INDEX_CONSTRAINT_GLOB:
      return compared([](std::string_view text, const std::string& pattern) {
        return sqlite3_strglob(pattern.c_str(), std::string(text).c_str()) == 0;
      });
    default:
      break;
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  const auto expression = std::make_shared<const re2::RE2>(operand, options);
  if (!expression->ok()) return Error{fmt::format("regular expression \"{}\": {}", operand, expression->error())};
  return TextTest([expression](std::string_view text) {
    return re2::RE2::PartialMatch({text.data(), text.size()}, *expression);
  });
}

}  // namespace

Result<std::shared_ptr<const StringTest>> string_test(int op, std::vector<std::string> operands,
                                                      const StringPool& pool) {
  TextTest test = TRY(text_test(op, std::move(operands)));
  return std::shared_ptr<const StringTest>(std::make_shared<StringTest>(std::move(test), pool));
}

std::string_view track_kind(const Snapshot& snapshot, const LaneSnapshot& lane) {
  const TrackSnapshot* track = snapshot.find_track(lane.track);
  return track == nullptr ? std::string_view() : std::string_view(track->track->kind);
}

LaneValue lane_value(const Snapshot& snapshot, const LaneSnapshot& lane, const EventColumn& column, int schema_column) {
  using Source = ValuePlace::Source;
  const auto text = [](std::string_view of_lane) {
    return LaneValue{{.source = Source::constant, .type = ColumnType::string}, of_lane};
  };
  const auto number = [](std::uint64_t of_lane) {
    return LaneValue{{.source = Source::constant, .constant = of_lane}};
  };
  switch (column.field) {
    case EventField::id:
      return {{.source = Source::id}};
    case EventField::track_id:
      return number(lane.track);
    case EventField::lane:
      return number(lane.data->lane.depth);
    case EventField::ts_ns:
      return {{.source = Source::begin}};
    case EventField::dur_ns:
      return {{.source = Source::duration}};
    case EventField::end_ns:
      return {{.source = Source::end}};
    case EventField::name:
      return {{.source = Source::name, .type = ColumnType::string}};
    case EventField::schema:
      return text(lane.schema->name);
    case EventField::category:
    case EventField::column:
      break;
  }
  if (schema_column >= 0) {
    const auto place = static_cast<std::size_t>(schema_column);
    return {{.source = Source::column, .column = place, .type = lane.schema->columns[place].type}};
  }
  // Where the schema has no category, it is the kind of the track.
  return column.field == EventField::category ? text(track_kind(snapshot, lane)) : LaneValue{};
}

namespace {

bool is_constant_text(const LaneValue& value) {
  return value.place.source == ValuePlace::Source::constant && value.place.type == ColumnType::string;
}

bool holds_for(const LaneValue& value, const ValueTest& test) {
  if (!is_constant_text(value)) return holds(test, static_cast<std::int64_t>(value.place.constant));
  const auto* strings = std::get_if<std::shared_ptr<const StringTest>>(&test);
  return strings == nullptr || (*strings)->keeps(value.text);
}

}  // namespace

void add_condition(LanePredicate& predicate, const LaneValue& value, const ValueTest& test, bool negated) {
  if (!is_constant_text(value)) return predicate.add(value.place, test, negated);
  if (holds_for(value, test) == negated) predicate.add_nothing();
}

bool may_hold(const LaneSnapshot& lane, const LaneValue& value, const ValueTest& test) {
  if (value.place.source == ValuePlace::Source::none) return false;
  if (value.place.source == ValuePlace::Source::constant) return holds_for(value, test);
  const auto* ids = std::get_if<std::vector<IntegerBounds>>(&test);
  if (value.place.source != ValuePlace::Source::id || ids == nullptr) return true;
  const IntegerBounds of_lane{static_cast<std::int64_t>(make_event_id(lane.number(), 0)),
                              static_cast<std::int64_t>(make_event_id(lane.number() + 1, 0) - 1)};
  return std::any_of(ids->begin(), ids->end(), [&](const IntegerBounds& bounds) { return bounds.meets(of_lane); });
}

}  // namespace accelscope::sql
