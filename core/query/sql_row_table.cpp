#include "core/query/sql_row_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace accelscope::sql {
namespace {

using KeyIndex = std::vector<std::pair<std::int64_t, std::uint32_t>>;  // key and row, sorted

struct Module {
  Context& context;
  const std::vector<RowTableSpec>& specs;
};

struct Table : sqlite3_vtab {
  Context* context = nullptr;
  const RowTableSpec* spec = nullptr;
  std::shared_ptr<const Rows> rows;
  std::map<std::size_t, KeyIndex> indexes;

  // Makes the rows if there are none yet.
  int load() {
    if (rows != nullptr && !spec->changes) return SQLITE_OK;
    auto made = spec->make(*context);
    if (!made) return context->fail(made.message());
    rows = std::move(*made);
    indexes.clear();
    return SQLITE_OK;
  }
  const KeyIndex& index(std::size_t column) {
    const auto [place, added] = indexes.try_emplace(column);
    if (added) {
      place->second.reserve(rows->size());
      for (std::size_t row = 0; row < rows->size(); ++row) {
        place->second.emplace_back(rows->key(row, column), static_cast<std::uint32_t>(row));
      }
      std::sort(place->second.begin(), place->second.end());
    }
    return place->second;
  }
};

struct Cursor : sqlite3_vtab_cursor {
  std::shared_ptr<const Rows> rows;
  // Either all rows, or those of an index entry range.
  const KeyIndex* index = nullptr;
  std::size_t position = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t row() const { return index == nullptr ? position : (*index)[position].second; }
};

int connect(sqlite3* database, void* module_pointer, int count, const char* const* arguments, sqlite3_vtab** out,
            char** message) {
  const auto& module = *static_cast<Module*>(module_pointer);
  const std::size_t number = count > 3 ? std::strtoul(arguments[3], nullptr, 10) : module.specs.size();
  if (number >= module.specs.size()) {
    *message = sqlite3_mprintf("no such row table");
    return SQLITE_ERROR;
  }
  const RowTableSpec& spec = module.specs[number];
  std::string sql = "CREATE TABLE x(";
  for (const RowColumn& column : spec.columns) {
    if (sql.back() != '(') sql += ", ";
    sql += fmt::format("{} {}", quoted_name(column.name), column.type);
  }
  const int code = sqlite3_declare_vtab(database, (sql + ")").c_str());
  if (code != SQLITE_OK) return code;
  auto* table = new Table();
  table->context = &module.context;
  table->spec = &spec;
  *out = table;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

// idxNum: the key column plus one whose value is given, or 0.
int best_index(sqlite3_vtab* base, sqlite3_index_info* info) {
  const RowTableSpec& spec = *static_cast<Table*>(base)->spec;
  const auto rows = static_cast<double>(spec.row_estimate + 1);
  info->idxNum = 0;
  info->estimatedCost = rows + 10;
  info->estimatedRows = static_cast<sqlite3_int64>(rows);
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (!constraint.usable || constraint.iColumn < 0 || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (!spec.columns[static_cast<std::size_t>(constraint.iColumn)].key) continue;
    info->aConstraintUsage[i].argvIndex = 1;
    info->idxNum = constraint.iColumn + 1;
    info->estimatedCost = 10;
    info->estimatedRows = 2;
    break;
  }
  return SQLITE_OK;
}

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  auto* cursor = new Cursor();
  *out = cursor;
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int filter_rows(sqlite3_vtab_cursor* base, int index_number, const char*, int, sqlite3_value** values) {
  auto& cursor = *static_cast<Cursor*>(base);
  auto& table = *static_cast<Table*>(cursor.pVtab);
  if (const int code = table.load(); code != SQLITE_OK) return code;
  cursor.rows = table.rows;
  cursor.index = nullptr;
  cursor.position = 0;
  cursor.end = cursor.rows->size();
  if (index_number == 0) return SQLITE_OK;
  cursor.index = &table.index(static_cast<std::size_t>(index_number - 1));
  if (sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER) {
    const std::int64_t key = sqlite3_value_int64(values[0]);
    const auto first = std::lower_bound(cursor.index->begin(), cursor.index->end(), std::pair(key, std::uint32_t{0}));
    const auto last = std::upper_bound(first, cursor.index->end(), std::pair(key, ~std::uint32_t{0}));
    cursor.position = static_cast<std::size_t>(first - cursor.index->begin());
    cursor.end = static_cast<std::size_t>(last - cursor.index->begin());
  } else if (sqlite3_value_type(values[0]) == SQLITE_FLOAT) {
    cursor.index = nullptr;  // rare: SQLite compares each row
  } else {
    cursor.end = 0;
  }
  return SQLITE_OK;
}

int next_row(sqlite3_vtab_cursor* base) {
  auto& cursor = *static_cast<Cursor*>(base);
  ++cursor.position;
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* base) {
  const auto& cursor = *static_cast<Cursor*>(base);
  return cursor.position >= cursor.end ? 1 : 0;
}

int column_value(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const auto& cursor = *static_cast<Cursor*>(base);
  cursor.rows->result(context, cursor.row(), static_cast<std::size_t>(column));
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
  *id = static_cast<sqlite3_int64>(static_cast<Cursor*>(base)->row());
  return SQLITE_OK;
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

void ValueRows::result(sqlite3_context* context, std::size_t row, std::size_t column) const {
  const SqlValue& value = cells_[row * columns_ + column];
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return sqlite3_result_int64(context, *integer);
  if (const auto* real = std::get_if<double>(&value)) return sqlite3_result_double(context, *real);
  if (const auto* text = std::get_if<std::string>(&value)) return result_text(context, *text);
  sqlite3_result_null(context);
}

std::int64_t ValueRows::key(std::size_t row, std::size_t column) const {
  const auto* integer = std::get_if<std::int64_t>(&cells_[row * columns_ + column]);
  return integer == nullptr ? 0 : *integer;
}

int register_row_tables(sqlite3* database, Context& context, const std::vector<RowTableSpec>& specs) {
  return sqlite3_create_module_v2(database, "accelscope_rows", &kModule, new Module{context, specs},
                                  [](void* module) { delete static_cast<Module*>(module); });
}

}  // namespace accelscope::sql
