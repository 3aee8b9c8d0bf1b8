#include "core/sql/tables/event_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "core/sql/tables/event_cursor.h"

namespace accelscope::sql {
namespace {

// What of a query SQLite leaves to the scan of an event table: the conditions, the order of the rows, and rows to be
// skipped. plan_events() chooses while the query is prepared; read_plan() turns the choice and the values of a run into
// a filter.

// idxNum: the order of the rows, then a bit for each of the first columns that are asked for.
constexpr unsigned kOrderBits = 2;
constexpr unsigned kColumnBits = 24;
// Above this, gathering by name would take more memory than SQLite's own sorting, which goes on in a file.
constexpr std::uint64_t kMaxGathered = 100'000'000;

bool is_order(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT ||
         op == SQLITE_INDEX_CONSTRAINT_GE;
}

bool is_pattern(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_LIKE || op == SQLITE_INDEX_CONSTRAINT_GLOB ||
         op == SQLITE_INDEX_CONSTRAINT_REGEXP;
}

// Columns whose values are few different strings: each is tested once.
bool is_dictionary(const EventColumn& column) {
  switch (column.field) {
    case EventField::name:
    case EventField::category:
    case EventField::schema:
      return true;
    case EventField::column:
      return column.type == ColumnType::string && !column.mixed;
    default:
      return false;
  }
}

// How a condition on a column is answered by the scan.
enum class Pushdown : std::uint8_t { no, exact, checked_again };

Pushdown pushdown(const EventColumn& column, int op) {
  if (column.mixed) return Pushdown::no;
  const bool comparison = op == SQLITE_INDEX_CONSTRAINT_EQ || is_order(op);
  if (is_dictionary(column)) {
    if (comparison || op == SQLITE_INDEX_CONSTRAINT_NE) return Pushdown::checked_again;
    // In a connection of others LIKE may have been told to tell upper from lower case.
    if (op == SQLITE_INDEX_CONSTRAINT_LIKE && !kOwnConnection) return Pushdown::checked_again;
    return is_pattern(op) ? Pushdown::exact : Pushdown::no;
  }
  if (!comparison) return Pushdown::no;
  if (column.expression) return Pushdown::checked_again;
  if (column.field != EventField::column) return Pushdown::exact;
  switch (column.type) {
    case ColumnType::int64:
    case ColumnType::boolean:
      return Pushdown::exact;
    case ColumnType::uint64:
    case ColumnType::float64:
      return Pushdown::checked_again;
    default:
      return Pushdown::no;
  }
}

// The share of rows that a condition leaves and the share that the scan still visits: rough, for SQLite's choice
// between the orders of a join.
struct Selectivity {
  double rows;
  double visited;
};
Selectivity selectivity(const EventColumn& column, int op, std::size_t lane_count) {
  const bool equal = op == SQLITE_INDEX_CONSTRAINT_EQ;
  if (op == SQLITE_INDEX_CONSTRAINT_NE) return {0.9, 1};
  switch (column.field) {
    case EventField::id:
      return equal ? Selectivity{0, 0} : Selectivity{0.3, 0.3};
    case EventField::track_id:
      return equal ? Selectivity{1.0 / static_cast<double>(lane_count + 1), 0} : Selectivity{0.5, 0.5};
    case EventField::ts_ns:
    case EventField::end_ns:
      return equal ? Selectivity{0.0001, 0.001} : Selectivity{0.3, 0.3};
    case EventField::name:
      return equal ? Selectivity{0.02, 0.5} : Selectivity{0.2, 1};
    default:
      return equal ? Selectivity{0.02, 1} : Selectivity{0.3, 1};
  }
}

// All columns that are asked for can be kept as numbers beside the name.
bool can_gather(const EventTableSpec& spec, sqlite3_uint64 used) {
  if (spec.event_count > kMaxGathered || (used >> kColumnBits) != 0) return false;
  for (std::size_t i = 0; i < spec.columns.size() && i < kColumnBits; ++i) {
    const EventField field = spec.columns[i].field;
    if (((used >> i) & 1U) != 0 && !is_number(field) && field != EventField::name) return false;
  }
  return true;
}

EventField ordered_field(const EventTableSpec& spec, const sqlite3_index_info& info, int term) {
  const int column = info.aOrderBy[term].iColumn;
  return column < 0 ? EventField::id : spec.columns[static_cast<std::size_t>(column)].field;
}

void choose_order(const EventTableSpec& spec, sqlite3_index_info& info) {
  info.idxNum = 0;
  if (info.nOrderBy < 1 || info.nOrderBy > 2) return;
  const EventField field = ordered_field(spec, info, 0);
  const int distinct = sqlite3_vtab_distinct(&info);
  RowOrder order = RowOrder::any;
  if (info.nOrderBy == 1 && field == EventField::name && (distinct == 1 || distinct == 2) &&
      can_gather(spec, info.colUsed)) {
    order = info.aOrderBy[0].desc != 0 ? RowOrder::name_descending : RowOrder::name;
  } else if (info.aOrderBy[0].desc != 0) {
    return;
  } else if (field == EventField::ts_ns) {
    // Events that begin together come by their ids.
    if (info.nOrderBy == 2 && (info.aOrderBy[1].desc != 0 || ordered_field(spec, info, 1) != EventField::id)) return;
    order = RowOrder::time;
  } else if (field != EventField::id) {
    return;
  }
  info.orderByConsumed = 1;
  info.idxNum = static_cast<int>(order);
  if (order == RowOrder::name || order == RowOrder::name_descending)
    info.idxNum |= static_cast<int>(info.colUsed << kOrderBits);
}

// The rowid is the event's id.
std::size_t table_column(const EventTableSpec& spec, int column) {
  if (column >= 0) return static_cast<std::size_t>(column);
  const auto id = std::find_if(spec.columns.begin(), spec.columns.end(),
                               [](const EventColumn& c) { return c.field == EventField::id; });
  return static_cast<std::size_t>(id - spec.columns.begin());
}

bool is_offset(int op) { return op == SQLITE_INDEX_CONSTRAINT_OFFSET; }
bool is_limit(int op) { return op == SQLITE_INDEX_CONSTRAINT_LIMIT; }

std::string text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

// The operands of a test of strings; nothing if the condition cannot be tested here and is left to SQLite.
std::optional<std::vector<std::string>> operands_of(int op, bool in, sqlite3_value* value) {
  std::vector<std::string> operands;
  if (!in) {
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_BLOB || (!is_pattern(op) && type != SQLITE_TEXT && type != SQLITE_NULL)) return std::nullopt;
    if (type != SQLITE_NULL) operands.push_back(text_of(value));
    return operands;
  }
  sqlite3_value* element = nullptr;
  for (int code = sqlite3_vtab_in_first(value, &element); code == SQLITE_OK;
       code = sqlite3_vtab_in_next(value, &element)) {
    const int type = sqlite3_value_type(element);
    if (type == SQLITE_NULL) continue;
    if (type != SQLITE_TEXT) return std::nullopt;
    operands.push_back(text_of(element));
  }
  return operands;
}

template <typename T>
ValueTest narrowed(int op, sqlite3_value* value) {
  Bounds<T> bounds;
  narrow(bounds, op, value);
  return within(bounds);
}

// Nothing for a condition that is left to SQLite.
Result<std::optional<ValueTest>> value_test(const EventColumn& column, const StringPool& strings, int op, bool in,
                                            sqlite3_value* value) {
  if (is_dictionary(column)) {
    auto operands = operands_of(op, in, value);
    if (!operands) return std::optional<ValueTest>();
    auto test = TRY(string_test(op, std::move(*operands), strings));
    return std::optional<ValueTest>(std::move(test));
  }
  // A sum is compared with text as it is, a column with the number that the text spells.
  if (column.expression && sqlite3_value_type(value) == SQLITE_TEXT) return std::optional<ValueTest>();
  if (column.field == EventField::column && column.type == ColumnType::uint64)
    return std::optional(narrowed<std::uint64_t>(op, value));
  if (column.field == EventField::column && column.type == ColumnType::float64)
    return std::optional(narrowed<double>(op, value));
  return std::optional(narrowed<std::int64_t>(op, value));
}

// The choice of plan_events() in the making: one "column:op:in" per argument.
struct Plan {
  std::string text;
  int arguments = 0;
  bool all_exact = true;  // no condition is left to SQLite
  double rows = 1;        // shares
  double visited = 1;
};

void plan_condition(const EventTableSpec& spec, sqlite3_index_info& info, Plan& plan, int index, int sql_column,
                    int op) {
  const std::size_t place = table_column(spec, sql_column);
  const EventColumn& column = spec.columns[place];
  const Pushdown kind = pushdown(column, op);
  plan.all_exact = plan.all_exact && kind == Pushdown::exact && sqlite3_vtab_in(&info, index, -1) == 0;
  if (kind == Pushdown::no) return;
  if (is_dictionary(column) && !is_pattern(op) && std::strcmp(sqlite3_vtab_collation(&info, index), "BINARY") != 0)
    return;
  const bool in = is_dictionary(column) && op == SQLITE_INDEX_CONSTRAINT_EQ && sqlite3_vtab_in(&info, index, 1) != 0;
  info.aConstraintUsage[index].argvIndex = ++plan.arguments;
  info.aConstraintUsage[index].omit = kind == Pushdown::exact ? 1 : 0;
  plan.text += fmt::format("{}:{}:{};", place, op, in ? 1 : 0);
  const Selectivity share = selectivity(column, op, spec.lanes.size());
  plan.rows *= share.rows;
  plan.visited *= std::max(share.visited, share.rows);
}

// Rows can only be skipped here if no row that comes out is thrown away afterwards.
void plan_offset(sqlite3_index_info& info, Plan& plan) {
  const bool ordered = info.nOrderBy == 0 || info.orderByConsumed != 0;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    if (!is_offset(constraint.op) || constraint.usable == 0 || !ordered || !plan.all_exact) continue;
    info.aConstraintUsage[i].argvIndex = ++plan.arguments;
    info.aConstraintUsage[i].omit = 1;
    plan.text += fmt::format("0:{}:0;", SQLITE_INDEX_CONSTRAINT_OFFSET);
  }
}

