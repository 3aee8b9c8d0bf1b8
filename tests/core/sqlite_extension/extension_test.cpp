// The SQLite extension as other programs load it, and the examples of the guide as their readers run them.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/chunk/session_writer.h"
#include "core/sql/base/sql.h"
#include "tests/support/process.h"
#include "tests/support/wait.h"

using namespace accelscope;

namespace {

constexpr int kEvents = 20'000;

std::unique_ptr<Store> small_store() {
  auto store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber work = writer.add_schema(
      {.name = "work",
       .columns = {{.name = "size", .type = ColumnType::int64}, {.name = "note", .type = ColumnType::text}}});
  const TrackNumber track = writer.add_track({.name = "engine 0", .kind = "engine", .schema = work});
  for (int i = 0; i < kEvents; ++i) {
    Row row = writer.begin_event(track, std::int64_t{i} * 10, i % 9, writer.intern(i % 4 == 0 ? "matmul" : "copy"));
    row.integer(0, std::int64_t{1} << 60 | i);
    row.text(1, "note " + std::to_string(i));
  }
  writer.set_meta("instance", "test");
  REQUIRE(writer.finish().ok());
  return store;
}

// A folder with run.accel in it, gone with the object.
struct Folder {
  std::filesystem::path path;
  explicit Folder(const std::string& name) : path(std::filesystem::temp_directory_path() / name) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
    REQUIRE(small_store()->save(session()).ok());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string session() const { return (path / "run.accel").string(); }
};

// A connection of another program with the extension loaded.
struct Connection {
  sqlite3* database = nullptr;
  explicit Connection(const std::string& file = ":memory:") {
    REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
    char* message = nullptr;
    const int code = sqlite3_load_extension(database, ACCELSCOPE_EXTENSION, nullptr, &message);
    const std::string text = message == nullptr ? "" : message;
    sqlite3_free(message);
    REQUIRE_MESSAGE(code == SQLITE_OK, text);
  }
  ~Connection() { CHECK(sqlite3_close(database) == SQLITE_OK); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Rows as lines of values between bars, or the message of the failure.
  [[nodiscard]] std::string ask(const std::string& sql) const {
    std::string rows;
    char* message = nullptr;
    sqlite3_exec(
        database, sql.c_str(),
        [](void* out, int count, char** values, char**) {
          auto& text = *static_cast<std::string*>(out);
          if (!text.empty()) text += '\n';
          for (int i = 0; i < count; ++i)
            text += std::string(i > 0 ? "|" : "") + (values[i] == nullptr ? "" : values[i]);
          return 0;
        },
        &rows, &message);
    if (message != nullptr) rows = std::string("failed: ") + message;
    sqlite3_free(message);
    return rows;
  }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string text_of(const listing::SqlResult& result) {
  std::string text;
  for (std::size_t row = 0; row < result.row_count(); ++row) {
    if (row > 0) text += '\n';
    for (std::size_t i = 0; i < result.columns.size(); ++i) {
      if (i > 0) text += '|';
      if (const auto* integer = std::get_if<std::int64_t>(&result.at(row, i))) text += std::to_string(*integer);
      if (const auto* string = std::get_if<std::string>(&result.at(row, i))) text += *string;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("SQLite extension: another program's connection has the same tables with the same rows") {
  const Folder folder("accelscope_extension_same");
  const Connection connection;
  CHECK(contains(connection.ask("SELECT accelscope_open('" + folder.session() + "')"), "20,000 events"));
  const auto store = Store::open(folder.session());
  REQUIRE(store.ok());
  WorkerPool pool(1);
  sql::Session sql(**store, (*store)->snapshot(), pool);
  TaskControl control;
  for (const sql::ListedTable& table : sql.tables()) {
    const std::string query = "SELECT * FROM \"" + table.name + "\" LIMIT 100 OFFSET 17000";
    CAPTURE(query);
    const auto expected = sql.run(query, {}, control);
    REQUIRE(expected.ok());
    CHECK(connection.ask(query) == text_of(*expected));
  }
  for (const char* query : {"SELECT name, count(*), sum(dur_ns), max(size) FROM work GROUP BY name ORDER BY 1",
                            "SELECT count(*) FROM slice WHERE name LIKE 'MAT%' AND ts_ns BETWEEN 500 AND 90000",
                            "SELECT id FROM slice WHERE name REGEXP '^m.t' AND dur_ns > 7 ORDER BY ts_ns LIMIT 7",
                            "SELECT count(*) FROM slice JOIN track ON track.id = track_id WHERE kind = 'engine' AND "
                            "category IN ('engine')"}) {
    CAPTURE(query);
    const auto expected = sql.run(query, {}, control);
    REQUIRE(expected.ok());
    CHECK(connection.ask(query) == text_of(*expected));
  }
  CHECK(connection.ask("PRAGMA case_sensitive_like = ON; SELECT count(*) FROM slice WHERE name LIKE 'MAT%'") == "0");
}

TEST_CASE("SQLite extension: two sessions side by side, a table of its own, and the connection's own file") {
  const Folder folder("accelscope_extension_two");
  const Connection connection(folder.session());
  const std::string open = "SELECT accelscope_open('" + folder.session() + "'";
  CHECK(contains(connection.ask("SELECT accelscope_attach()"), "tables"));
  CHECK(contains(connection.ask(open + ")"), "already exists; give the tables a prefix"));
  CHECK(contains(connection.ask(open + ", 'b_')"), "20,000 events"));
  CHECK(connection.ask("SELECT count(*) FROM slice JOIN b_slice USING (id) WHERE slice.dur_ns = b_slice.dur_ns") ==
        "20000");
  CHECK(connection.ask("CREATE VIRTUAL TABLE temp.mine USING accelscope('" + folder.session() + "', WORK)") == "");
  CHECK(connection.ask("SELECT note FROM mine WHERE size = (1 << 60) + 77") == "note 77");
  CHECK(contains(connection.ask("DELETE FROM slice"), "may not be modified"));
  CHECK(connection.ask("DROP TABLE mine; DROP TABLE b_slice; SELECT count(*) FROM slice") == "20000");
}

TEST_CASE("SQLite extension: what cannot be opened is refused with a reason") {
  const Folder folder("accelscope_extension_refused");
  const Connection connection;
  const auto open = [&](const std::filesystem::path& file) {
    return connection.ask("SELECT accelscope_open('" + file.string() + "')");
  };
  CHECK(contains(open(folder.path / "absent.accel"), "absent.accel: cannot be opened"));
  std::ofstream(folder.path / "text.accel") << "not a session, but long enough to be looked at";
  CHECK(contains(open(folder.path / "text.accel"), "it is not a session file"));
  std::filesystem::copy_file(folder.session(), folder.path / "newer.accel");
  {
    const Connection newer((folder.path / "newer.accel").string());
    CHECK(newer.ask("PRAGMA user_version = 99000") == "");
  }
  CHECK(contains(open(folder.path / "newer.accel"), "written by a newer version"));
  CHECK(contains(connection.ask("SELECT accelscope_attach()"), "has no file"));
  CHECK(contains(connection.ask("CREATE VIRTUAL TABLE temp.x USING accelscope('" + folder.session() + "', 'slyce')"),
                 "there is no table slyce; there are slice, counter, work"));
  CHECK(contains(connection.ask("CREATE VIRTUAL TABLE temp.x USING accelscope"), "two arguments are needed"));
  CHECK(contains(connection.ask("SELECT accelscope_open('" + folder.session() +
                                "'); SELECT count(*) FROM slice WHERE name REGEXP '('"),
                 "regular expression"));
}

#ifdef ACCELSCOPE_FOREIGN_PROGRAMS
namespace {

// The block of code of the guide's page that begins with the line.
std::string example(const std::string& first_line) {
  std::ifstream page(ACCELSCOPE_SQL_PAGE);
  std::string line;
  std::string code;
  while (std::getline(page, line)) {
    if (code.empty() && line != first_line) continue;
    if (line == "```") break;
    code += line + "\n";
  }
  return code;
}

// Runs what a reader copies, where run.accel lies and the extension is where the page has it.
std::string run_example(const Folder& folder, const std::string& program, const std::string& code) {
  REQUIRE_FALSE(code.empty());
  std::filesystem::create_directories(folder.path / "build/release/lib");
  std::filesystem::create_symlink(ACCELSCOPE_EXTENSION, folder.path / "build/release/lib/accelscope.so");
  std::ofstream(folder.path / "example") << code;
  auto process =
      test::Process::start({"/bin/sh", "-c", "cd '" + folder.path.string() + "' && exec " + program + " example"});
  REQUIRE(process.ok());
  CHECK(process->finish(test::kPatience) == 0);
  return process->output();
}

}  // namespace

TEST_CASE("SQLite extension: the guide's example for sqlite3 works") {
  const Folder folder("accelscope_extension_shell");
  const std::string output = run_example(folder, "sh", example("sqlite3 run.accel \\"));
  CHECK_MESSAGE(contains(output, "copy|15000|59991"), output);
  CHECK_MESSAGE(contains(output, "matmul|5000|"), output);
}

// Debian's own: other builds of Python often cannot load extensions.
TEST_CASE("SQLite extension: the guide's example for Python works") {
  const Folder folder("accelscope_extension_python");
  const std::string output = run_example(folder, "/usr/bin/python3", example("import sqlite3"));
  CHECK_MESSAGE(contains(output, "copy 15000 59991"), output);
}
#endif
