// Conditions of a WHERE clause in the words of core/scan/predicate.h: ranges of numbers, tests of strings, and what a
// column of an event table is in one lane.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/scan/predicate.h"
#include "core/sql/tables/event_table.h"

namespace accelscope::sql {

// Narrow the bounds by `column <op> value`, op being SQLITE_INDEX_CONSTRAINT_EQ, GT, LE, LT or GE. The integer form
// is exact for every value; the real form may keep a row too many, which SQLite sorts out.
void narrow(IntegerBounds& bounds, int op, sqlite3_value* value);
void narrow(RealBounds& bounds, int op, sqlite3_value* value);
// For columns of unsigned 64-bit values, where SQLite sees text from 2^63 on; keeps rows too many where unsure.
void narrow(UnsignedBounds& bounds, int op, sqlite3_value* value);

// EQ with one value or several (IN); NE, LT, LE, GT, GE by the bytes; LIKE, GLOB, REGEXP. Without an operand (NULL)
// no string passes. Fails for a bad regular expression.
[[nodiscard]] Result<std::shared_ptr<const StringTest>> string_test(int op, std::vector<std::string> operands,
                                                                    const StringPool& pool);

// A condition on a column of an event table.
struct EventCondition {
  std::size_t column = 0;
  ValueTest test;
};

// What a column of an event table is in a lane.
struct LaneValue {
  ValuePlace place;
  std::string_view text = {};  // of a constant that is a string
};
// schema_column: the lane's schema column for it, -1 where it has none.
[[nodiscard]] LaneValue lane_value(const Snapshot& snapshot, const LaneSnapshot& lane, const EventColumn& column,
                                   int schema_column);
void add_condition(LanePredicate& predicate, const LaneValue& value, const ValueTest& test, bool negated = false);
// Cheaper than a predicate: false if the lane as such shows that no event of it meets the condition.
[[nodiscard]] bool may_hold(const LaneSnapshot& lane, const LaneValue& value, const ValueTest& test);

[[nodiscard]] std::string_view track_kind(const Snapshot& snapshot, const LaneSnapshot& lane);

}  // namespace accelscope::sql
