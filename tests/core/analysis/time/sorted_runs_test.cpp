#include "core/analysis/time/sorted_runs.h"

#include <doctest/doctest.h>

#include <random>

using namespace accelscope;
using namespace accelscope::analysis;

TEST_CASE("sorted runs: what is merged is what sorting gives, of any number and length of runs") {
  std::mt19937_64 random(9);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<int, int>> values;
    const auto runs = random() % 12;
    for (std::size_t run = 0; run < runs; ++run) {
      int at = static_cast<int>(random() % 50);
      const auto length = random() % (round % 2 == 0 ? 60 : 3);
      for (std::size_t i = 0; i < length; ++i) {
        at += static_cast<int>(random() % 9);
        values.emplace_back(at, static_cast<int>(random() % 5));
      }
    }
    auto sorted = values;
    std::sort(sorted.begin(), sorted.end());
    sort_runs(values);
    CHECK(values == sorted);
  }
}

TEST_CASE("sorted runs: stretches that are joined while they are merged cover what joining them one by one covers") {
  std::mt19937_64 random(10);
  for (int round = 0; round < 300; ++round) {
    std::vector<TimeStretch> stretches;
    const auto runs = random() % 12;
    for (std::size_t run = 0; run < runs; ++run) {
      std::int64_t at = static_cast<std::int64_t>(random() % 50);
      const auto length = random() % (round % 2 == 0 ? 60 : 3);
      for (std::size_t i = 0; i < length; ++i) {
        at += static_cast<std::int64_t>(random() % 9);
        stretches.emplace_back(at, at + static_cast<std::int64_t>(random() % (round % 3 == 0 ? 30 : 5)));
      }
    }
    auto sorted = stretches;
    std::sort(sorted.begin(), sorted.end());
    std::vector<TimeStretch> expected;
    for (const TimeStretch& each : sorted) {
      if (!expected.empty() && each.first <= expected.back().second) {
        expected.back().second = std::max(expected.back().second, each.second);
      } else {
        expected.push_back(each);
      }
    }
    join_runs(stretches);
    CHECK(stretches == expected);
  }
}
