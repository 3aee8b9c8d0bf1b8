#include "capture/json/table_reader.h"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <cctype>
#include <random>

#include "capture/json/row_parser.h"

namespace accelscope::capture {
namespace {

// Hands out a few bytes at a time, so that every place of the text is once the end of what is known.
class DripSource final : public json::ByteSource {
 public:
  DripSource(std::string_view text, std::size_t step) : text_(text), step_(step) {}
  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t count = std::min({out.size(), step_, text_.size() - at_});
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t file_bytes() const override { return text_.size(); }
  [[nodiscard]] std::uint64_t file_bytes_read() const override { return at_; }

 private:
  std::string_view text_;
  std::size_t step_;
  std::size_t at_ = 0;
};

struct ReadRow {
  std::string table;
  std::string text;
  bool operator==(const ReadRow&) const = default;
};

std::vector<ReadRow> read_all(json::JsonTableReader& reader, std::string_view whole) {
  std::vector<ReadRow> rows;
  json::JsonWindow window;
  while (reader.next(window)) {
    for (std::size_t i = 0; i < window.rows.size(); ++i) {
      rows.push_back({window.table, std::string(window.row(i))});
      CHECK(whole.substr(window.rows[i].offset, window.row(i).size()) == window.row(i));
    }
  }
  return rows;
}

std::string random_text(std::mt19937_64& random) {
  constexpr std::string_view kPieces[] = {"\\\"", "\\\\", "{", "}", "[", "]", ",", ":", "a", "bc", "\\u00e9", "0", " "};
  std::string text = "\"";
  for (std::size_t i = random() % 90; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
  return text + "\"";
}

std::string random_value(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 3 ? 3 : 5)) {
    case 0:
      return std::to_string(random());
    case 1:
      return random() % 2 == 0 ? "true" : "null";
    case 2:
      return random_text(random);
    case 3: {
      std::string list = "[";
      for (std::size_t i = random() % 4; i > 0; --i) list += random_value(random, depth + 1) + (i > 1 ? ", " : "");
      return list + "]";
    }
    default: {
      std::string object = "{";
      for (std::size_t i = random() % 5; i > 0; --i) {
        object += random_text(random) + ": " + random_value(random, depth + 1) + (i > 1 ? "," : "");
      }
      return object + "}";
    }
  }
}

struct CountingHandler final : json::JsonRowHandler {
  void on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) override {
    (void)place;
    std::string text = is_object ? "{" : "";
    for (const json::JsonField& field : fields) {
      if (is_object && text.size() > 1) text += ',';
      std::string json;
      json::append_json(json, field);
      text += is_object ? json : json.substr(json.find(':') + 1);
    }
    rows.push_back(text + (is_object ? "}" : ""));
  }
  void on_bad_row(std::string_view text, const json::RowPlace& place) override {
    (void)text;
    (void)place;
    ++bad;
  }
  void on_repaired_row(const json::RowPlace& place) override {
    (void)place;
    ++repaired;
  }
  std::vector<std::string> rows;
  int bad = 0;
  int repaired = 0;
};

// Without blanks between tokens and with escapes resolved and made again, so that texts can be compared.
std::string minified(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  const simdjson::padded_string padded(json);
  REQUIRE(parser.parse(padded).get(element) == simdjson::SUCCESS);
  return simdjson::to_string(element);
}

}  // namespace

TEST_CASE("windows hold every row of every table whole, wherever they are cut") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<ReadRow> expected;
    std::string text = "{";
    for (std::size_t table = 0; table < random() % 5; ++table) {
      const std::string name = "t" + std::to_string(table);
      text += (table == 0 ? "\"" : ",\n\"") + name + "\" : [";
      for (std::size_t row = 0; row < random() % 30; ++row) {
        const std::string value = random_value(random, 0);
        text += (row == 0 ? " " : " ,") + value;
        expected.push_back({name, value});
      }
      text += "]";
    }
    text += " }";
    json::JsonTableReader reader(std::make_unique<DripSource>(text, 1 + random() % 70),
                                 {.window_bytes = 64 + random() % 4000, .max_row_bytes = 1U << 20, .max_depth = 64});
    CHECK(read_all(reader, text) == expected);
    CHECK(reader.problems().empty());
  }
}

