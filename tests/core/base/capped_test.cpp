#include "core/base/capped.h"

#include <doctest/doctest.h>

#include <cmath>

namespace accelscope {

TEST_CASE("numbers that do not fit are taken for the nearest that do") {
  CHECK(capped_sum(INT64_MAX, std::int64_t{1}) == INT64_MAX);
  CHECK(capped_sum(INT64_MIN, std::int64_t{-1}) == INT64_MIN);
  CHECK(capped_sum(INT64_MAX, INT64_MIN) == -1);
  CHECK(capped_sum(UINT64_MAX, std::uint64_t{2}) == UINT64_MAX);
  CHECK(capped_difference(INT64_MIN, std::int64_t{1}) == INT64_MIN);
  CHECK(capped_difference(std::int64_t{0}, INT64_MIN) == INT64_MAX);
  CHECK(capped_difference(std::uint64_t{1}, std::uint64_t{2}) == 0);
  CHECK(capped_product(INT64_MAX, std::int64_t{-2}) == INT64_MIN);
  CHECK(capped_product(INT64_MIN, std::int64_t{-1}) == INT64_MAX);
  CHECK(capped_integer(1e300) == INT64_MAX);
  CHECK(capped_integer(-1e300) == INT64_MIN);
  CHECK(capped_integer(std::nan("")) == 0);
  CHECK(capped_integer(-2.9) == -2);
}

}  // namespace accelscope
