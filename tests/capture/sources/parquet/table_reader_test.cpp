// Parquet files of every encoding, codec and kind of page, whole and damaged: each value comes back, and what does not
// is told.
#include "capture/sources/parquet/table_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "tests/support/parquet/parquet_writer.h"

namespace accelscope::capture::sources::parquet {
namespace {

using test::ParquetColumn;
using test::ParquetLayout;

struct ReadTable {
  std::vector<std::map<std::string, std::string>> rows;  // without nulls
  std::vector<ColumnProblem> problems;
  std::uint64_t repaired = 0;
  std::string error;
};

ReadTable read_table(const std::string& bytes) {
  ReadTable table;
  Result<std::unique_ptr<TableReader>> reader = TableReader::open(RandomBytes::from_memory(bytes));
  if (!reader) {
    table.error = reader.message();
    CHECK(!table.error.empty());
    return table;
  }
  while ((*reader)->next()) {
    auto& row = table.rows.emplace_back();
    for (const json::JsonField& field : (*reader)->fields()) row.emplace(field.key, field.text);
  }
  table.problems = (*reader)->problems();
  table.repaired = (*reader)->repaired_values();
  return table;
}

std::vector<ParquetColumn::Value> numbers(std::size_t count, unsigned seed, std::int64_t most, bool nulls) {
  std::mt19937_64 random(seed);
  std::vector<ParquetColumn::Value> values;
  for (std::size_t i = 0; i < count; ++i) {
    if (nulls && random() % 5 == 0) {
      values.emplace_back();
    } else {
      // Runs, so that both kinds of levels and places are met.
      const std::int64_t number = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)) - most / 3;
      for (std::size_t run = random() % 4 == 0 ? 12 : 1; run > 0 && values.size() < count; --run)
        values.emplace_back(number);
      i = values.size() - 1;
    }
  }
  return values;
}

std::string text_of(const ParquetColumn& column, const ParquetColumn::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if (column.type == test::kParquetBoolean) return *whole != 0 ? "true" : "false";
    return std::to_string(*whole);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return column.type == test::kParquetFloat ? fmt::format("{}", static_cast<float>(*real)) : fmt::format("{}", *real);
  }
  if (const auto* list = std::get_if<ParquetColumn::List>(&value)) {
    std::string text = "[";
    for (const std::int64_t each : *list) text += fmt::format("{}{}", text.size() > 1 ? "," : "", each);
    return text + "]";
  }
  return std::get<std::string>(value);
}

// One column of each type and each encoding that it can be in.
std::vector<ParquetColumn> every_encoding(std::size_t rows, bool required) {
  const auto texts = [&](unsigned seed, bool fixed) {
    std::vector<ParquetColumn::Value> values = numbers(rows, seed, 300, !required);
    for (auto& value : values) {
      if (const auto* number = std::get_if<std::int64_t>(&value)) {
        value = fixed ? fmt::format("{:04}", *number + 200) : fmt::format("queue {} of an engine", *number);
      }
    }
    return values;
  };
  const auto reals = [&](unsigned seed) {
    std::vector<ParquetColumn::Value> values = numbers(rows, seed, 1000, !required);
    for (auto& value : values) {
      if (const auto* number = std::get_if<std::int64_t>(&value)) value = static_cast<double>(*number) / 8;
    }
    return values;
  };
  using namespace test;
  std::vector<ParquetColumn> columns = {
      {"truth", kParquetBoolean, numbers(rows, 1, 2, !required), kPlain},
      {"truth runs", kParquetBoolean, numbers(rows, 2, 2, !required), kRle},
      {"small", kParquetInt32, numbers(rows, 3, 1 << 30, !required), kPlain},
      {"small delta", kParquetInt32, numbers(rows, 4, std::int64_t{1} << 31, !required), kDelta},
      {"small places", kParquetInt32, numbers(rows, 5, 100, !required), kDictionary},
      {"wide", kParquetInt64, numbers(rows, 6, std::int64_t{1} << 62, !required), kPlain},
      {"wide delta", kParquetInt64, numbers(rows, 7, std::int64_t{1} << 62, !required), kDelta},
      {"wide split", kParquetInt64, numbers(rows, 8, std::int64_t{1} << 62, !required), kSplit},
      {"one place", kParquetInt64, numbers(rows, 9, 1, !required), kDictionary},
      {"float", kParquetFloat, reals(10), kPlain},
      {"float split", kParquetFloat, reals(11), kSplit},
      {"double", kParquetDouble, reals(12), kDictionary},
      {"text", kParquetBytes, texts(13, false), kPlain},
      {"text places", kParquetBytes, texts(14, false), kDictionary},
      {"text lengths", kParquetBytes, texts(15, false), kDeltaLength},
      {"text delta", kParquetBytes, texts(16, false), kDeltaBytes}};
  for (ParquetColumn& column : columns) {
    column.required = required;
    if (column.type != kParquetBoolean) continue;
    for (auto& value : column.values) {
      if (auto* number = std::get_if<std::int64_t>(&value)) *number &= 1;
    }
  }
  ParquetColumn list{"list", kParquetInt64, numbers(rows, 20, 7, true), kPlain};
  list.is_list = true;
  for (auto& value : list.values) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      value = ParquetColumn::List(static_cast<std::size_t>(std::max<std::int64_t>(*number, 0)), *number + 1000);
    }
  }
  columns.push_back(list);
  return columns;
}

