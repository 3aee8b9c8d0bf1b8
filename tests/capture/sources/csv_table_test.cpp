// Tables whose cells are of several lines.
#include "capture/sources/base/csv_table.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace accelscope::capture::sources {
namespace {

std::vector<std::vector<std::string>> cells_of(const std::string& text, std::uint64_t bad_rows) {
  Result<CsvTable> table = CsvTable::open(json::ByteSource::from_memory(text), "x.csv", {});
  REQUIRE(table.ok());
  std::vector<std::vector<std::string>> rows;
  while (table->next()) {
    std::vector<std::string>& row = rows.emplace_back();
    for (std::size_t i = 0; i < table->names().size(); ++i) row.emplace_back(table->cell(i));
  }
  CHECK(table->bad_rows() == bad_rows);
  return rows;
}

}  // namespace

TEST_CASE("quoted cells of a table may go on in further lines, several in a row") {
  const auto rows = cells_of(
      "a,b,c\n"
      "1,\"one\ntwo, \"\"three\"\"\n\"\"\",2\n"
      "\"x\ny\", \"z\nend\" more,\"\"\n"
      "\"\n\",\"\n\",\"\n\"\n"
      "3,4,5\n",
      0);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0] == std::vector<std::string>{"1", "one\ntwo, \"three\"\n\"", "2"});
  CHECK(rows[1] == std::vector<std::string>{"x\ny", "z\nendmore", ""});
  CHECK(rows[2] == std::vector<std::string>{"\n", "\n", "\n"});
  CHECK(rows[3] == std::vector<std::string>{"3", "4", "5"});
}

TEST_CASE("a quoted cell of very many lines is read in the time that its bytes take") {
  for (const std::string_view line : {"\"\"\n", "\",\"\n"}) {
    std::string text = "a,b\n1,\"";
    for (int i = 0; i < 400'000; ++i) text += line;
    (void)cells_of(text + "\"\n", 400'001);
  }
}

}  // namespace accelscope::capture::sources
