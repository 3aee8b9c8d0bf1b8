#include "capture/sources/sqlite/foreign_database.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

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

TEST_CASE("a foreign database whose pages are damaged gives the rows before them, and says so") {
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
  CHECK(count > 100);
  CHECK(count < 5000);
  CHECK(!rows->status().ok());
}

TEST_CASE("what is no database is refused by name") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("text.db");
  std::ofstream(path) << "no database at all, only words\n";
  const Result<ForeignDatabase> file = ForeignDatabase::open(path);
  REQUIRE(!file.ok());
  CHECK(file.message().find("text.db") != std::string::npos);
}

}  // namespace
}  // namespace accelscope::capture::sources::sqlite
