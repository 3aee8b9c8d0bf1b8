#include "core/analysis/iterations/folding.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

// A lane of planted iterations: a body of random names, durations with 20 % jitter, foreign events between.
struct PlantedLane {
  EventSequence sequence;
  std::vector<std::uint32_t> firsts;  // of the planted iterations
  std::mt19937_64 random;
  std::int64_t at = 0;

  explicit PlantedLane(std::uint64_t seed) : random(seed) {}
  void add(std::uint32_t name, double mean_ns) {
    const double jitter = 0.8 + 0.4 * static_cast<double>(random() % 1'000) / 1'000;
    const auto length = static_cast<std::int64_t>(mean_ns * jitter);
    sequence.tokens.push_back(name);
    sequence.begins_ns.push_back(at);
    sequence.ends_ns.push_back(at + length);
    at += length + static_cast<std::int64_t>(random() % 20);
  }
  void foreign(unsigned share_percent, unsigned names) {
    while (random() % 100 < share_percent) add(10'000 + static_cast<std::uint32_t>(random() % names), 70);
  }
  std::vector<Period> found() {
    number_names(sequence, nullptr);
    const TaskControl control;
    return find_periods(sequence, NamePlaces(sequence), control);
  }
};

struct PlantedBody {
  std::vector<std::uint32_t> names;
  PlantedBody(std::mt19937_64& random, std::size_t length) {
    // Names of a body may come more than once, as a kernel does that several layers launch.
    const std::size_t distinct = std::max<std::size_t>(3, length * 2 / 3);
    for (std::size_t i = 0; i < length; ++i)
      names.push_back(static_cast<std::uint32_t>(i < distinct ? i : random() % distinct));
    std::shuffle(names.begin(), names.end(), random);
  }
};

const Period* outermost(const std::vector<Period>& periods) { return periods.empty() ? nullptr : &periods.front(); }

}  // namespace

TEST_CASE("periods: planted iterations are found with their count exactly, with jitter and foreign events, 200 seeds") {
  int found_exactly = 0, begins_exactly = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    PlantedLane lane(seed);
    const std::size_t count = 8 + lane.random() % 60, length = 6 + lane.random() % 40;
    const unsigned foreign = static_cast<unsigned>(lane.random() % 30),
                   names = 1 + static_cast<unsigned>(lane.random() % 12);
    const PlantedBody body(lane.random, length);
    lane.foreign(foreign, names);
    for (std::size_t i = 0; i < count; ++i) {
      lane.firsts.push_back(static_cast<std::uint32_t>(lane.sequence.size()));
      for (std::size_t j = 0; j < body.names.size(); ++j) {
        lane.add(body.names[j], 50 + 10.0 * static_cast<double>(j));
        lane.foreign(foreign, names);
      }
    }
    const auto periods = lane.found();
    const Period* period = outermost(periods);
    CAPTURE(seed);
    REQUIRE(period != nullptr);
    CHECK(period->firsts.size() == count);
    CHECK(period->level == 0);
    found_exactly += period->firsts.size() == count ? 1 : 0;
    begins_exactly += period->firsts == lane.firsts ? 1 : 0;
  }
  CHECK(found_exactly == 200);
  CHECK(begins_exactly >= 195);  // a foreign name may by chance come as often as the body
}

TEST_CASE("periods: no iterations are seen in random sequences, 300 seeds") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    PlantedLane lane(10'000 + seed);
    const std::size_t length = 12 + lane.random() % 2'500;
    const std::uint32_t names = 2 + static_cast<std::uint32_t>(lane.random() % (seed % 2 == 0 ? 12 : 400));
    const bool uneven = seed % 3 == 0;
    for (std::size_t i = 0; i < length; ++i) {
      const auto a = static_cast<std::uint32_t>(lane.random() % names),
                 b = static_cast<std::uint32_t>(lane.random() % names);
      lane.add(uneven ? std::min(a, b) : a, 100);
    }
    CAPTURE(seed);
    CHECK(lane.found().empty());
  }
}

