#include "core/model/clock_fit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace accelscope;

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

// A clock that runs `ppm` faster than the reference, began `offset` later, and jumps by `step` at `step_at`.
struct TrueClock {
  std::int64_t offset = 0;
  double ppm = 0;
  std::int64_t step_at = std::int64_t{1} << 60;
  std::int64_t step = 0;

  [[nodiscard]] std::int64_t reference(std::int64_t ticks) const {
    const auto drift = static_cast<std::int64_t>(static_cast<double>(ticks) * ppm * 1e-6);
    return ticks + offset - drift + (ticks >= step_at ? step : 0);
  }
};

// An exchange over a network: way there and way back take what they take, and only their sum is known.
ClockPair exchange(const TrueClock& clock, std::int64_t ticks, std::mt19937_64& random) {
  std::exponential_distribution<double> there(1.0 / 80'000);
  std::exponential_distribution<double> back(1.0 / 20'000);
  const auto way_there = 15'000 + static_cast<std::int64_t>(there(random));
  const auto way_back = 15'000 + static_cast<std::int64_t>(back(random));
  const std::int64_t sent = clock.reference(ticks) - way_there;
  const std::int64_t came = clock.reference(ticks) + way_back;
  return {ticks, sent + (came - sent) / 2, (came - sent + 1) / 2};
}

struct Fitted {
  ClockFit fit;
  std::int64_t largest_uncertainty = 0;
};

Fitted fitted(const TrueClock& clock, std::int64_t seconds, std::int64_t every, std::uint64_t seed) {
  Fitted result;
  std::mt19937_64 random(seed);
  for (std::int64_t ticks = 3 * kMillisecond; ticks < seconds * kSecond; ticks += every) {
    const ClockPair pair = exchange(clock, ticks, random);
    result.largest_uncertainty = std::max(result.largest_uncertainty, pair.uncertainty_ns);
    result.fit.add(pair);
  }
  return result;
}

double worst_error(const ClockFit& fit, const TrueClock& clock, std::int64_t from, std::int64_t to) {
  const ClockMap map(fit.clock());
  double worst = 0;
  for (std::int64_t ticks = from; ticks < to; ticks += 7 * kMillisecond) {
    worst = std::max(worst, std::abs(static_cast<double>(map.to_ns(ticks) - clock.reference(ticks))));
  }
  return worst;
}

void check_monotone(const std::vector<ClockAnchor>& anchors) {
  REQUIRE(anchors.size() >= 2);
  for (std::size_t i = 1; i < anchors.size(); ++i) {
    REQUIRE(anchors[i].ticks > anchors[i - 1].ticks);
    REQUIRE(anchors[i].ns > anchors[i - 1].ns);
  }
}

}  // namespace

TEST_CASE("one exchange of clocks gives the offset, exactly and for all times") {
  ClockFit fit;
  CHECK(fit.empty());
  fit.add({5 * kSecond, 3 * kSecond + 17, 40'000});
  const ClockMap map(fit.clock());
  for (const std::int64_t ticks : {std::int64_t{0}, 5 * kSecond, 90'000 * kSecond}) {
    CHECK(map.to_ns(ticks) == ticks - 2 * kSecond + 17);
  }
  CHECK(fit.residual_ns() == 0);
  CHECK(fit.uncertainty_ns() == 40'000);
}

TEST_CASE("clocks that run alike are told apart by their offset alone, known as well as the best exchange") {
  const TrueClock clock{.offset = -7'123'456'789};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Fitted result = fitted(clock, 60, 500 * kMillisecond, seed);
    CHECK(worst_error(result.fit, clock, 0, 3'600 * kSecond) <=
          static_cast<double>(result.largest_uncertainty) + result.fit.residual_ns());
    CHECK(worst_error(result.fit, clock, 0, 60 * kSecond) <= static_cast<double>(result.fit.uncertainty_ns()) * 2);
  }
}

TEST_CASE("a clock that runs fast or slow is followed within what its exchanges tell, by one line") {
  for (const double ppm : {-200.0, -13.0, 4.0, 60.0, 350.0}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      CAPTURE(ppm);
      CAPTURE(seed);
      const TrueClock clock{.offset = 42 * kSecond + 5, .ppm = ppm};
      const Fitted result = fitted(clock, 120, 500 * kMillisecond, seed);
      check_monotone(result.fit.anchors());
      CHECK(result.fit.anchors().size() <= 3);
      CHECK(worst_error(result.fit, clock, 0, 120 * kSecond) <=
            static_cast<double>(result.largest_uncertainty) + result.fit.residual_ns());
      CHECK(worst_error(result.fit, clock, 10 * kSecond, 110 * kSecond) < 120'000);
    }
  }
}

TEST_CASE("a step of a clock is found where it was, and does not tilt the time before and after it") {
  for (const std::int64_t step : {kSecond, 5 * kMillisecond, -300 * kMillisecond}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      CAPTURE(step);
      CAPTURE(seed);
      const TrueClock clock{.offset = 10 * kSecond, .ppm = 10, .step_at = 40 * kSecond, .step = step};
      const Fitted result = fitted(clock, 80, 500 * kMillisecond, seed);
      check_monotone(result.fit.anchors());
      CHECK(result.fit.anchors().size() <= 6);
      CHECK(worst_error(result.fit, clock, 0, 38 * kSecond) < 300'000);
      CHECK(worst_error(result.fit, clock, 42 * kSecond, 80 * kSecond) < 300'000);
    }
  }
  // Just after it, before the new rate is known.
  const TrueClock clock{.offset = 10 * kSecond, .step_at = 9'900 * kMillisecond, .step = kSecond};
  const Fitted result = fitted(clock, 12, 250 * kMillisecond, 3);
  CHECK(worst_error(result.fit, clock, 11 * kSecond, 20 * kSecond) < 500'000);
}

TEST_CASE("however long a capture takes, its clocks have few anchors and still follow a wandering rate") {
  ClockFit fit;
  std::mt19937_64 random(11);
  const auto reference = [](std::int64_t ticks) {  // the rate swings by 20 ppm within an hour, as with temperature
    const double hours = static_cast<double>(ticks) / 3.6e12;
    return ticks + static_cast<std::int64_t>(20e-6 * 3.6e12 / (2 * M_PI) * std::sin(2 * M_PI * hours));
  };
  const std::int64_t whole = 10 * 3'600 * kSecond;
  for (std::int64_t ticks = 0; ticks < whole; ticks += 2 * kSecond) {
    const auto uncertainty = static_cast<std::int64_t>(20'000 + random() % 400'000);
    const auto error = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * uncertainty)) - uncertainty;
    fit.add({ticks, reference(ticks) + error, uncertainty});
  }
  check_monotone(fit.anchors());
  CHECK(fit.anchors().size() <= 258);
  const ClockMap map(fit.clock());
  double worst = 0;
  for (std::int64_t ticks = 0; ticks < whole; ticks += 13 * kSecond) {
    worst = std::max(worst, std::abs(static_cast<double>(map.to_ns(ticks) - reference(ticks))));
  }
  CHECK(worst < 2 * kMillisecond);  // the clock itself wanders by 11 ms
}

TEST_CASE("any pairs at all give a map that rises") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    ClockFit fit(1 + static_cast<std::int64_t>(random() % 1'000));
    for (int i = 0; i < 60; ++i) {
      const auto shift = static_cast<int>(random() % 60);
      fit.add({static_cast<std::int64_t>(random() >> shift) * (random() % 2 == 0 ? 1 : -1),
               static_cast<std::int64_t>(random() >> shift), static_cast<std::int64_t>(random() >> 20)});
      if (!fit.empty()) check_monotone(fit.anchors());
    }
    CHECK_FALSE(fit.empty());
  }
}

TEST_CASE("a device's clock is carried on to the session's time without losing a tick") {
  std::mt19937_64 random(9);
  for (int round = 0; round < 200; ++round) {
    Clock inner{.number = 3, .name = "device", .ticks_per_ns = round % 2 == 0 ? 1.4 : 0.35};
    std::int64_t ticks = 1'000'000;
    std::int64_t ns = 50'000;
    for (auto left = static_cast<int>(random() % 6); left > 0; --left) {
      inner.anchors.push_back({ticks, ns});
      ticks += 100'000'000 + static_cast<std::int64_t>(random() % 1'000'000'000);
      ns += 100'000'000 + static_cast<std::int64_t>(random() % 1'000'000'000);
    }
    constexpr std::int64_t kFar = std::int64_t{1} << 50;
    std::vector<ClockAnchor> outer = {{-kFar, 77 * kSecond - kFar}, {0, 77 * kSecond}};
    for (auto left = 1 + static_cast<int>(random() % 5); left > 0; --left) {
      const auto step = 1'000 + static_cast<std::int64_t>(random() % 2'000'000'000);
      outer.push_back({outer.back().ticks + step, outer.back().ns + step + static_cast<std::int64_t>(random() % 99)});
    }
    outer.push_back({outer.back().ticks + kFar, outer.back().ns + kFar});
    const Clock whole = compose(inner, outer);
    CHECK(whole.number == inner.number);
    check_monotone(whole.anchors);
    Clock outer_clock;
    outer_clock.anchors = outer;
    const ClockMap inner_map(inner);
    const ClockMap outer_map(outer_clock);
    const ClockMap map(whole);
    for (int i = 0; i < 200; ++i) {
      const auto tick = static_cast<std::int64_t>(random() % 8'000'000'000) - 1'000'000'000;
      const std::int64_t expected = outer_map.to_ns(inner_map.to_ns(tick));
      // Between bends both floors may fall differently: a ns each, and one more where a tick is longer than a ns.
      REQUIRE(std::abs(map.to_ns(tick) - expected) <= 4);
    }
  }
}
