// What a simple SELECT over the events of one table asks for, once it has been understood: which columns it reads,
// which rows it wants and what becomes of them. sql_planned_reader makes it of a text, sql_planned_groups and
// sql_planned_rows answer it by loops over chunks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/scan/aggregate.h"
#include "core/sql/tables/event_table.h"
#include "core/sql/tables/predicate.h"
#include "core/sql/virtual/row_table.h"

namespace accelscope::sql {

struct Input {
  ValueKind kind = ValueKind::integer;
  EventField field = EventField::column;
  std::size_t column = 0;  // of the event table, or of the table track
  bool of_track = false;
  std::string type;  // as the table declares it

  [[nodiscard]] bool same_column(const Input& other) const noexcept {
    return of_track == other.of_track && column == other.column;
  }
};

struct InputCondition {
  std::size_t input = 0;
  bool negated = false;
  ValueTest test;
};

struct AggregateCall {
  AggregateKind kind = AggregateKind::rows;
  std::size_t input = 0;  // of no meaning for rows
  bool operator==(const AggregateCall&) const = default;
};

struct OrderTerm {
  std::size_t input = 0;
  bool descending = false;
};

struct PlannedQuery {
  static constexpr std::size_t kMaxOrderTerms = 3;
  enum class Shape : std::uint8_t {
    groups,  // keys and aggregates, one row per group
    rows,    // the inputs of `outputs` of every row, by id, from `offset` on, at most `limit`
    top,     // the first offset + limit rows by `order`, then by id; then `sql`
  };
  Shape shape = Shape::groups;
  const EventTableSpec* table = nullptr;
  bool joins_tracks = false;
  std::vector<Input> inputs;
  std::vector<InputCondition> conditions;  // all must hold
  bool grouped = false;                    // else one row, even of no events
  std::vector<std::size_t> keys;           // inputs
  std::vector<AggregateCall> aggregates;
  std::vector<std::size_t> outputs;
  std::vector<OrderTerm> order;
  std::uint64_t offset = 0;
  std::uint64_t limit = ~std::uint64_t{0};
  // What is left to do, over a table kMadeTable whose columns are made_input(i) for a key (or for every input of
  // Shape::top) and made_aggregate(i).
  std::string sql;
};

inline constexpr std::string_view kMadeTable = "accelscope_made";
inline constexpr std::string_view kMadePrefix = "made_";  // of its columns
[[nodiscard]] inline std::string made_input(std::size_t i) { return "made_k" + std::to_string(i); }
[[nodiscard]] inline std::string made_aggregate(std::size_t i) { return "made_a" + std::to_string(i); }

}  // namespace accelscope::sql