TEST_CASE("rows are parsed as simdjson's own document model sees them, with and without simdjson") {
  std::mt19937_64 random(6);
  for (int round = 0; round < 200; ++round) {
    std::string text = "[";
    std::vector<std::string> expected;
    for (int row = 0; row < 20; ++row) {
      std::string value = random_value(random, 0);
      if (value[0] != '{') value = "{\"k\":" + value + "}";
      text += (row == 0 ? "" : ",") + value;
      expected.push_back(minified(value));
    }
    text += "]";
    for (const bool portable : {false, true}) {  // the agent that is copied to other hosts has no simdjson
      json::JsonTableReader reader(json::ByteSource::from_memory(text), {});
      json::JsonRowParser parser(portable ? nullptr : json::make_fast_rows());
      CountingHandler handler;
      json::JsonWindow window;
      while (reader.next(window)) parser.parse(window, handler);
      REQUIRE(handler.rows.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) CHECK(minified(handler.rows[i]) == expected[i]);
      CHECK(handler.bad == 0);
      CHECK(handler.repaired == 0);
    }
  }
}

TEST_CASE("rows after a damaged one read the same as before it") {
  const std::string text = R"([{"a":1,"b":"x\ty"},{"a":1 "b":2},{"a":[1,2,{"c":"}"}],"b":-1.5e3},{"a":}])";
  json::JsonTableReader reader(json::ByteSource::from_memory(text), {});
  json::JsonRowParser parser;
  CountingHandler handler;
  json::JsonWindow window;
  while (reader.next(window)) parser.parse(window, handler);
  CHECK(handler.bad == 1);
  CHECK(handler.repaired == 1);  // the missing comma
  REQUIRE(handler.rows.size() == 3);
  CHECK(handler.rows[2] == R"({"a":[1,2,{"c":"}"}],"b":-1.5e3})");
}

TEST_CASE("zeros in place of a part of the file cost the rows that they touch, and at most one more") {
  std::mt19937_64 random(8);
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    const bool array = round % 3 == 0;
    std::vector<ReadRow> rows;
    std::vector<std::pair<std::size_t, std::size_t>> places;
    std::string text = array ? "[" : "{";
    const std::size_t tables = array ? 1 : 1 + random() % 3;
    for (std::size_t table = 0; table < tables; ++table) {
      const std::string name = array ? "" : "t" + std::to_string(table);
      if (!array) text += (table == 0 ? "\"" : ", \"") + name + "\": [";
      for (std::size_t row = 0; row < 1 + random() % 40; ++row) {
        if (text.back() != '[') text += random() % 2 == 0 ? "," : ",\n";
        const std::string value = "{\"a\":" + random_text(random) +
                                  R"(,"list":[{"x":1},{"y":[2]}],"dims":[[],[1]],"b":)" + random_value(random, 0) +
                                  R"(,"args":{"c":[1,{}]}})";
        rows.push_back({name, value});
        places.emplace_back(text.size(), text.size() + value.size());
        text += value;
      }
      text += "]";
      if (!array && random() % 3 == 0) text += R"(,"facts":{"n":[1],"o":{"p":2}})";
    }
    text += array ? "]" : "}";
    if (array) text.pop_back();
    const std::size_t begin = places.front().first + random() % (places.back().second - places.front().first - 8);
    const std::size_t end = std::min(begin + 8 + random() % 900, places.back().second);
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end), '\0');
    std::vector<std::string> expected;
    bool first_behind = true;
    std::vector<std::string> doubtful;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (places[i].second <= begin) expected.push_back(rows[i].text);
      if (places[i].first < end) continue;
      (first_behind ? doubtful : expected).push_back(rows[i].text);
      first_behind = false;
    }
    json::JsonTableReader reader(std::make_unique<DripSource>(text, 1 + random() % 70),
                                 {.window_bytes = 64 + random() % 4000,
                                  .max_row_bytes = 1U << 20,
                                  .max_depth = 64,
                                  .first_buffer_bytes = 64 + random() % 2000});
    std::vector<std::string> read;  // parts of a row that was cut may look like rows and tables of their own
    for (const ReadRow& row : read_all(reader, text)) {
      if (row.text.starts_with("{\"a\":")) read.push_back(row.text);
    }
    if (!doubtful.empty()) std::erase(read, doubtful.front());
    if (!doubtful.empty()) std::erase(expected, doubtful.front());
    CHECK(read == expected);
    std::uint64_t zeros = 0, first = ~std::uint64_t{0};
    for (const json::JsonProblem& problem : reader.problems()) {
      CHECK(problem.kind != json::JsonProblem::Kind::truncated);
      CHECK(problem.kind != json::JsonProblem::Kind::trailing_bytes);
      if (problem.kind != json::JsonProblem::Kind::hole) continue;
      zeros += problem.count;
      first = std::min(first, problem.first_offset);
    }
    CHECK(zeros == end - begin);
    CHECK(first == begin);
  }
}

