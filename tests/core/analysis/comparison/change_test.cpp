#include "core/analysis/comparison/comparison.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "core/analysis/statistics/estimates.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

// Captures of one configuration: each takes its sum of event durations, times what the machine was like.
std::vector<double> sampled_captures(std::mt19937_64& random, std::size_t count, double mean, double deviation) {
  std::normal_distribution<double> noise(1, deviation);
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(mean * noise(random));
  return out;
}

// Noise as clocks and schedulers make it: mostly little, now and then a hiccup to one side.
std::vector<double> skewed_captures(std::mt19937_64& random, std::size_t count, double mean, double deviation) {
  std::lognormal_distribution<double> noise(0, 1);
  const double scale = deviation / std::sqrt((std::exp(1.0) - 1) * std::exp(1.0));
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(mean * (1 + scale * noise(random)));
  return out;
}

using CaptureMaker = std::vector<double> (*)(std::mt19937_64&, std::size_t, double, double);

int count_reported(CaptureMaker make, std::size_t captures, double deviation, double ratio, std::uint64_t first_seed,
                   int pairs, Reported what) {
  int reported = 0;
  for (int i = 0; i < pairs; ++i) {
    std::mt19937_64 random(first_seed + static_cast<std::uint64_t>(i));
    const auto base = make(random, captures, 3e6, deviation), other = make(random, captures, 3e6 * ratio, deviation);
    reported += change_of(base, other, {.resamples = false}).reported == what ? 1 : 0;
  }
  return reported;
}

}  // namespace

TEST_CASE("comparison: Student's t agrees with the printed tables") {
  CHECK(student_bound(0.95, 8) == doctest::Approx(2.306004).epsilon(1e-6));
  CHECK(student_bound(0.999, 8) == doctest::Approx(5.041305).epsilon(1e-6));
  CHECK(student_bound(0.99, 1) == doctest::Approx(63.65674).epsilon(1e-6));
  CHECK(student_bound(0.95, 1e6) == doctest::Approx(1.959966).epsilon(1e-5));
  CHECK(student_chance(0, 5) == doctest::Approx(1));
  CHECK(student_chance(-2.0, 2) == doctest::Approx(0.183503).epsilon(1e-5));
  CHECK(student_chance(HUGE_VAL, 2) == 0);
  CHECK(normal_below(1.959964) == doctest::Approx(0.975).epsilon(1e-6));
}

TEST_CASE("comparison: a hundred pairs of equal configurations raise no alarm") {
  for (const double deviation : {0.001, 0.005, 0.01, 0.03, 0.1}) {
    for (const std::size_t captures : {3U, 5U, 10U}) {
      CAPTURE(deviation);
      CAPTURE(captures);
      CHECK(count_reported(sampled_captures, captures, deviation, 1, 1, 100, Reported::same) == 100);
      CHECK(count_reported(skewed_captures, captures, deviation, 1, 1, 100, Reported::same) == 100);
    }
  }
}

