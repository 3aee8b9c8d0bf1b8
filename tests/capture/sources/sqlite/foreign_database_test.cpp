#include "capture/sources/sqlite/foreign_database.h"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "capture/sources/sqlite/id_rows.h"
#include "capture/sources/sqlite/rows_ahead.h"
#include "tests/support/files.h"

namespace accelscope::capture::sources::sqlite {
namespace {

std::string made_database(const test::TemporaryFolder& folder, const char* sql) {
  const std::string path = folder.file("foreign.db");
  const auto database = std::move(Database::open(path, OpenMode::create)).value();
  REQUIRE(database->execute(sql).ok());
  return path;
}

TEST_CASE("a foreign database: columns by name, what is absent reads as nothing") {
  const test::TemporaryFolder folder;
  const std::string path = made_database(folder, R"(
    CREATE TABLE "odd "" name"(id INTEGER, "end" INTEGER, text TEXT, ratio REAL);
    INSERT INTO "odd "" name" VALUES(9223372036854775807, NULL, 'one', 0.5), (-1, 7, '12', 2);
  )");
  const Result<ForeignDatabase> file = ForeignDatabase::open(path);
  REQUIRE(file.ok());
  CHECK(file->has_table("odd \" name"));
  CHECK(file->columns("odd \" name") == std::vector<std::string>{"id", "end", "text", "ratio"});
  Result<ForeignRows> rows =
      file->rows("odd \" name", {"ratio", "newer", "end", "text", "id"}, " ORDER BY \"id\" DESC");
  REQUIRE(rows.ok());
  REQUIRE(rows->next());
  CHECK(rows->real(0) == 0.5);
  CHECK(!rows->has_column(1));
  CHECK(!rows->has(1));
  CHECK(rows->text(1).empty());
  CHECK(!rows->number(2));
  CHECK(rows->text(3) == "one");
  CHECK(rows->integer(4) == INT64_MAX);
  REQUIRE(rows->next());
  CHECK(rows->number(2) == 7);
  CHECK(!rows->number(3));  // a text that looks like a number
  CHECK(rows->integer(3) == 12);
  CHECK(!rows->next());
  CHECK(rows->status().ok());
  CHECK(file->row_count("odd \" name").value() == 2);
  CHECK(file->row_count("absent").value() == 0);
  Result<ForeignRows> none = file->rows("absent", {"id"});
  REQUIRE(none.ok());
  CHECK(!none->next());
  CHECK(none->status().ok());
}

TEST_CASE("a foreign database that ends too early gives all rows of its pages, and says so") {
  const test::TemporaryFolder folder;
  const std::string path = made_database(folder, R"(
    CREATE TABLE event(id INTEGER PRIMARY KEY, filling TEXT);
    WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO event SELECT i, printf('%0200d', i) FROM n;
  )");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Result<ForeignDatabase> file = ForeignDatabase::open(path);
  REQUIRE(file.ok());
  CHECK(file->is_cut());
  Result<ForeignRows> rows = file->rows("event", {"id"});
  REQUIRE(rows.ok());
  std::int64_t count = 0;
  while (rows->next()) CHECK(rows->integer(0) == ++count);
  CHECK(count > 2000);
  CHECK(count < 3000);
  CHECK(rows->status().ok());
}

TEST_CASE("a foreign database that ends too early is read though pages that list its tables are missing") {
  const test::TemporaryFolder folder;
  std::string sql = "PRAGMA page_size=512;";
  for (int table = 0; table < 60; ++table) {
    const std::string name = "table_" + std::to_string(table);
    sql += "CREATE TABLE " + name + "(id INTEGER, filling TEXT); INSERT INTO " + name + " VALUES(" +
           std::to_string(table) + ", printf('%0400d', 1)), (7, printf('%0400d', 2));";
  }
  const std::string path = made_database(folder, sql.c_str());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Result<ForeignDatabase> file = ForeignDatabase::open(path);
  REQUIRE(file.ok());
  CHECK(file->is_cut());
  CHECK(file->tables().size() > 10);
  CHECK(file->tables().size() < 60);
  Result<ForeignRows> rows = file->rows("table_3", {"id"});
  REQUIRE(rows.ok());
  REQUIRE(rows->next());
  CHECK(rows->integer(0) == 3);
}

TEST_CASE("rows read ahead are those of the table, in its order, with their types, however early one stops") {
  const test::TemporaryFolder folder;
  const std::string path = made_database(folder, R"(
    CREATE TABLE event(id INTEGER, value, note TEXT);
    WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO event SELECT i, CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN i * 0.5 WHEN 2 THEN X'0001FF' ELSE -i END,
                             'note ' || i FROM n;
  )");
  const Result<ForeignDatabase> file = ForeignDatabase::open(path);
  REQUIRE(file.ok());
  constexpr std::array<std::string_view, 4> kColumns = {"id", "value", "absent", "note"};
  {
    RowsAhead rows(file.value(), "event", kColumns);
    std::int64_t count = 0;
    while (const BatchedRow* row = rows.next()) {
      const std::int64_t id = ++count;
      REQUIRE(row->number(0) == id);
      REQUIRE(row->text(3) == "note " + std::to_string(id));
      REQUIRE_FALSE(row->has(2));
      REQUIRE_FALSE(row->has_column(2));
      REQUIRE(row->has(1) == (id % 4 != 0));
      if (id % 4 == 1) REQUIRE(row->real(1) == static_cast<double>(id) * 0.5);
      if (id % 4 == 2) REQUIRE(row->blob(1).size() == 3);
      if (id % 4 == 3) REQUIRE(row->integer(1) == -id);
    }
    CHECK(count == 10000);
    CHECK(rows.status().ok());
  }
  RowsAhead early(file.value(), "event", kColumns);
  REQUIRE(early.next() != nullptr);
}

TEST_CASE("what is no database is refused by name") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("text.db");
  std::ofstream(path) << "no database at all, only words\n";
  const Result<ForeignDatabase> file = ForeignDatabase::open(path);
  REQUIRE(!file.ok());
  CHECK(file.message().find("text.db") != std::string::npos);
}

TEST_CASE("rows of an id are found however far it lies from the last one") {
  const test::TemporaryFolder folder;
  const std::string path = made_database(folder, R"(
    CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO names VALUES(-5, 'first'), (9223372036854775807, 'last');
  )");
  const Result<ForeignDatabase> file = ForeignDatabase::open(path);
  REQUIRE(file.ok());
  KeyedRows names(*file, "names", "id", {"name"});
  REQUIRE(names.find(-5));
  CHECK(names.rows().text(0) == "first");
  REQUIRE(names.find(INT64_MAX));
  CHECK(names.rows().text(0) == "last");
}

}  // namespace
}  // namespace accelscope::capture::sources::sqlite
