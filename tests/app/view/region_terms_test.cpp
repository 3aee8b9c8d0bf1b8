#include "app/view/selection.h"

#include <doctest/doctest.h>

#include "core/listing/terms.h"
#include "core/search/search.h"

using namespace accelscope;
using namespace accelscope::app;

TEST_CASE("a term for an exact text can be read back, whatever the text holds") {
  for (const char* text :
       {"MATMUL", "w1[7, 2]", "a/b.c", "with \"quotes\"", "/slash\" \\back", "two\nlines\"", "µs\""}) {
    CAPTURE(text);
    const auto query = search::parse_search(listing::search_of_text("name", text));
    REQUIRE(query);
    REQUIRE(query->terms.size() == 1);
    CHECK(query->terms[0].column == "name");
    CHECK_FALSE(query->terms[0].ignore_case);
    if (query->terms[0].compare == search::Compare::equal) CHECK(query->terms[0].value == text);
  }
}
