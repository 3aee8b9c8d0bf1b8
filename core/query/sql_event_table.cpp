#include "core/query/sql_event_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/query/sql_event_cursor.h"

namespace accelscope::sql {
namespace {

struct Module {
  Context& context;
  const std::vector<EventTableSpec>& specs;
};

struct Table : sqlite3_vtab {
  Context* context;
  const EventTableSpec* spec;
};

struct Cursor : sqlite3_vtab_cursor {
  Cursor(Context& context, const EventTableSpec& spec) : sqlite3_vtab_cursor{}, events(context, spec) {}
  EventCursor events;
};

// idxNum: the order of the rows, then a bit for each of the first columns that are asked for.
constexpr unsigned kOrderBits = 2;
constexpr unsigned kColumnBits = 24;
// Above this, gathering by name would take more memory than SQLite's own sorting, which goes on in a file.
constexpr std::uint64_t kMaxGathered = 100'000'000;

std::string declaration(const EventTableSpec& spec) {
  std::string sql = "CREATE TABLE x(";
  for (const EventColumn& column : spec.columns) {
    if (sql.back() != '(') sql += ", ";
    sql += fmt::format("{} {}{}", quoted_name(column.name), sql_type(column), column.hidden ? " HIDDEN" : "");
  }
  return sql + ")";
}

int connect(sqlite3* database, void* module_pointer, int count, const char* const* arguments, sqlite3_vtab** out,
            char** message) {
  const auto& module = *static_cast<Module*>(module_pointer);
  const std::size_t index = count > 3 ? std::strtoul(arguments[3], nullptr, 10) : module.specs.size();
  if (index >= module.specs.size()) {
    *message = sqlite3_mprintf("no such event table");
    return SQLITE_ERROR;
  }
  const int code = sqlite3_declare_vtab(database, declaration(module.specs[index]).c_str());
  if (code != SQLITE_OK) return code;
  auto* table = new Table();
  table->context = &module.context;
  table->spec = &module.specs[index];
  *out = table;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

bool is_comparison(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_LE ||
         op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_GE;
}

bool is_pattern(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_LIKE || op == SQLITE_INDEX_CONSTRAINT_GLOB ||
         op == SQLITE_INDEX_CONSTRAINT_REGEXP;
}

bool is_dictionary(const EventColumn& column) {
  return column.field == EventField::name || (column.field == EventField::column && column.type == ColumnType::string);
}

// How a condition on a column is answered by the scan.
enum class Pushdown : std::uint8_t { no, exact, checked_again };

Pushdown pushdown(const EventColumn& column, int op) {
  if (column.mixed) return Pushdown::no;
  if (is_dictionary(column)) {
    if (op == SQLITE_INDEX_CONSTRAINT_EQ) return Pushdown::checked_again;
    return is_pattern(op) ? Pushdown::exact : Pushdown::no;
  }
  if (!is_comparison(op)) return Pushdown::no;
  switch (column.field) {
    case EventField::category:
    case EventField::schema:
      return Pushdown::no;
    case EventField::column:
      break;
    default:
      return column.expression ? Pushdown::checked_again : Pushdown::exact;
  }
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

void choose_order(const EventTableSpec& spec, sqlite3_index_info* info) {
  info->idxNum = 0;
  if (info->nOrderBy != 1 || info->aOrderBy[0].iColumn < 0) return;
  const EventField field = spec.columns[static_cast<std::size_t>(info->aOrderBy[0].iColumn)].field;
  const int distinct = sqlite3_vtab_distinct(info);
  RowOrder order = RowOrder::any;
  if (field == EventField::name && (distinct == 1 || distinct == 2) && can_gather(spec, info->colUsed)) {
    order = info->aOrderBy[0].desc != 0 ? RowOrder::name_descending : RowOrder::name;
  } else if (info->aOrderBy[0].desc != 0) {
    return;
  } else if (field == EventField::ts_ns) {
    order = RowOrder::time;
  } else if (field != EventField::id) {
    return;
  }
  info->orderByConsumed = 1;
  info->idxNum = static_cast<int>(order);
  if (order == RowOrder::name || order == RowOrder::name_descending)
    info->idxNum |= static_cast<int>(info->colUsed << kOrderBits);
}

// Says which conditions the scan answers: one "column:op:in" per argument in idxStr.
int best_index(sqlite3_vtab* base, sqlite3_index_info* info) {
  const EventTableSpec& spec = *static_cast<Table*>(base)->spec;
  const auto count = static_cast<double>(spec.event_count + 1);
  double rows = count;
  double visited = count;
  int argument = 0;
  std::string plan;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (!constraint.usable || constraint.iColumn < -1) continue;
    // The rowid is the event's id.
    std::size_t index = static_cast<std::size_t>(constraint.iColumn);
    if (constraint.iColumn == -1) {
      index = static_cast<std::size_t>(std::find_if(spec.columns.begin(), spec.columns.end(),
                                                    [](const EventColumn& c) { return c.field == EventField::id; }) -
                                       spec.columns.begin());
    }
    const EventColumn& column = spec.columns[index];
    const Pushdown kind = pushdown(column, constraint.op);
    if (kind == Pushdown::no) continue;
    if (is_dictionary(column) && constraint.op == SQLITE_INDEX_CONSTRAINT_EQ &&
        std::strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0) {
      continue;
    }
    const bool in =
        is_dictionary(column) && constraint.op == SQLITE_INDEX_CONSTRAINT_EQ && sqlite3_vtab_in(info, i, 1) != 0;
    info->aConstraintUsage[i].argvIndex = ++argument;
    info->aConstraintUsage[i].omit = kind == Pushdown::exact;
    plan += fmt::format("{}:{}:{};", index, static_cast<int>(constraint.op), in ? 1 : 0);
    const Selectivity share = selectivity(column, constraint.op, spec.lanes.size());
    rows *= share.rows;
    visited *= std::max(share.visited, share.rows);
  }
  choose_order(spec, info);
  info->idxStr = sqlite3_mprintf("%s", plan.c_str());
  if (info->idxStr == nullptr) return SQLITE_NOMEM;
  info->needToFreeIdxStr = 1;
  info->estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, rows));
  // A visited row costs little, a row that comes out much; a jump to an event reads and decodes a chunk.
  info->estimatedCost = 20 + visited * 0.05 + rows;
  return SQLITE_OK;
}

std::string text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

// Null if the condition cannot be tested here and is left to SQLite.
std::unique_ptr<StringTest> string_test(int op, bool in, sqlite3_value* value) {
  std::vector<std::string> operands;
  if (!in) {
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_BLOB || (op == SQLITE_INDEX_CONSTRAINT_EQ && type != SQLITE_TEXT && type != SQLITE_NULL))
      return nullptr;
    if (type != SQLITE_NULL) operands.push_back(text_of(value));
    return std::make_unique<StringTest>(op, std::move(operands));
  }
  sqlite3_value* element = nullptr;
  for (int code = sqlite3_vtab_in_first(value, &element); code == SQLITE_OK;
       code = sqlite3_vtab_in_next(value, &element)) {
    const int type = sqlite3_value_type(element);
    if (type == SQLITE_NULL) continue;
    if (type != SQLITE_TEXT) return nullptr;
    operands.push_back(text_of(element));
  }
  return std::make_unique<StringTest>(op, std::move(operands));
}