TEST_CASE("a row longer than the limit is passed over and the next ones are read") {
  const std::string text = R"({"t":[{"a":1},{"big":")" + std::string(5'000'000, '}') + R"("},{"a":2}],"u":[{"a":3}]})";
  json::JsonTableReader reader(std::make_unique<DripSource>(text, 60'000),
                               {.window_bytes = 256, .max_row_bytes = 100'000, .max_depth = 64});
  const auto rows = read_all(reader, text);
  CHECK(rows == std::vector<ReadRow>{{"t", "{\"a\":1}"}, {"t", "{\"a\":2}"}, {"u", "{\"a\":3}"}});
  REQUIRE(reader.problems().size() == 1);
  CHECK(reader.problems()[0].kind == json::JsonProblem::Kind::oversize_row);
  CHECK(reader.problems()[0].first_offset == text.find("{\"big"));
}

TEST_CASE("whole numbers are exact and never pass through floating point") {
  const auto number = [](std::string_view text) {
    return json::JsonField{.key = {}, .text = text, .kind = json::JsonKind::number};
  };
  CHECK(json::to_int64(number("9223372036854775807")) == INT64_MAX);
  CHECK(json::to_int64(number("-9223372036854775808")) == INT64_MIN);
  CHECK(json::to_int64(number("9223372036854775808")) == std::nullopt);
  CHECK(json::to_uint64(number("18446744073709551615")) == UINT64_MAX);
  CHECK(json::to_uint64(number("-1")) == std::nullopt);
  CHECK(json::to_int64(number("4503599627370497")) == 4503599627370497);
  CHECK(json::to_int64(number("42.0")) == 42);
  CHECK(json::to_int64(number("4.2e1")) == 42);
  CHECK(json::to_int64(number("1.5")) == std::nullopt);
  CHECK(json::to_rounded_int64(number("1.5")) == 2);
  CHECK(json::to_rounded_int64(number("1e300")) == std::nullopt);
  CHECK(json::to_int64({.key = {}, .text = "0x2a", .kind = json::JsonKind::string}) == 42);
  CHECK(json::to_int64({.key = {}, .text = " 7 ", .kind = json::JsonKind::string}) == 7);
  CHECK(json::to_int64({.key = {}, .text = "", .kind = json::JsonKind::string}) == std::nullopt);
  CHECK(json::to_boolean({.key = {}, .text = "yes", .kind = json::JsonKind::string}) == true);
  CHECK(json::to_double(number("1e999")) == std::nullopt);
}

}  // namespace accelscope::capture
