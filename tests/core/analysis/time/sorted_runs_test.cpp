#include "core/analysis/time/sorted_runs.h"

#include <doctest/doctest.h>

#include <random>

using namespace accelscope;

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
