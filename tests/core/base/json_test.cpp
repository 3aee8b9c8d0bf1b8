#include "core/base/json.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace accelscope;

namespace {

std::string nested(JsonLayout layout) {
  JsonWriter json(layout);
  json.begin_object("a", 1, "none", std::vector<std::string>());
  json.array("b", std::vector<int>{2, 3}, [&](int each) {
    json.object("c", each, "d", std::vector<std::string>{"x", "y"});
  });
  json.key("e").object();
  return json.done();
}

std::string value_text(const JsonValue& value) { return JsonWriter().value(value).done(); }

}  // namespace

TEST_CASE("one tree is written in each layout, empty lists on one line") {
  CHECK(nested(JsonLayout::compact) == R"({"a":1,"none":[],"b":[{"c":2,"d":["x","y"]},{"c":3,"d":["x","y"]}],"e":{}})");
  CHECK(nested(JsonLayout::line) ==
        R"({"a": 1, "none": [], "b": [{"c": 2, "d": ["x", "y"]}, {"c": 3, "d": ["x", "y"]}], "e": {}})");
  CHECK(nested(JsonLayout::rows) ==
        "{\n\"a\": 1,\n\"none\": [],\n\"b\": [{\"c\": 2, \"d\": [\"x\", \"y\"]}, {\"c\": 3, \"d\": [\"x\", "
        "\"y\"]}],\n\"e\": {}\n}");
  CHECK(nested(JsonLayout::sections) ==
        "{\n\"a\": 1,\n\"none\": [],\n\"b\": [\n {\"c\": 2, \"d\": [\"x\", \"y\"]},\n {\"c\": 3, \"d\": [\"x\", "
        "\"y\"]}\n],\n\"e\": "
        "{}\n}");
}

TEST_CASE("values of every kind, exact to the last digit") {
  CHECK(value_text({}) == "null");
  CHECK(value_text(true) == "true");
  CHECK(value_text("text") == "\"text\"");
  CHECK(value_text(std::optional<int>()) == "null");
  CHECK(value_text(std::optional<std::string>("x")) == "\"x\"");
  CHECK(value_text(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(value_text(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(value_text(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(value_text(std::numeric_limits<double>::infinity()) == "null");
  CHECK(value_text(JsonValue::real(-std::numeric_limits<double>::infinity())) == "-1e999");
  CHECK(value_text(JsonValue::real(2)) == "2.0");
  CHECK(value_text(JsonValue::raw("[1]")) == "[1]");
  for (const double each :
       {0.0, 1.0, -2.5, 1e-4, 9.9e-5, 123456.789, 1e15, 9007199254740993.0, 1e16, 1.5e300, 0.1 + 0.2})
    CHECK(value_text(each) == fmt::format("{}", each));
}

TEST_CASE("what was taken goes on where it ended") {
  JsonWriter json(JsonLayout::rows);
  std::string text = json.begin_array().object("a", 1).take();
  text += json.object("a", 2).take();
  CHECK(text + json.done() == "[\n{\"a\": 1},\n{\"a\": 2}\n]");
  CHECK(json_line("a", 1, "b", "x") == "{\"a\": 1, \"b\": \"x\"}\n");
  CHECK(JsonWriter().begin_object("a", 1).add_text("b", "").add_text("c", "x").done() == R"({"a":1,"c":"x"})");
}

TEST_CASE("quoted JSON text is valid whatever the bytes") {
  CHECK(json_quote("a\"b\\c") == R"("a\"b\\c")");
  CHECK(json_quote("tab\tnew\nline\x01") == R"("tab\tnew\nline\u0001")");
  CHECK(json_quote("µ€😀") == "\"µ€😀\"");
  CHECK(json_quote("x\xffy") == "\"x\uFFFDy\"");
  CHECK(json_quote("\xc0\xaf") == "\"\uFFFD\uFFFD\"");                  // overlong
  CHECK(json_quote("\xed\xa0\x80").find("\xed") == std::string::npos);  // half of a surrogate pair
  CHECK(json_quote("\xe2\x82") == "\"\uFFFD\uFFFD\"");                  // cut
}
