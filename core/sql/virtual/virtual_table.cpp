#include "core/sql/virtual/virtual_table.h"

#include <fmt/format.h>

#include <new>

#include "core/sql/base/context.h"

namespace accelscope::sql {
namespace {

struct Table : sqlite3_vtab {
  explicit Table(std::unique_ptr<VirtualTable> made) : sqlite3_vtab{}, table(std::move(made)) {}
  std::unique_ptr<VirtualTable> table;
};

struct Cursor : sqlite3_vtab_cursor {
  explicit Cursor(std::unique_ptr<VirtualCursor> opened) : sqlite3_vtab_cursor{}, cursor(std::move(opened)) {}
  std::unique_ptr<VirtualCursor> cursor;
};

VirtualCursor& cursor_of(sqlite3_vtab_cursor* base) { return *static_cast<Cursor*>(base)->cursor; }

// Runs what gives a code. SQLite is C: nothing may be thrown through it.
template <typename Body>
int guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

// The same, with the table's own words for a failure.
template <typename Body>
int explained(sqlite3_vtab* base, Body body) {
  const int code = guarded(body);
  if (code == SQLITE_OK || code == SQLITE_INTERRUPT || code == SQLITE_NOMEM) return code;
  const std::string failure = static_cast<Table*>(base)->table->failure();
  if (!failure.empty()) {
    sqlite3_free(base->zErrMsg);
    base->zErrMsg = sqlite3_mprintf("%s", failure.c_str());
  }
  return code;
}

int connect(sqlite3* database, void* make, int count, const char* const* arguments, sqlite3_vtab** out,
            char** message) {
  return guarded([&]() -> int {
    // Before the arguments come the names of the module, the database and the table.
    const std::span all(arguments, static_cast<std::size_t>(count));
    auto made = (*static_cast<MakeTable*>(make))(all.subspan(3));
    if (!made) {
      *message = sqlite3_mprintf("%s", made.message().c_str());
      return SQLITE_ERROR;
    }
    const int code = sqlite3_declare_vtab(database, (*made)->declaration().c_str());
    if (code != SQLITE_OK) {
      *message = sqlite3_mprintf("%s", sqlite3_errmsg(database));
      return code;
    }
    *out = new Table(std::move(*made));
    return code;
  });
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab* base, sqlite3_index_info* info) {
  return explained(base, [&] { return static_cast<Table*>(base)->table->best_index(*info); });
}

int open_cursor(sqlite3_vtab* base, sqlite3_vtab_cursor** out) {
  return guarded([&] {
    *out = new Cursor(static_cast<Table*>(base)->table->open());
    return SQLITE_OK;
  });
}

int close_cursor(sqlite3_vtab_cursor* base) {
  delete static_cast<Cursor*>(base);
  return SQLITE_OK;
}

int filter_rows(sqlite3_vtab_cursor* base, int number, const char* plan, int count, sqlite3_value** values) {
  return explained(base->pVtab, [&] {
    return cursor_of(base).filter(number, plan, {values, static_cast<std::size_t>(count)});
  });
}

int next_row(sqlite3_vtab_cursor* base) {
  return explained(base->pVtab, [&] { return cursor_of(base).next(); });
}

int at_end(sqlite3_vtab_cursor* base) { return cursor_of(base).at_end() ? 1 : 0; }

int column_value(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  return guarded([&] {
    cursor_of(base).column(context, column);
    return SQLITE_OK;
  });
}

int row_id(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
  return explained(base->pVtab, [&] { return cursor_of(base).row_id(*id); });
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

int register_tables(sqlite3* database, const char* module, MakeTable make) {
  return sqlite3_create_module_v2(database, module, &kModule, new MakeTable(std::move(make)),
                                  [](void* retained) { delete static_cast<MakeTable*>(retained); });
}

void Declaration::add(std::string_view name, std::string_view type, bool hidden) {
  if (sql_.back() != '(') sql_ += ", ";
  sql_ += fmt::format("{} {}{}", quoted_name(name), type, hidden ? " HIDDEN" : "");
}

}  // namespace accelscope::sql