int plan_events(const EventTableSpec& spec, sqlite3_index_info& info) {
  const auto count = static_cast<double>(spec.event_count + 1);
  Plan plan;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    if (is_offset(constraint.op) || is_limit(constraint.op)) continue;
    if (constraint.usable == 0 || constraint.iColumn < -1) {
      plan.all_exact = false;
      continue;
    }
    plan_condition(spec, info, plan, i, constraint.iColumn, constraint.op);
  }
  choose_order(spec, info);
  plan_offset(info, plan);
  info.idxStr = sqlite3_mprintf("%s", plan.text.c_str());
  if (info.idxStr == nullptr) return SQLITE_NOMEM;
  info.needToFreeIdxStr = 1;
  info.estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, count * plan.rows));
  // A visited row costs little, a row that comes out much; a jump to an event reads and decodes a chunk.
  info.estimatedCost = 20 + count * plan.visited * 0.05 + count * plan.rows;
  return SQLITE_OK;
}

// Fails with the reason why a pattern cannot be used.
[[nodiscard]] Result<EventRequest> read_plan(const EventTableSpec& spec, const StringPool& strings, int plan_number,
                                             const char* plan, std::span<sqlite3_value*> values) {
  EventRequest request;
  const char* position = plan;
  for (sqlite3_value* value : values) {
    char* end = nullptr;
    const auto column = static_cast<std::size_t>(std::strtoul(position, &end, 10));
    const auto op = static_cast<int>(std::strtol(end + 1, &end, 10));
    const bool in = std::strtol(end + 1, &end, 10) != 0;
    position = end + 1;
    if (is_offset(op)) {
      request.offset = static_cast<std::uint64_t>(std::max<std::int64_t>(0, sqlite3_value_int64(value)));
    } else {
      auto test = TRY(value_test(spec.columns[column], strings, op, in, value));
      if (test) request.conditions.push_back({column, std::move(*test)});
    }
  }
  const auto bits = static_cast<unsigned>(plan_number);
  request.order = static_cast<RowOrder>(bits & ((1U << kOrderBits) - 1));
  for (std::size_t i = 0; i < spec.columns.size() && i < kColumnBits; ++i) {
    if (((bits >> (kOrderBits + i)) & 1U) != 0) request.used.push_back(spec.columns[i].field);
  }
  return request;
}