TEST_CASE("comparison: of ten thousand equal pairs about one in a thousand is told, as is promised") {
  const int quiet = count_reported(sampled_captures, 5, 0.02, 1, 1000, 10'000, Reported::same);
  CHECK(quiet >= 9'980);
  CHECK(quiet <= 9'999);  // a test that never speaks would be of no use
}

TEST_CASE("comparison: 5 % more is found in 95 of 100 pairs, with five captures a side where they scatter by 0.8 %") {
  CHECK(count_reported(sampled_captures, 5, 0.008, 1.05, 1, 100, Reported::more) >= 95);
  CHECK(count_reported(sampled_captures, 7, 0.01, 1.05, 1, 100, Reported::more) >= 95);
  CHECK(count_reported(sampled_captures, 10, 0.015, 1.05, 1, 100, Reported::more) >= 95);
  CHECK(count_reported(sampled_captures, 16, 0.02, 1.05, 1, 100, Reported::more) >= 95);
  CHECK(count_reported(sampled_captures, 5, 0.008, 1 / 1.05, 1, 100, Reported::less) >= 95);
}

TEST_CASE("comparison: the interval of 95 % holds the true ratio about so often") {
  for (const std::size_t captures : {4U, 5U, 8U, 20U}) {
    int inside = 0;
    constexpr int kPairs = 400;
    for (int i = 0; i < kPairs; ++i) {
      std::mt19937_64 random(static_cast<std::uint64_t>(i) + 7);
      const auto base = sampled_captures(random, captures, 100, 0.02),
                 other = sampled_captures(random, captures, 150, 0.02);
      const Change change = change_of(base, other);
      REQUIRE(change.interval);
      inside += change.interval->low <= 1.5 && 1.5 <= change.interval->high ? 1 : 0;
    }
    CAPTURE(captures);
    CHECK(inside >= kPairs * 92 / 100);
    CHECK(inside < kPairs);
  }
}

TEST_CASE("comparison: the same captures give the same interval on every run") {
  const std::array<double, 5> base = {100, 101, 99, 100.5, 98.7}, other = {106, 104, 105, 107, 105.5};
  const Change first = change_of(base, other), again = change_of(base, other);
  REQUIRE(first.interval);
  CHECK(first.interval->low == again.interval->low);
  CHECK(first.interval->high == again.interval->high);
  CHECK(first.reported == Reported::more);
  CHECK(*first.ratio == doctest::Approx(527.5 / 499.2));
  CHECK(first.interval->low < *first.ratio);
  CHECK(first.interval->high > *first.ratio);
}

TEST_CASE("comparison: one capture a side is no sample, and is said to be none") {
  const std::array<double, 1> base = {100}, other = {150};
  const Change change = change_of(base, other);
  CHECK(change.reported == Reported::no_sample);
  CHECK_FALSE(change.interval);
  CHECK(*change.ratio == doctest::Approx(1.5));
  // Unless the caller knows what is noise.
  CHECK(change_of(base, other, {.noise = 0.01}).reported == Reported::more);
  CHECK(change_of(base, other, {.noise = 0.2}).reported == Reported::same);
}

TEST_CASE("comparison: one new capture is held against the noise of the others") {
  const std::array<double, 6> base = {100, 100.4, 99.8, 100.1, 99.7, 100.2};
  const std::array<double, 1> alike = {100.9}, slower = {105};
  CHECK(change_of(base, alike).reported == Reported::same);
  CHECK(change_of(base, slower).reported == Reported::more);
  CHECK(change_of(slower, base).reported == Reported::less);
}

TEST_CASE("comparison: values without any noise, zeros and tiny differences") {
  const std::array<double, 3> same = {8, 8, 8}, more = {9, 9, 9}, none = {0, 0, 0}, close = {8.01, 8.01, 8.01};
  CHECK(change_of(same, same).reported == Reported::same);
  CHECK(change_of(same, more).reported == Reported::more);
  CHECK(change_of(more, same).reported == Reported::less);
  CHECK(change_of(same, close).reported == Reported::same);  // beyond noise, and too little to be told
  CHECK(change_of(none, none).reported == Reported::same);
  const Change appeared = change_of(none, same);
  CHECK(appeared.reported == Reported::more);
  CHECK_FALSE(appeared.ratio);
  CHECK(change_of(same, none).reported == Reported::less);
}

TEST_CASE("changes: problems are paired first, so that how they differ is no noise") {
  std::mt19937_64 random(3);
  int found = 0, alarms = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<SamplePair> slower, equal;
    for (const double mean : {2e4, 3e5, 8e6}) {
      slower.push_back({sampled_captures(random, 3, mean, 0.01), sampled_captures(random, 3, mean * 1.093, 0.01)});
      equal.push_back({sampled_captures(random, 3, mean, 0.01), sampled_captures(random, 3, mean, 0.01)});
    }
    found += pooled_change(slower, Pooling::geometric).reported == Reported::more ? 1 : 0;
    alarms += pooled_change(equal, Pooling::geometric).is_reported() ? 1 : 0;
  }
  CHECK(found >= 98);
  CHECK(alarms <= 1);
  // A problem with a single capture a side takes the noise that the others show.
  const std::vector<SamplePair> some = {{{100}, {120}}, {{10, 10.1, 9.9, 10}, {12, 12.1, 11.9, 12}}};
  CHECK(pooled_change(some, Pooling::geometric).reported == Reported::more);
  CHECK(*pooled_change(some, Pooling::arithmetic).ratio == doctest::Approx(1.2));
  const std::vector<SamplePair> single = {{{100}, {120}}, {{10}, {12}}};
  CHECK(pooled_change(single, Pooling::geometric).reported == Reported::no_sample);
  CHECK(*pooled_change(single, Pooling::geometric).ratio == doctest::Approx(1.2));
  // Where a side has none of it the means stand for the logarithms.
  const std::vector<SamplePair> gone = {{{5, 5}, {0, 0}}, {{3, 3}, {0, 0}}};
  CHECK_FALSE(pooled_change(gone, Pooling::geometric).is_geometric);
  CHECK(pooled_change(gone, Pooling::geometric).reported == Reported::less);
}
