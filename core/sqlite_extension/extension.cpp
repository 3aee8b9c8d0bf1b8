// The entry point of the SQLite extension: session files as tables in sqlite3, Python and whatever else loads it.
//
//   SELECT accelscope_open('run.accel');          temporary tables slice, counter, track, ... in this connection
//   SELECT accelscope_open('b.accel', 'b_');      b_slice, b_counter, ...: two sessions side by side
//   SELECT accelscope_attach();                   those of the connection's own database file
//   CREATE VIRTUAL TABLE temp.s USING accelscope('run.accel', 'slice');
//
// All are read-only. `text REGEXP pattern` is RE2. Rows come as SQLite steps; what is interrupted ends at its next row.
#include <memory>

#include "core/sql/base/functions.h"
#include "core/sqlite_extension/session_tables.h"

extern "C" {
SQLITE_EXTENSION_INIT1
}

namespace accelscope::sql {
namespace {

constexpr int kNeededVersion = 3038000;  // for IN, DISTINCT and OFFSET inside a table

using SharedFiles = std::shared_ptr<SessionFiles>;

SessionFiles& files_of(sqlite3_context* context) { return **static_cast<SharedFiles*>(sqlite3_user_data(context)); }

std::string argument_text(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

void create_tables(sqlite3_context* context, const std::string& path, const std::string& prefix) {
  const auto made = files_of(context).create_all(sqlite3_context_db_handle(context), path, prefix);
  const std::string& text = made ? *made : made.message();
  if (made) {
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else {
    sqlite3_result_error(context, text.c_str(), static_cast<int>(text.size()));
  }
}

void open_file(sqlite3_context* context, int count, sqlite3_value** values) {
  create_tables(context, argument_text(values[0]), count > 1 ? argument_text(values[1]) : std::string());
}

void open_own_file(sqlite3_context* context, int count, sqlite3_value** values) {
  const char* path = sqlite3_db_filename(sqlite3_context_db_handle(context), "main");
  if (path == nullptr || *path == '\0') {
    return sqlite3_result_error(context,
                                "accelscope_attach: this connection has no file; use accelscope_open('run.accel')", -1);
  }
  create_tables(context, path, count > 0 ? argument_text(values[0]) : std::string());
}

// Registered with every function, so that the files go when the last of them does.
int add_function(sqlite3* database, const char* name, int arguments, const SharedFiles& files,
                 void (*function)(sqlite3_context*, int, sqlite3_value**)) {
  return sqlite3_create_function_v2(database, name, arguments, SQLITE_UTF8 | SQLITE_DIRECTONLY, new SharedFiles(files),
                                    function, nullptr, nullptr,
                                    [](void* retained) { delete static_cast<SharedFiles*>(retained); });
}

int add_everything(sqlite3* database) {
  const auto files = std::make_shared<SessionFiles>();
  int code = register_tables(database, "accelscope", [files](auto arguments) { return files->table(arguments); });
  const auto add = [&](const char* name, int arguments, void (*function)(sqlite3_context*, int, sqlite3_value**)) {
    if (code == SQLITE_OK) code = add_function(database, name, arguments, files, function);
  };
  add("accelscope_open", 1, open_file);
  add("accelscope_open", 2, open_file);
  add("accelscope_attach", 0, open_own_file);
  add("accelscope_attach", 1, open_own_file);
  return code == SQLITE_OK ? register_functions(database) : code;
}

}  // namespace
}  // namespace accelscope::sql

// Named after the file accelscope.so, which is how SQLite finds it.
extern "C" __attribute__((visibility("default"))) int sqlite3_accelscope_init(sqlite3* database, char** message,
                                                                              const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api);
  if (sqlite3_libversion_number() < accelscope::sql::kNeededVersion) {
    *message = sqlite3_mprintf("accelscope needs SQLite 3.38 or newer; this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  const int code = accelscope::sql::add_everything(database);
  // Its threads and caches outlive no connection, but its code stays: other connections may have loaded it too.
  return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
}