TEST_CASE("periods: tiles within steps are a level below them, with both counts exactly") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    PlantedLane lane(seed);
    const std::size_t steps = 6 + lane.random() % 20, tiles = 4 + lane.random() % 12;
    for (std::size_t i = 0; i < steps; ++i) {
      for (std::uint32_t head = 0; head < 5; ++head) lane.add(head, 200);
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        for (std::uint32_t part = 100; part < 104; ++part) {
          lane.add(part, 50);
          lane.foreign(5, 7);
        }
      }
      lane.add(50, 300);
    }
    const auto periods = lane.found();
    CAPTURE(seed);
    REQUIRE(periods.size() == 2);
    CHECK(periods[0].firsts.size() == steps);
    CHECK(periods[0].level == 0);
    CHECK(periods[1].firsts.size() == steps * tiles);
    CHECK(periods[1].level == 1);
    CHECK(periods[1].body.size() == 4);
  }
}

TEST_CASE("periods: a loop after a prologue, cut at the end, has its whole iterations and says that one is cut") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    PlantedLane lane(seed);
    const std::size_t count = 5 + lane.random() % 30;
    for (int i = 0; i < 60; ++i) lane.add(500 + static_cast<std::uint32_t>(lane.random() % 40), 90);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::uint32_t j = 0; j < 12; ++j) lane.add(j, 80);
    }
    const std::uint32_t cut = 1 + static_cast<std::uint32_t>(lane.random() % 11);
    for (std::uint32_t j = 0; j < cut; ++j) lane.add(j, 80);
    const auto periods = lane.found();
    CAPTURE(seed);
    REQUIRE(periods.size() == 1);
    CHECK(periods[0].firsts.size() == count);
    CHECK(periods[0].firsts.front() == 60);
    CHECK(periods[0].partial == 1);
  }
}

TEST_CASE("periods: a body without a name of its own is found by every second event of a name") {
  PlantedLane lane(1);
  for (int i = 0; i < 40; ++i) {
    for (const std::uint32_t name : {0U, 1U, 2U, 2U, 1U, 0U}) lane.add(name, 50);
  }
  const auto periods = lane.found();
  REQUIRE(periods.size() == 1);
  CHECK(periods[0].firsts.size() == 40);
}

TEST_CASE("periods: whatever the sequence, iterations follow each other and hold their first event, 2,000 seeds") {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    PlantedLane lane(50'000 + seed);
    const std::size_t length = lane.random() % 80;
    const std::uint32_t names = 1 + static_cast<std::uint32_t>(lane.random() % 6);
    const std::size_t period = 1 + lane.random() % 9;
    std::vector<std::uint32_t> body;
    for (std::size_t i = 0; i < period; ++i) body.push_back(static_cast<std::uint32_t>(lane.random() % names));
    for (std::size_t i = 0; i < length; ++i)
      lane.add(lane.random() % 10 == 0 ? static_cast<std::uint32_t>(lane.random() % names) : body[i % period], 100);
    CAPTURE(seed);
    for (const Period& each : lane.found()) {
      REQUIRE(each.firsts.size() >= Period::kLeast);
      REQUIRE(each.limits.size() == each.firsts.size());
      for (std::size_t i = 0; i < each.firsts.size(); ++i) {
        REQUIRE(each.firsts[i] < each.limits[i]);
        REQUIRE(each.limits[i] <= (i + 1 < each.firsts.size() ? each.firsts[i + 1] : lane.sequence.size()));
      }
      REQUIRE(!each.body.empty());
      CHECK(each.share > 0);
      CHECK(each.share <= 1);
    }
  }
}

TEST_CASE("periods: nothing and little are no loop") {
  PlantedLane none(1), one(2), same(3);
  CHECK(none.found().empty());
  one.add(1, 10);
  CHECK(one.found().empty());
  for (int i = 0; i < 100; ++i) same.add(1, 50);
  CHECK(same.found().empty());
}
