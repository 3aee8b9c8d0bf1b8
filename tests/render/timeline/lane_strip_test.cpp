#include "render/timeline/lane_strip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/render/timeline/manual_lane.h"

namespace accelscope::render {
namespace {

using test::ManualLane;

[[nodiscard]] lod::WindowEvent event(std::int64_t begin, std::int64_t duration, std::uint8_t slot = 0,
                                     bool waits = false) {
  return {begin, begin + duration, 1, slot, waits};
}

[[nodiscard]] LaneStrip strip_of(ManualLane& lane, const TimeView& view, bool with_windows = true) {
  LaneStrip strip;
  LaneStripBuilder builder;
  builder.build(lane.snapshot(), with_windows ? &lane : nullptr, view, strip);
  return strip;
}

[[nodiscard]] bool lit(const LaneStrip& strip, int pixel) { return strip.texels[static_cast<std::size_t>(pixel)] != 0; }

// Cover of a texel, back from its alpha.
[[nodiscard]] double cover_of(std::uint32_t texel) {
  if (texel == 0) return 0;
  return std::max(0.0, ((texel >> 24) / 255.0 - kLeastCover) / (1 - kLeastCover));
}

// A lane as real ones are: bursts and holes over six orders of magnitude, instants, waits.
[[nodiscard]] std::vector<lod::WindowEvent> random_events(std::mt19937& random, std::size_t count) {
  std::vector<lod::WindowEvent> events;
  std::int64_t at = static_cast<std::int64_t>(random() % 1000);
  std::exponential_distribution<double> exponential(1.0);
  while (events.size() < count) {
    const double scale = std::pow(10.0, static_cast<double>(random() % 5));
    const std::size_t burst = 1 + random() % 200;
    for (std::size_t i = 0; i < burst && events.size() < count; ++i) {
      const auto duration = random() % 10 == 0 ? 0 : static_cast<std::int64_t>(exponential(random) * scale);
      events.push_back(event(at, duration, static_cast<std::uint8_t>(random() % 12), random() % 5 == 0));
      at += duration + (random() % 3 == 0 ? 0 : static_cast<std::int64_t>(exponential(random) * scale));
    }
    at += static_cast<std::int64_t>(exponential(random) * scale * 100);
  }
  return events;
}

// Every event drawn by itself: what the strip must agree with.
struct Naive {
  std::vector<double> cover;  // busy pixels, without the events that are drawn one by one
  double busy = 0;
};

[[nodiscard]] Naive draw_naively(const ManualLane& lane, const TimeView& view) {
  Naive naive;
  naive.cover.assign(static_cast<std::size_t>(view.width), 0);
  for (const lod::WindowEvent& each : lane.events()) {
    const double x0 = view.x(static_cast<double>(lane.snapshot().clock->to_ns(each.begin_ticks)));
    const double x1 = view.x(static_cast<double>(lane.snapshot().clock->to_ns(each.end_ticks)));
    if (each.waits) continue;
    const double begin = std::max(x0, 0.0);
    const double end = std::min<double>(x1, view.width);
    if (end <= begin) continue;
    naive.busy += end - begin;
    if (x1 - x0 >= kSinglePixels) continue;
    for (int pixel = static_cast<int>(begin); pixel < end; ++pixel) {
      naive.cover[static_cast<std::size_t>(pixel)] += std::min<double>(end, pixel + 1) - std::max<double>(begin, pixel);
    }
  }
  return naive;
}

void check_against_naive(const LaneStrip& strip, const ManualLane& lane, const TimeView& view) {
  const Naive naive = draw_naively(lane, view);
  // Nodes of two pixels smear and blocks are rounded: time may move by a few pixels but none is lost or made.
  double moved = 0;
  double rounded = 0;
  for (std::size_t pixel = 0; pixel < naive.cover.size(); ++pixel) {
    moved += cover_of(strip.texels[pixel]) - naive.cover[pixel];
    if (strip.texels[pixel] != 0) rounded += 0.02;
    CHECK(moved < 4 + rounded);  // no lower bound: each block gives a pixel to its gap
  }
  CHECK(strip.busy_share * view.width == doctest::Approx(naive.busy).epsilon(0.02).scale(4));
}

void check_nothing_is_lost(const LaneStrip& strip, const ManualLane& lane, const TimeView& view) {
  for (std::size_t i = 0; i < lane.events().size(); ++i) {
    const lod::WindowEvent& each = lane.events()[i];
    const double x0 = view.x(static_cast<double>(lane.snapshot().clock->to_ns(each.begin_ticks)));
    const double x1 = view.x(static_cast<double>(lane.snapshot().clock->to_ns(each.end_ticks)));
    if (x1 < 0.01 || x0 >= view.width - 0.01) continue;
    const int first = std::clamp(static_cast<int>(x0 - 1e-6), 0, view.width - 1);
    const int last = std::clamp(static_cast<int>(x1 + 1), 0, view.width - 1);
    bool seen = false;
    for (int pixel = first; pixel <= last && !seen; ++pixel) seen = lit(strip, pixel);
    const EventId id = make_event_id(lane.snapshot().number(), i);
    for (const WideSlice& slice : strip.slices) seen = seen || slice.id == id;
    for (const PixelRun& run : strip.waits) seen = seen || (run.begin <= last && run.end > first);
    CHECK_MESSAGE(seen, "event ", i, " at x ", x0, " to ", x1, " is invisible");
  }
}

TEST_CASE("a lone event of 1 ns is one lit pixel at every zoom") {
  ManualLane lane({event(500'000'000, 1, 3)});
  for (double span = 1e9; span > 20; span /= 3) {
    const TimeView view{5e8 - span / 3, 5e8 + span / 3 * 2, 1600};
    const LaneStrip strip = strip_of(lane, view);
    CAPTURE(span);
    if (strip.slices.empty()) {
      int count = 0;
      for (int pixel = 0; pixel < view.width; ++pixel) count += lit(strip, pixel) ? 1 : 0;
      CHECK(count >= 1);
      CHECK(lit(strip, static_cast<int>(view.x(5e8))));
    } else {
      CHECK(strip.slices[0].x1 - strip.slices[0].x0 == doctest::Approx(1600 / span).epsilon(0.001));
    }
  }
}

TEST_CASE("a lone instant between thousands of events is still lit") {
  std::vector<lod::WindowEvent> events;
  for (int i = 0; i < 5000; ++i) events.push_back(event(i * 10, 5));
  events.push_back(event(1'000'000, 0, 7));
  for (int i = 0; i < 5000; ++i) events.push_back(event(2'000'000 + i * 10, 5));
  ManualLane lane(std::move(events));
  const TimeView view{0, 2'050'000, 1600};
  CHECK(lit(strip_of(lane, view), static_cast<int>(view.x(1'000'000))));
}

TEST_CASE("the strip agrees with drawing every event, for random lanes and views") {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    ManualLane lane(random_events(random, 1 + random() % 6000));
    const double end = static_cast<double>(lane.events().back().end_ticks + 1);
    for (int zoom = 0; zoom < 8; ++zoom) {
      const double span = end / std::pow(6.0, zoom);
      // About a random event, so that deep zooms do not mostly show nothing.
      const lod::WindowEvent& at = lane.events()[random() % lane.events().size()];
      const double begin = static_cast<double>(at.begin_ticks) - span / 3;
      const TimeView view{begin, begin + span, 200 + static_cast<int>(random() % 1500)};
      CAPTURE(round);
      CAPTURE(zoom);
      const LaneStrip strip = strip_of(lane, view);
      CHECK(strip.complete);
      check_against_naive(strip, lane, view);
      check_nothing_is_lost(strip, lane, view);
    }
  }
}

TEST_CASE("without decoded windows nothing is lost either") {
  std::mt19937 random(11);
  ManualLane lane(random_events(random, 4000));
  const double end = static_cast<double>(lane.events().back().end_ticks + 1);
  for (int zoom = 0; zoom < 8; ++zoom) {
    const double begin = static_cast<double>(lane.events()[random() % 4000].begin_ticks);
    const TimeView view{begin, begin + end / std::pow(5.0, zoom), 1000};
    const LaneStrip strip = strip_of(lane, view, false);
    for (const lod::WindowEvent& each : lane.events()) {
      const int pixel = static_cast<int>(view.x(static_cast<double>(each.begin_ticks)));
      if (each.waits || pixel < 0 || pixel >= view.width || view.x(static_cast<double>(each.begin_ticks)) < 0) continue;
      CHECK(lit(strip, pixel));
    }
  }
}

TEST_CASE("a clock whose rate changes draws like its map") {
  Clock clock;
  clock.anchors = {{0, 0}, {1000, 2000}, {3000, 3000}, {9000, 20000}};
  std::mt19937 random(3);
  std::vector<lod::WindowEvent> events;
  for (std::int64_t at = 0; at < 9000; at += 20)
    events.push_back(event(at, 3 + static_cast<std::int64_t>(random() % 15)));
  ManualLane lane(std::move(events), ClockMap(clock));
  REQUIRE_FALSE(lane.snapshot().clock->is_affine());
  for (const double span : {20000.0, 3000.0, 400.0}) {
    const TimeView view{1500, 1500 + span, 1200};
    const LaneStrip strip = strip_of(lane, view);
    check_nothing_is_lost(strip, lane, view);
    check_against_naive(strip, lane, view);
  }
}

TEST_CASE("ticks of a fast clock far from zero keep their pixels") {
  Clock clock;
  clock.ticks_per_ns = 1.4;
  constexpr std::int64_t kFar = 1'000'000'000'000'000;
  ManualLane lane({event(kFar, 140), event(kFar + 280, 140)}, ClockMap(clock));
  const auto begin = static_cast<double>(lane.snapshot().clock->to_ns(kFar));
  const TimeView view{begin, begin + 400, 400};
  const LaneStrip strip = strip_of(lane, view);
  REQUIRE(strip.slices.size() == 2);
  CHECK(strip.slices[0].x0 == doctest::Approx(0).epsilon(0.01).scale(1));
  CHECK(strip.slices[0].x1 == doctest::Approx(100).epsilon(0.01));
  CHECK(strip.slices[1].x0 == doctest::Approx(200).epsilon(0.01));
}

TEST_CASE("waiting is not busy, whether narrow or wide") {
  std::vector<lod::WindowEvent> events;
  for (int i = 0; i < 1000; ++i) events.push_back(event(i * 100, 90, 2, true));
  ManualLane lane(std::move(events));
  const LaneStrip narrow = strip_of(lane, {0, 100'000, 1000});
  CHECK(narrow.busy_share == 0);
  CHECK(narrow.wait_share == doctest::Approx(0.9).epsilon(0.01));
  CHECK(narrow.waits.size() == 1);
  CHECK(std::all_of(narrow.texels.begin(), narrow.texels.end(), [](std::uint32_t texel) { return texel == 0; }));
  const LaneStrip wide = strip_of(lane, {0, 1000, 1000});
  CHECK(wide.busy_share == 0);
  CHECK(wide.wait_share == doctest::Approx(0.9).epsilon(0.01));
  REQUIRE(wide.slices.size() == 10);
  CHECK(wide.slices[0].waits);
}

TEST_CASE("a wide slice knows its event, name and edges") {
  std::vector<lod::WindowEvent> events;
  for (int i = 0; i < 300; ++i) events.push_back({i * 100, i * 100 + 60, static_cast<StringId>(i), 4, false});
  ManualLane lane(std::move(events));
  const LaneStrip strip = strip_of(lane, {20'050, 20'350, 300});
  REQUIRE(strip.slices.size() == 4);
  CHECK(ordinal_of(strip.slices[0].id) == 200);
  CHECK(lane_of(strip.slices[0].id) == 5);
  CHECK(strip.slices[1].name == 201);
  CHECK(strip.slices[0].x0 == doctest::Approx(-50));
  CHECK(strip.slices[0].x1 == doctest::Approx(10));
}

TEST_CASE("a dense lane has the mean colour at the strength of its cover") {
  std::vector<lod::WindowEvent> events;
  for (int i = 0; i < 64'000; ++i) events.push_back(event(i * 10, 5, 0));
  ManualLane lane(std::move(events));
  const LaneStrip strip = strip_of(lane, {0, 640'000, 500});
  CHECK(strip.busy_share == doctest::Approx(0.5).epsilon(0.01));
  for (const std::uint32_t texel : strip.texels) {
    CHECK((texel & 0xffffff) == 0xF9C76E);  // slot 0 is 6EC7F9
    CHECK(cover_of(texel) == doctest::Approx(0.5).epsilon(0.05));
  }
}

TEST_CASE("lane strip: a lane that is dimmed as a whole keeps its places and covers, only nearer to the background") {
  std::mt19937 random(5);
  ManualLane lane(random_events(random, 3000));
  const TimeView view{0, static_cast<double>(lane.events().back().end_ticks), 700};
  const LaneStrip plain = strip_of(lane, view);
  LaneShade shade;
  shade.dimmed = true;
  shade.background = 0x14181C;
  LaneStrip dimmed;
  LaneStripBuilder builder;
  builder.build(lane.snapshot(), &lane, view, dimmed, &shade);
  REQUIRE(plain.texels.size() == dimmed.texels.size());
  int lit_pixels = 0;
  int darker = 0;
  for (std::size_t i = 0; i < plain.texels.size(); ++i) {
    CHECK((plain.texels[i] >> 24) == (dimmed.texels[i] >> 24));
    if (plain.texels[i] == 0) continue;
    ++lit_pixels;
    const auto sum = [](std::uint32_t texel) { return (texel & 0xff) + (texel >> 8 & 0xff) + (texel >> 16 & 0xff); };
    if (sum(dimmed.texels[i]) < sum(plain.texels[i])) ++darker;
  }
  CHECK(lit_pixels > 50);
  CHECK(darker == lit_pixels);
  REQUIRE(plain.slices.size() == dimmed.slices.size());
  for (const WideSlice& slice : dimmed.slices) CHECK(slice.dimmed);
  CHECK(plain.busy_share == dimmed.busy_share);
}

TEST_CASE("lane strip: only the bright stretch of time stays bright") {
  ManualLane lane({event(0, 100), event(200, 100), event(400, 100), event(600, 100)});
  const TimeView view{0, 1000, 1000};
  LaneShade shade;
  shade.bright_begin_ns = 250;
  shade.bright_end_ns = 450;
  LaneStrip strip;
  LaneStripBuilder builder;
  builder.build(lane.snapshot(), &lane, view, strip, &shade);
  REQUIRE(strip.slices.size() == 4);
  CHECK(strip.slices[0].dimmed);
  CHECK_FALSE(strip.slices[1].dimmed);
  CHECK_FALSE(strip.slices[2].dimmed);
  CHECK(strip.slices[3].dimmed);
}

}  // namespace
}  // namespace accelscope::render
