#include "core/model/time_range.h"

#include <doctest/doctest.h>

using namespace accelscope;

TEST_CASE("ranges may leave out an end and are never empty") {
  const TimeRange session{0, 9000};
  CHECK(parse_time_range("10%:20%", session).value() == TimeRange{900, 1800});
  CHECK(parse_time_range("1us : 2 us", session).value() == TimeRange{1000, 2000});
  CHECK(parse_time_range("5us:", session).value() == TimeRange{5000, 9000});
  CHECK(parse_time_range(":5us", {7, 9000}).value() == TimeRange{7, 5000});
  CHECK(parse_time_range(":", session).value() == session);
  CHECK_FALSE(parse_time_range("40us:12us", session).ok());
  CHECK_FALSE(parse_time_range("5us:5us", session).ok());
  CHECK_FALSE(parse_time_range("40us", session).ok());
  CHECK(parse_time_range("a:b", session).message() == "\"a\" is not a time; try 1500, 12.5us, 40ms, 2s or 10%");
}
