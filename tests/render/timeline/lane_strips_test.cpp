// What is drawn while workers make the strips, and that theirs come.
#include "render/timeline/lane_strips.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "core/chunk/session_writer.h"
#include "tests/render/timeline/manual_lane.h"

namespace accelscope::render {
namespace {

using test::ManualLane;

[[nodiscard]] std::vector<lod::WindowEvent> scattered_events(std::mt19937& random, std::size_t count) {
  std::vector<lod::WindowEvent> events;
  std::int64_t at = 0;
  while (events.size() < count) {
    const double scale = std::pow(10.0, static_cast<double>(random() % 6));
    for (std::size_t i = 0; i < 1 + random() % 100 && events.size() < count; ++i) {
      const std::int64_t duration =
          random() % 4 == 0 ? 0 : static_cast<std::int64_t>(scale * static_cast<double>(random() % 100) / 50);
      events.push_back({at, at + duration, 1, static_cast<std::uint8_t>(random() % 12), random() % 5 == 0});
      at += duration +
            static_cast<std::int64_t>(random() % 3 == 0 ? 0 : scale * static_cast<double>(random() % 100) / 20);
    }
    at += static_cast<std::int64_t>(scale * 300);
  }
  return events;
}

// Events of the view that light no pixel where they are, are hatched nowhere and drawn as no slice.
[[nodiscard]] int lost_events(const LaneStrip& strip, const std::vector<lod::WindowEvent>& events,
                              const TimeView& view) {
  int lost = 0;
  for (const lod::WindowEvent& event : events) {
    const double x0 = view.x(static_cast<double>(event.begin_ticks));
    const double x1 = view.x(static_cast<double>(event.end_ticks));
    if (x1 < 0.01 || x0 >= view.width - 0.01) continue;
    const int first = std::clamp(static_cast<int>(x0 - 1), 0, view.width - 1);
    const int last = std::clamp(static_cast<int>(x1 + 1), 0, view.width - 1);
    bool seen = false;
    for (int pixel = first; pixel <= last; ++pixel) seen |= strip.texels[static_cast<std::size_t>(pixel)] != 0;
    for (const PixelRun& run : strip.waits) seen |= run.begin <= last && run.end > first;
    for (const WideSlice& slice : strip.slices) seen |= slice.x0 <= x1 + 0.5 && slice.x1 >= x0 - 0.5;
    lost += seen ? 0 : 1;
  }
  return lost;
}

[[nodiscard]] TimeView random_view(std::mt19937& random, const std::vector<lod::WindowEvent>& events) {
  const double span =
      static_cast<double>(events.back().end_ticks + 1) / std::pow(4.0, static_cast<double>(random() % 10));
  const double begin = static_cast<double>(events[random() % events.size()].begin_ticks) - span / 3;
  return {begin, begin + span, 900};
}

TEST_CASE("the coarse picture of a lane loses no event, at any zoom") {
  std::mt19937 random(21);
  LaneStripBuilder builder;
  for (int round = 0; round < 30; ++round) {
    ManualLane lane(scattered_events(random, 1 + random() % 5000));
    for (int zoom = 0; zoom < 10; ++zoom) {
      const TimeView view = random_view(random, lane.events());
      LaneStrip strip;
      builder.build_coarse(lane.snapshot(), view, strip);
      CAPTURE(round);
      CHECK_FALSE(strip.complete);
      CHECK(lost_events(strip, lane.events(), view) == 0);
    }
  }
}

TEST_CASE("a lone event of 1 ns is lit in the coarse picture, and where the picture of another view is moved to") {
  ManualLane lane({{500'000'000, 500'000'001, 1, 3, false}});
  LaneStripBuilder builder;
  for (double span = 1e9; span > 20; span /= 3) {
    const TimeView view{5e8 - span / 3, 5e8 + span / 3 * 2, 1600};
    LaneStrip coarse, made;
    builder.build_coarse(lane.snapshot(), view, coarse);
    CHECK(coarse.texels[static_cast<std::size_t>(view.x(5e8))] != 0);
    builder.build(lane.snapshot(), &lane, view, made);
    for (const double factor : {0.01, 0.3, 1.0, 4.0, 1000.0}) {
      const TimeView other{5e8 - span / 2 * factor, 5e8 + span * factor, 1600};
      LaneStrip moved;
      moved.texels.assign(1600, {});
      add_moved(made, view, other, 0, moved);
      CAPTURE(span);
      CAPTURE(factor);
      CHECK(lost_events(moved, lane.events(), other) == 0);
    }
  }
}

TEST_CASE("a strip that is moved to another view, over the coarse one, loses no event") {
  std::mt19937 random(22);
  LaneStripBuilder builder;
  for (int round = 0; round < 30; ++round) {
    ManualLane lane(scattered_events(random, 1 + random() % 5000));
    for (int move = 0; move < 12; ++move) {
      const TimeView view = random_view(random, lane.events());
      TimeView other = random_view(random, lane.events());
      if (move % 3 == 0) other = {view.begin_ns + view.span_ns() * 0.137, view.end_ns + view.span_ns() * 0.137, 900};
      LaneStrip made, shown;
      builder.build(lane.snapshot(), &lane, view, made);
      builder.build_coarse(lane.snapshot(), other, shown);
      add_moved(made, view, other, 0, shown);
      CAPTURE(round);
      CAPTURE(move);
      CHECK(lost_events(shown, lane.events(), other) == 0);
    }
  }
}

TEST_CASE("a strip moved by whole pixels is the same picture beside where it was") {
  std::mt19937 random(23);
  ManualLane lane(scattered_events(random, 4000));
  const double end = static_cast<double>(lane.events().back().end_ticks);
  const TimeView view{0, end, 1000};
  LaneStripBuilder builder;
  LaneStrip made, moved;
  builder.build(lane.snapshot(), &lane, view, made);
  moved.texels.assign(1000, {});
  add_moved(made, view, {end / 10, end / 10 + end, 1000}, 0, moved);
  for (std::size_t i = 0; i < 900; ++i) CHECK(moved.texels[i] == made.texels[i + 100]);
  for (std::size_t i = 900; i < 1000; ++i) CHECK(moved.texels[i] == 0);
}

// 20 lanes of some thousand events.
struct Lanes {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  std::shared_ptr<const Snapshot> snapshot;
  std::vector<std::vector<lod::WindowEvent>> events;
  WorkerPool pool{2};
  lod::LaneWindows windows{pool};
  LaneStrips strips{pool};

