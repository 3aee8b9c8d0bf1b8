#include "app/content/comparison/comparison_words.h"

#include <doctest/doctest.h>

using namespace accelscope;
using namespace accelscope::app::content;
using namespace accelscope::app;

TEST_CASE("differences have a sign and the unit of their size, those of shares are percentage points") {
  CHECK(signed_figure(-98.1e-6, "s") == "-98.1 µs");
  CHECK(signed_figure(0.079, "share") == "+7.9 pp");
  CHECK(signed_figure(-0.00088, "share") == "-0.088 pp");
  CHECK(signed_figure(-12.5, "%") == "-12.5 pp");
  CHECK(signed_figure(0, "share") == "0");
}

TEST_CASE("figures of comparisons are called as everywhere, with their device") {
  CHECK(compared_title("hbm_read_bytes") == "HBM read");
  CHECK(compared_title("hbm_read_bytes (nc1)") == "HBM read (nc1)");
  CHECK(compared_title("work_time") == "First to last work");
}
