// The axis of histograms and rooflines: places of values, and round ticks.
#include "app/content/axes/axes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

using namespace accelscope;
using namespace accelscope::app::content;
using namespace accelscope::app;

namespace {

std::vector<std::string> labels(const ValueAxis& axis, std::size_t most, std::string_view unit) {
  std::vector<std::string> texts;
  for (const ValueTick& tick : axis.ticks(most, unit)) {
    if (!tick.text.empty()) texts.push_back(tick.text);
  }
  return texts;
}

}  // namespace

TEST_CASE("value axis: a place and the value at it are each other's inverse on both scales") {
  for (const analysis::BinScale scale : {analysis::BinScale::linear, analysis::BinScale::log}) {
    const ValueAxis axis(10, 100'000, scale);
    CHECK(axis.place(10) == doctest::Approx(0));
    CHECK(axis.place(100'000) == doctest::Approx(1));
    for (double place = 0; place <= 1; place += 0.1) CHECK(axis.place(axis.value(place)) == doctest::Approx(place));
  }
  CHECK(ValueAxis(10, 100'000, analysis::BinScale::log).place(1000) == doctest::Approx(0.5));
  CHECK(ValueAxis(5, 5, analysis::BinScale::linear).place(5) == doctest::Approx(0));  // nothing is divided by no span
  CHECK(ValueAxis(1, 10, analysis::BinScale::log).place(0) < 0);
}

TEST_CASE("value axis: ticks are round, in the unit of their step, and no more than there is room for") {
  CHECK(labels(ValueAxis(1'230'000, 1'680'000, analysis::BinScale::linear), 5, "ns") ==
        std::vector<std::string>{"1.3 ms", "1.4 ms", "1.5 ms", "1.6 ms"});
  CHECK(labels(ValueAxis(1, 1e6, analysis::BinScale::log), 7, "ns") ==
        std::vector<std::string>{"1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms"});
  CHECK(labels(ValueAxis(1, 1e6, analysis::BinScale::log), 3, "").size() <= 4);
  CHECK(labels(ValueAxis(0, 10, analysis::BinScale::linear), 5, "") ==
        std::vector<std::string>{"0", "2", "4", "6", "8", "10"});
  for (const ValueTick& tick : ValueAxis(3, 3000, analysis::BinScale::log).ticks(12, "B")) {
    CHECK(tick.value >= 3 * (1 - 1e-9));
    CHECK(tick.value <= 3000 * (1 + 1e-9));
  }
}

TEST_CASE("value axis: one that fits its values has round figures from end to end, and no more labels than asked for") {
  for (const auto& [low, high] : {std::pair(0.9, 240.0), {1.0, 1.0}, {3e-3, 5e9}, {1e10, 1.2e10}, {0.14e12, 140e12}}) {
    ValueAxis axis(analysis::BinScale::log);
    CHECK(axis.empty());
    CHECK(axis.ticks(5, "").empty());
    axis.include(low);
    axis.include(high);
    axis.include(-1);
    axis.include(0);
    axis.widen(2);
    CHECK(axis.low() == doctest::Approx(low / 2));
    CHECK(axis.high() == doctest::Approx(high * 2));
    for (const auto steps : {TickSteps::doubling, TickSteps::decimal}) {
      const std::vector<ValueTick> ticks = axis.ticks(8, "FLOP/s", steps);
      CHECK(!ticks.empty());
      CHECK(std::count_if(ticks.begin(), ticks.end(), [](const auto& tick) { return !tick.text.empty(); }) <= 9);
      CHECK(std::is_sorted(ticks.begin(), ticks.end(), [](const auto& a, const auto& b) { return a.value < b.value; }));
      for (const ValueTick& tick : ticks) {
        CHECK(axis.place(tick.value) >= -1e-6);
        CHECK(axis.place(tick.value) <= 1 + 1e-6);
        CHECK(axis.value(axis.place(tick.value)) == doctest::Approx(tick.value));
      }
    }
  }
  ValueAxis axis(analysis::BinScale::log);
  axis.include(1);
  axis.include(32);
  CHECK(axis.ticks(8, "FLOP/B", TickSteps::doubling).size() == 6);  // 1 2 4 8 16 32
  CHECK(axis.ticks(4, "FLOP/B", TickSteps::doubling).front().text == "1");
  ValueAxis alone(analysis::BinScale::linear);
  alone.include(7);
  CHECK(alone.place(7) == doctest::Approx(0.5));
}
