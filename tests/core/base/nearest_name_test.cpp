#include "core/base/text.h"

#include <doctest/doctest.h>

#include <vector>

using accelscope::nearest_name;

TEST_CASE("nearest name: what was meant is found, what is unlike anything is not") {
  const std::vector<std::string> names = {"id", "track_id", "lane", "ts_ns", "dur_ns", "name", "category", "opcode"};
  CHECK(nearest_name("dur", names) == "dur_ns");
  CHECK(nearest_name("DUR_NS", names) == "dur_ns");
  CHECK(nearest_name("dur_sn", names) == "dur_ns");
  CHECK(nearest_name("duration", names) == "dur_ns");
  CHECK(nearest_name("nmae", names) == "name");
  CHECK(nearest_name("names", names) == "name");
  CHECK(nearest_name("opcodes", names) == "opcode");
  CHECK(nearest_name("trackid", names) == "track_id");
  CHECK(nearest_name("ts", names) == "");
  CHECK(nearest_name("colour", names) == "");
  CHECK(nearest_name("", names) == "");
  CHECK(nearest_name(std::string(10'000, 'x'), names) == "");
  CHECK(nearest_name("dur", {}) == "");
}
