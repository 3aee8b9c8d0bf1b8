// Errors as values.
#include <doctest/doctest.h>

#include "core/base/result.h"

namespace accelscope {

TEST_CASE("a result that is no failure has an empty message, so that a check may print it in any case") {
  const Result<int> number = 7;
  CHECK(number.message().empty());
  CHECK(Result<void>().message().empty());
  CHECK(Result<int>(Error{"no such file"}).message() == "no such file");
  CHECK(Result<void>(Error{"no room"}).message() == "no room");
}

}  // namespace accelscope