void check_same(const ReadTable& table, const std::vector<ParquetColumn>& columns) {
  CHECK(table.error.empty());
  CHECK(table.problems.empty());
  REQUIRE(table.rows.size() == columns.front().values.size());
  for (const ParquetColumn& column : columns) {
    CAPTURE(column.name);
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const auto found = table.rows[row].find(column.name);
      const bool null = std::holds_alternative<std::monostate>(column.values[row]);
      const bool same =
          found == table.rows[row].end() ? null : !null && found->second == text_of(column, column.values[row]);
      wrong += same ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("every value of a Parquet file comes back, whatever its encoding, codec, pages and groups") {
  for (const bool required : {false, true}) {
    const std::vector<ParquetColumn> columns = every_encoding(2500, required);
    for (const int codec : {test::kNoCodec, test::kSnappy, test::kGzip, test::kZstd, test::kLz4Raw}) {
      for (const int version : {1, 2}) {
        CAPTURE(required);
        CAPTURE(codec);
        CAPTURE(version);
        check_same(read_table(test::parquet_file(columns, {codec, version, 700, 1000, version == 2})), columns);
      }
    }
    check_same(read_table(test::parquet_file(columns, {test::kSnappy, 1, 1, 100'000})), columns);
  }
}

TEST_CASE("a Parquet file without rows or without columns is read as such") {
  const std::vector<ParquetColumn> columns = every_encoding(0, false);
  const ReadTable empty = read_table(test::parquet_file(columns));
  CHECK(empty.error.empty());
  CHECK(empty.rows.empty());
  CHECK(read_table(test::parquet_file({})).rows.empty());
}

TEST_CASE("what Parquet's values mean is told: unsigned numbers, times in ns, decimals, old time stamps, texts") {
  std::string int96(12, '\0');
  const std::int64_t ns_of_day = 5;
  const std::int32_t julian_day = 2'440'589;  // 2 January 1970
  std::copy_n(reinterpret_cast<const char*>(&ns_of_day), 8, int96.begin());
  std::copy_n(reinterpret_cast<const char*>(&julian_day), 4, int96.begin() + 8);
  using namespace test;
  const std::vector<ParquetColumn> columns = {
      {"unsigned", kParquetInt64, {std::int64_t{-1}}, kPlain, true, false, 14},
      {"short unsigned", kParquetInt32, {std::int64_t{-1}}, kPlain, true, false, 13},
      {"micros", kParquetInt64, {std::int64_t{7}}, kPlain, true, false, 10},
      {"decimal", kParquetInt32, {std::int64_t{-1234}}, kPlain, true, false, 5, 3},
      {"wide decimal", kParquetFixed, {std::string("\xff\xff\xff\x85", 4)}, kPlain, true, false, 5, 2, 4},
      {"old", kParquetInt96, {int96}, kPlain, true},
      {"id", kParquetFixed, {std::string("\x01\xab", 2)}, kPlain, true, false, -1, 0, 2},
      {"not a number", kParquetDouble, {std::nan("")}, kPlain, true},
      {"mended", kParquetBytes, {std::string("a\xff")}, kPlain, true, false, 0},
      {"exact", kParquetInt64, {std::int64_t{9'223'372'036'854'775'807}}, kDelta, true}};
  const ReadTable table = read_table(parquet_file(columns));
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0] == std::map<std::string, std::string>{{"unsigned", "18446744073709551615"},
                                                            {"short unsigned", "4294967295"},
                                                            {"micros", "7000"},
                                                            {"decimal", "-1.234"},
                                                            {"wide decimal", "-1.23"},
                                                            {"old", "86400000000005"},
                                                            {"id", "01ab"},
                                                            {"not a number", "NaN"},
                                                            {"mended", "a\xef\xbf\xbd"},
                                                            {"exact", "9223372036854775807"}});
  CHECK(table.repaired == 1);
}

TEST_CASE("a column in an unknown codec or encoding is named, and the others are read") {
  std::vector<ParquetColumn> columns = {{"good", test::kParquetInt64, {std::int64_t{1}, std::int64_t{2}}},
                                        {"packed", test::kParquetInt64, {std::int64_t{1}, std::int64_t{2}}},
                                        {"strange", test::kParquetInt64, {std::int64_t{1}, std::int64_t{2}}}};
  columns[1].codec = test::kBrotli;
  columns[2].encoding = static_cast<test::ParquetEncoding>(4);
  const ReadTable table = read_table(test::parquet_file(columns));
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[1] == std::map<std::string, std::string>{{"good", "2"}});
  REQUIRE(table.problems.size() == 2);
  CHECK(table.problems[0].column == "packed");
  CHECK(table.problems[0].what.find("BROTLI") != std::string::npos);
  CHECK(table.problems[0].lost_rows == 2);
  CHECK(table.problems[1].column == "strange");
  CHECK(table.problems[1].what.find("BIT_PACKED") != std::string::npos);
}

TEST_CASE("a damaged page costs its column the rest of its group, and is told") {
  const std::vector<ParquetColumn> columns = {{"a", test::kParquetInt64, numbers(300, 1, 1000, false)},
                                              {"b", test::kParquetInt64, numbers(300, 2, 1000, false)}};
  const ParquetLayout layout{test::kNoCodec, 1, 50, 100, true};
  const std::string whole = test::parquet_file(columns, layout);
  std::string damaged = whole;
  std::string page(8, '\0');
  const std::int64_t value = std::get<std::int64_t>(columns[0].values[170]);  // second page of the second group
  std::copy_n(reinterpret_cast<const char*>(&value), 8, page.begin());
  const std::size_t at = damaged.find(page, whole.size() / 3);
  REQUIRE(at != std::string::npos);
  damaged[at] = static_cast<char>(damaged[at] ^ 1);
  const ReadTable table = read_table(damaged);
  REQUIRE(table.rows.size() == 300);
  REQUIRE(table.problems.size() == 1);
  CHECK(table.problems[0].what.find("checksum") != std::string::npos);
  CHECK(table.problems[0].lost_rows == 50);
  std::size_t there = 0;
  for (const auto& row : table.rows) there += row.size();
  CHECK(there == 550);
}

TEST_CASE("Parquet pages that state sizes which they cannot have take no memory, and cost only their columns") {
  std::vector<ParquetColumn> columns;
  for (int i = 0; i < 200; ++i) {
    columns.push_back({fmt::format("column {}", i), test::kParquetInt64, numbers(30, 1, 1000, false)});
  }
  for (const int codec : {test::kNoCodec, test::kSnappy, test::kGzip, test::kZstd, test::kLz4Raw}) {
    CAPTURE(codec);
    ParquetLayout layout{.codec = codec, .stated_plain_bytes = std::int64_t{512} << 20};
    for (layout.page_version = 1; layout.page_version <= 2; ++layout.page_version) {
      const ReadTable table = read_table(test::parquet_file(columns, layout));
      CHECK(table.problems.size() == columns.size());
    }
  }
  const ParquetLayout levels{.page_version = 2, .stated_level_bytes = INT64_MAX};
  const ReadTable table = read_table(test::parquet_file(columns, levels));
  REQUIRE(table.problems.size() == columns.size());
  CHECK(table.problems[0].what.find("levels that are longer than their page") != std::string::npos);
}

TEST_CASE("a Parquet column with a dictionary of truth values is told of, and the others are read") {
  std::vector<ParquetColumn> columns = {{"truth", test::kParquetBoolean, numbers(30, 1, 2, false)},
                                        {"number", test::kParquetInt64, numbers(30, 2, 1000, false)}};
  for (auto& value : columns[0].values) std::get<std::int64_t>(value) &= 1;
  columns[0].encoding = test::kDictionary;
  const ReadTable table = read_table(test::parquet_file(columns));
  REQUIRE(table.problems.size() == 1);
  CHECK(table.problems[0].column == "truth");
  REQUIRE(table.rows.size() == 30);
  CHECK(table.rows.back().contains("number"));
}

TEST_CASE("a Parquet file that is cut anywhere is refused, and one with flipped bits is never read beyond its bytes") {
  const std::string whole = test::parquet_file(every_encoding(60, false), {test::kSnappy, 1, 25, 40});
  for (std::size_t size = 0; size < whole.size(); size += size < 2000 ? 7 : 61) {
    const ReadTable cut = read_table(whole.substr(0, size));
    CAPTURE(size);
    CHECK(!cut.error.empty());
  }
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = whole;
    for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
      // The end, where the footer lies, decides more than the rest.
      const std::size_t at = random() % 2 == 0 ? whole.size() - 1 - random() % 2000 : random() % whole.size();
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    }
    const ReadTable table = read_table(damaged);
    CHECK(table.rows.size() <= 200'000 + 2000 * whole.size());
  }
}

}  // namespace accelscope::capture::sources::parquet