class EventRows final : public VirtualCursor {
 public:
  EventRows(Context& context, const EventTableSpec& spec) : context_(context), spec_(spec), events_(context, spec) {}
  int filter(int plan_number, const char* plan, std::span<sqlite3_value*> values) override {
    Result<EventRequest> request = read_plan(spec_, *context_.snapshot->strings, plan_number, plan, values);
    if (!request) return context_.fail(request.message());
    return events_.start(std::move(*request));
  }
  int next() override { return events_.next(); }
  [[nodiscard]] bool at_end() const override { return events_.at_end(); }
  void column(sqlite3_context* context, int column) override {
    events_.result(context, static_cast<std::size_t>(column));
  }
  int row_id(sqlite3_int64& id) override {
    std::int64_t event = 0;
    const int code = events_.row_id(event);
    id = event;
    return code;
  }

 private:
  Context& context_;
  const EventTableSpec& spec_;
  EventCursor events_;
};

class EventTable final : public VirtualTable {
 public:
  EventTable(Context& context, const EventTableSpec& spec) : context_(context), spec_(spec) {}
  [[nodiscard]] std::string declaration() const override {
    Declaration declaration;
    for (const EventColumn& column : spec_.columns) declaration.add(column.name, sql_type(column), column.hidden);
    return declaration.text();
  }
  int best_index(sqlite3_index_info& info) override { return plan_events(spec_, info); }
  [[nodiscard]] std::unique_ptr<VirtualCursor> open() override { return std::make_unique<EventRows>(context_, spec_); }
  [[nodiscard]] std::string failure() const override { return context_.failure; }

 private:
  Context& context_;
  const EventTableSpec& spec_;
};

}  // namespace

std::string_view sql_type(const EventColumn& column) {
  if (column.expression) return "BLOB";  // no affinity; HIDDEN alone would be read as a numeric type
  switch (column.field) {
    case EventField::name:
    case EventField::category:
    case EventField::schema:
      return "TEXT";
    case EventField::column:
      break;
    default:
      return "INTEGER";
  }
  if (column.mixed) return "";
  switch (column.type) {
    case ColumnType::int64:
      return "INTEGER";
    case ColumnType::uint64:
      return "";  // integers and, from 2^63 on, text: no conversion may come between
    case ColumnType::boolean:
      return "BOOLEAN";
    case ColumnType::float64:
      return "REAL";
    case ColumnType::string:
    case ColumnType::text:
      return "TEXT";
  }
  return "";
}

std::unique_ptr<VirtualTable> make_event_table(Context& context, const EventTableSpec& spec) {
  return std::make_unique<EventTable>(context, spec);
}

}  // namespace accelscope::sql
