#include "render/timeline/counter_strip.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "tests/render/timeline/manual_lane.h"

namespace accelscope::render {
namespace {

using test::ManualLane;

TEST_CASE("a counter holds each value until its next sample, also from left of the view") {
  ManualLane lane(std::vector<lod::WindowSample>{{0, 5}, {1000, 20}, {1500, 10}});
  CounterStrip strip;
  build_counter_strip(lane.snapshot(), &lane, {500, 2500, 200}, strip);
  CHECK(strip.last[0] == 5);
  CHECK(strip.last[49] == 5);
  CHECK(strip.last[51] == 20);
  CHECK(strip.last[199] == 10);
  CHECK(strip.lowest == 5);
  CHECK(strip.highest == 20);
  CHECK(strip.mean == doctest::Approx((500 * 5 + 500 * 20 + 1000 * 10) / 2000.0));
}

TEST_CASE("before its first sample a counter has no value, not zero") {
  ManualLane lane(std::vector<lod::WindowSample>{{1000, 7}});
  CounterStrip strip;
  build_counter_strip(lane.snapshot(), &lane, {0, 2000, 100}, strip);
  CHECK(std::isnan(strip.last[10]));
  CHECK(strip.last[90] == 7);
  CHECK(strip.mean == doctest::Approx(7));
}

TEST_CASE("a single high sample among many keeps its pixel at every zoom") {
  std::vector<lod::WindowSample> samples;
  for (int i = 0; i < 100'000; ++i) samples.push_back({i * 10, i == 54'321 ? 100.0 : 1.0});
  ManualLane lane(std::move(samples));
  for (double span = 1e6; span > 100; span /= 4) {
    const TimeView view{543'210 - span / 2, 543'210 + span / 2, 800};
    CounterStrip strip;
    build_counter_strip(lane.snapshot(), &lane, view, strip);
    CHECK(strip.highest == 100);
    CHECK(strip.high[400] == 100);
  }
}

TEST_CASE("the mean of a counter is by time, for random samples and views") {
  std::mt19937 random(5);
  std::vector<lod::WindowSample> samples;
  std::int64_t at = 0;
  for (int i = 0; i < 3000; ++i) {
    samples.push_back({at, static_cast<double>(random() % 100)});
    at += 1 + static_cast<std::int64_t>(random() % 1000);
  }
  ManualLane lane(samples);
  for (int round = 0; round < 30; ++round) {
    const double begin = static_cast<double>(random() % static_cast<unsigned>(at / 2));
    const double span = static_cast<double>(100 + random() % static_cast<unsigned>(at / 2 - 100));
    double area = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double from = std::max(begin, static_cast<double>(samples[i].ticks));
      const double next = i + 1 < samples.size() ? static_cast<double>(samples[i + 1].ticks) : 1e18;
      area += samples[i].value * std::max(0.0, std::min(begin + span, next) - from);
    }
    CounterStrip strip;
    build_counter_strip(lane.snapshot(), &lane, {begin, begin + span, 900}, strip);
    CHECK(strip.mean == doctest::Approx(area / span).epsilon(0.02));
  }
}

}  // namespace
}  // namespace accelscope::render