  Lanes() {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema({.name = "work", .wait_names = {"WAIT"}});
    std::mt19937 random(24);
    for (int i = 0; i < 20; ++i) {
      const TrackNumber track =
          writer.add_track({.name = "lane " + std::to_string(i), .kind = "engine", .schema = schema});
      events.push_back(scattered_events(random, 3000));
      for (const lod::WindowEvent& event : events.back()) {
        (void)writer.begin_event(track, event.begin_ticks, event.end_ticks - event.begin_ticks,
                                 writer.intern(event.waits ? "WAIT" : "WORK"));
      }
    }
    REQUIRE(writer.finish());
    snapshot = store->snapshot();
  }
  [[nodiscard]] std::vector<const LaneStrip*> frame(const TimeView& view) {
    windows.begin_frame(store, snapshot);
    strips.begin_frame(windows, snapshot, view);
    std::vector<const LaneStrip*> shown;
    for (std::uint32_t i = 0; i < snapshot->lanes.size(); ++i) shown.push_back(&strips.strip({i}));
    strips.end_frame();
    windows.end_frame();
    return shown;
  }
  [[nodiscard]] std::vector<const LaneStrip*> settled(const TimeView& view) {
    std::vector<const LaneStrip*> shown = frame(view);
    for (int i = 0; i < 100 && !strips.settled(); ++i) {
      strips.wait_until_made();
      windows.wait_until_settled();
      shown = frame(view);
    }
    REQUIRE(strips.settled());
    return shown;
  }
  [[nodiscard]] TimeView whole() const { return {0, static_cast<double>(snapshot->end_ns), 800}; }
};

TEST_CASE_FIXTURE(Lanes, "the first frame shows every lane with events, and does not wait for its strips") {
  const auto shown = frame(whole());
  CHECK_FALSE(strips.settled());
  REQUIRE(shown.size() == 20);
  for (std::size_t lane = 0; lane < shown.size(); ++lane) {
    CHECK_FALSE(shown[lane]->complete);
    CHECK(lost_events(*shown[lane], events[lane], whole()) == 0);
  }
}

TEST_CASE_FIXTURE(Lanes, "the strips that come are those that building them at once gives, and stay") {
  std::mt19937 random(25);
  LaneStripBuilder builder;
  for (int round = 0; round < 8; ++round) {
    const TimeView view = round == 0 ? whole() : random_view(random, events[static_cast<std::size_t>(round)]);
    const auto shown = settled(view);
    for (std::size_t lane = 0; lane < shown.size(); ++lane) {
      LaneStrip strip;
      builder.build(snapshot->lanes[lane], &windows.lane(snapshot->lanes[lane]), view, strip);
      CHECK(shown[lane]->complete);
      CHECK(shown[lane]->texels == strip.texels);
      REQUIRE(shown[lane]->slices.size() == strip.slices.size());
      CHECK(lost_events(*shown[lane], events[lane], view) == 0);
    }
    const auto again = frame(view);
    CHECK(strips.settled());  // nothing is asked for once more
    CHECK(again == shown);
  }
}

TEST_CASE_FIXTURE(Lanes, "zooming and panning show every event in every frame, whatever has come so far") {
  (void)settled(whole());
  std::mt19937 random(26);
  for (int step = 0; step < 60; ++step) {
    const TimeView view = random_view(random, events[random() % events.size()]);
    const auto shown = frame(view);
    for (std::size_t lane = 0; lane < shown.size(); ++lane) {
      CAPTURE(step);
      CHECK(lost_events(*shown[lane], events[lane], view) == 0);
    }
    if (step % 7 == 0) std::this_thread::yield();
  }
}

TEST_CASE_FIXTURE(Lanes, "windows that go while workers draw from them do no harm") {
  lod::LaneWindows few(pool, 200'000, 1);  // a fraction of what the views need
  std::mt19937 random(27);
  for (int step = 0; step < 120; ++step) {
    const TimeView view = random_view(random, events[random() % events.size()]);
    few.begin_frame(store, snapshot);
    strips.begin_frame(few, snapshot, view);
    for (std::uint32_t i = 0; i < snapshot->lanes.size(); ++i) (void)strips.strip({i});
    strips.end_frame();
    few.end_frame();
    if (step % 3 == 0) few.wait_until_settled();
  }
  strips.wait_until_made();
  few.begin_frame(store, snapshot);
  few.end_frame();
  CHECK(few.memory_bytes() <= 4'000'000);  // what one frame needs may lie above the budget
}

}  // namespace
}  // namespace accelscope::render
