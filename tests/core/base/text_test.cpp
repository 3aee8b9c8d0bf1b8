#include "core/base/text.h"

#include <doctest/doctest.h>

using namespace accelscope;

TEST_CASE("lists of names: commas part them, but inside quotes, and a quote inside quotes is written twice") {
  const auto names = [](std::string_view list) {
    const auto found = names_of_list(list);
    REQUIRE(found.ok());
    return *found;
  };
  using Names = std::vector<std::string>;
  CHECK(names("name") == Names{"name"});
  CHECK(names("name, dma.size") == Names{"name", "dma.size"});
  CHECK(names("\"size, bytes\",name") == Names{"size, bytes", "name"});
  CHECK(names("name,\"a \"\"b\"\", c\"") == Names{"name", "a \"b\", c"});
  CHECK(names("name, \"External id\" , b") == Names{"name", "External id", "b"});
  CHECK(names("5\" disk") == Names{"5\" disk"});
  CHECK(names("name,,\"\",") == Names{"name"});
  CHECK(names("").empty());
  CHECK_FALSE(names_of_list("\"no end,name").ok());
  CHECK_FALSE(names_of_list("\"a\"b").ok());
}
