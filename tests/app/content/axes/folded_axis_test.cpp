#include "app/content/axes/axes.h"

#include <doctest/doctest.h>

#include <cmath>

namespace accelscope::app::content {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

int stub(double) { return 60; }

}  // namespace

TEST_CASE("folded axis: idle stretches take their stubs, what happens shares the rest by its length") {
  const FoldedAxis axis(0, 10e9, 1'000, {{0, 4 * kSecond}, {5 * kSecond, 9 * kSecond}}, stub);
  REQUIRE(axis.parts().size() == 4);
  CHECK(axis.parts()[0].folded);
  CHECK(axis.x(0) == doctest::Approx(0));
  CHECK(axis.x(4e9) == doctest::Approx(60));
  CHECK(axis.x(4.5e9) == doctest::Approx(280));  // the middle of the first burst
  CHECK(axis.x(5e9) == doctest::Approx(500));
  CHECK(axis.x(7e9) == doctest::Approx(530));
  CHECK(axis.x(9e9) == doctest::Approx(560));
  CHECK(axis.x(10e9) == doctest::Approx(1'000));
  double last = -1;
  for (double x = 0; x <= 1'000; x += 0.5) {
    CHECK(axis.ns(x) > last);
    last = axis.ns(x);
    CHECK(axis.x(last) == doctest::Approx(x).epsilon(0.001));
  }
}

TEST_CASE("folded axis: no stub where there is no room for any, none where nothing is idle") {
  const FoldedAxis narrow(0, 10e9, 100, {{kSecond, 9 * kSecond}}, stub);
  REQUIRE(narrow.parts().size() == 1);
  CHECK(narrow.x(5e9) == doctest::Approx(50));
  CHECK(FoldedAxis(0, 10e9, 100, {}, stub).parts().size() == 1);
}

TEST_CASE("folded axis: much idle time before the work, and gaps that are long beside it, are folded") {
  const TimeRange work{0, 10 * kSecond};
  CHECK(stretches_to_fold(0, 10e9, work, {{2 * kSecond, 3 * kSecond}}).empty());  // a tenth of it: seen as it is
  const auto gap = stretches_to_fold(0, 10e9, work, {{kSecond, 9 * kSecond}});
  REQUIRE(gap.size() == 1);
  CHECK(gap[0].begin_ns > kSecond);  // some of it stays on both sides
  CHECK(gap[0].begin_ns < kSecond + kSecond / 10);
  const auto many = stretches_to_fold(
      0, 10e9, work, {{kSecond, 3 * kSecond}, {4 * kSecond, 6 * kSecond}, {7 * kSecond, 7 * kSecond + 100}});
  CHECK(many.size() == 2);
  CHECK(bursts_of(work, many).size() == 3);
  // Long only beside what is left once a longer one is folded.
  const TimeRange small{9 * kSecond + 10'000'000, 9 * kSecond + 30'000'000};
  CHECK(
      stretches_to_fold(0, 9.05e9, TimeRange{0, 9 * kSecond + 50'000'000}, {{10'000'000, 9 * kSecond}, small}).size() ==
      2);
  const auto lead = stretches_to_fold(0, 10e9, TimeRange{8 * kSecond, 10 * kSecond}, {{kSecond, 2 * kSecond}});
  REQUIRE(lead.size() == 1);
  CHECK(lead[0].begin_ns == 0);
  CHECK(lead[0].end_ns < 8 * kSecond);
  CHECK(bursts_of({8 * kSecond, 10 * kSecond}, lead) == std::vector<TimeRange>{{8 * kSecond, 10 * kSecond}});
}

}  // namespace accelscope::app::content
