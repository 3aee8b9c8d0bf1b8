// Understands a simple SELECT:
//
//   SELECT [DISTINCT] items FROM events [alias] [JOIN track [alias] ON events.track_id = track.id]
//   [WHERE column <op> constant AND ...] [GROUP BY columns] [HAVING ...] [ORDER BY ...] [LIMIT ...]
//
// The statement must be one that SQLite accepts: errors are SQLite's to report. Whatever is not understood in full
// is left to SQLite too.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "core/sql/planned/query.h"

namespace accelscope::sql {

// A constant as SQLite sees it.
class Constant {
 public:
  explicit Constant(sqlite3_value* copied);  // may be null: no value
  [[nodiscard]] int type() const noexcept { return value_ ? sqlite3_value_type(value_.get()) : SQLITE_NULL; }
  [[nodiscard]] sqlite3_value* value() const noexcept { return value_.get(); }
  [[nodiscard]] std::string text() const;

 private:
  std::shared_ptr<sqlite3_value> value_;
};

struct PlannedTables {
  const std::vector<EventTableSpec>& events;
  const RowTableSpec& track;
  const StringPool& strings;
  std::function<Constant(std::string_view expression)> evaluate;  // of an expression without names
};

[[nodiscard]] std::optional<PlannedQuery> read_planned_query(std::string_view sql, const PlannedTables& tables);

}  // namespace accelscope::sql