IntegerBounds* bounds_of(EventFilter& filter, EventField field) {
  switch (field) {
    case EventField::id:
      return &filter.id;
    case EventField::track_id:
      return &filter.track;
    case EventField::lane:
      return &filter.lane_depth;
    case EventField::ts_ns:
      return &filter.ts_ns;
    case EventField::dur_ns:
      return &filter.dur_ns;
    case EventField::end_ns:
      return &filter.end_ns;
    default:
      return nullptr;
  }
}

void add_condition(EventFilter& filter, const EventColumn& column, std::size_t index, int op, bool in,
                   sqlite3_value* value) {
  if (IntegerBounds* bounds = bounds_of(filter, column.field)) {
    // A sum is compared with text as it is, a column with the number that the text spells.
    if (column.expression && sqlite3_value_type(value) == SQLITE_TEXT) return;
    narrow(*bounds, op, value);
    filter.nothing = filter.nothing || bounds->empty();
    return;
  }
  std::unique_ptr<StringTest> strings;
  if (is_dictionary(column)) {
    strings = string_test(op, in, value);
    if (!strings) return;
    if (column.field == EventField::name) {
      filter.names.push_back(std::move(strings));
      return;
    }
  }
  FieldTest test;
  test.table_column = index;
  test.strings = std::move(strings);
  if (!test.strings) {
    narrow(test.integers, op, value);
    narrow(test.unsigneds, op, value);
    narrow(test.reals, op, value);
  }
  filter.fields.push_back(std::move(test));
}

int filter_rows(sqlite3_vtab_cursor* base, int index_number, const char* plan, int count, sqlite3_value** values) {
  auto& cursor = *static_cast<Cursor*>(base);
  const Table& table = *static_cast<Table*>(cursor.pVtab);
  EventFilter filter;
  const char* position = plan;
  for (int i = 0; i < count; ++i) {
    char* end = nullptr;
    const auto index = static_cast<std::size_t>(std::strtoul(position, &end, 10));
    const auto op = static_cast<int>(std::strtol(end + 1, &end, 10));
    const bool in = std::strtol(end + 1, &end, 10) != 0;
    position = end + 1;
    add_condition(filter, table.spec->columns[index], index, op, in, values[i]);
  }
  for (const auto& test : filter.names) {
    if (!test->failure().empty()) return table.context->fail(test->failure());
  }
  const auto plan_bits = static_cast<unsigned>(index_number);
  std::vector<EventField> used;
  for (std::size_t i = 0; i < table.spec->columns.size() && i < kColumnBits; ++i) {
    if (((plan_bits >> (kOrderBits + i)) & 1U) != 0) used.push_back(table.spec->columns[i].field);
  }
  return cursor.events.start(std::move(filter), static_cast<RowOrder>(plan_bits & ((1U << kOrderBits) - 1)), used);
}

int open_cursor(sqlite3_vtab* base, sqlite3_vtab_cursor** out) {
  const Table& table = *static_cast<Table*>(base);
  *out = new Cursor(*table.context, *table.spec);
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int next_row(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->events.next(); }
int at_end(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->events.at_end() ? 1 : 0; }

int column_value(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  static_cast<Cursor*>(cursor)->events.result(context, static_cast<std::size_t>(column));
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  std::int64_t event = 0;
  const int code = static_cast<Cursor*>(cursor)->events.row_id(event);
  *id = event;
  return code;
}

const sqlite3_module kModule = [] {
  sqlite3_module module{};
  module.iVersion = 2;
  module.xCreate = connect;
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xDestroy = disconnect;
  module.xOpen = open_cursor;
  module.xClose = close_cursor;
  module.xFilter = filter_rows;
  module.xNext = next_row;
  module.xEof = at_end;
  module.xColumn = column_value;
  module.xRowid = row_id;
  return module;
}();

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

int register_event_tables(sqlite3* database, Context& context, const std::vector<EventTableSpec>& specs) {
  return sqlite3_create_module_v2(database, "accelscope_events", &kModule, new Module{context, specs},
                                  [](void* module) { delete static_cast<Module*>(module); });
}

}  // namespace accelscope::sql
