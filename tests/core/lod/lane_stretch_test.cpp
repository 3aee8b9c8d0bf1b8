#include "core/lod/lane_window.h"

#include <doctest/doctest.h>

#include "tests/core/random_session.h"

namespace accelscope::lod {
namespace {

struct Plain {
  double events = 0, busy_ns = 0, wait_ns = 0;
  std::optional<EventId> last;
};

Plain count_plainly(const RandomSession& session, std::uint32_t lane, const TimeRange& range) {
  Plain sum;
  const LaneSnapshot& snapshot = session.snapshot->lanes[lane];
  const TickRange ticks = tick_range(snapshot, range);
  for (const PlainEvent& event : session.events) {
    if (event.lane != lane || !ticks.holds(event.begin_ticks, event.end_ticks)) continue;
    const double rate = mean_ns_per_tick(*snapshot.clock, event.begin_ticks, event.end_ticks);
    sum.events += 1;
    (event.waits ? sum.wait_ns : sum.busy_ns) +=
        rate * static_cast<double>(ticks.shared(event.begin_ticks, event.end_ticks));
    sum.last = event.id;
  }
  return sum;
}

TEST_CASE("a stretch of a lane holds what adding up its events gives, but for the two leaves at its edges") {
  RandomSession session(7, 3000);
  for (int round = 0; round < 60; ++round) {
    const TimeRange range = session.random_range();
    if (range.empty()) continue;
    for (std::uint32_t lane = 0; lane < session.snapshot->lanes.size(); ++lane) {
      const Plain expected = count_plainly(session, lane, range);
      const LaneStretch held = lane_stretch(session.snapshot->lanes[lane], nullptr, range);
      CHECK(std::abs(held.events - expected.events) <= 2 * 64.0);
      CHECK(std::abs(held.busy_ns - expected.busy_ns) <= 2 * 64 * 90.0 + expected.busy_ns * 2e-4);
      CHECK(std::abs(held.wait_ns - expected.wait_ns) <= 2 * 64 * 90.0 + expected.wait_ns * 2e-4);
      if (held.exact) CHECK(held.events == expected.events);
    }
  }
}

// Windows of every leaf that the range touches, as drawing would have asked for them.
void decode(LaneWindows& windows, const std::shared_ptr<const Store>& store, const RandomSession& session,
            const LaneSnapshot& lane, const TickRange& ticks) {
  for (int frame = 0; frame < 2; ++frame) {
    windows.begin_frame(store, session.snapshot);
    for (std::uint32_t leaf = 0; leaf < lane.tree.nodes[0]; ++leaf) {
      const SliceNode& node = lane.data->slices.node(0, leaf);
      if (ticks.holds(node.begin, node.end)) (void)windows.lane(lane).find(leaf, WindowDetail::events);
    }
    windows.end_frame();
    windows.wait_until_settled();
  }
}

TEST_CASE("where the events are decoded a short stretch is exact and names its only event") {
  RandomSession session(8, 2000);
  const std::shared_ptr<const Store> store(session.store.get(), [](const Store*) {});
  WorkerPool pool(2);
  LaneWindows windows(pool);
  int alone = 0;
  for (int round = 0; round < 40; ++round) {
    TimeRange range = session.random_range();
    range.end_ns = std::min(range.end_ns, range.begin_ns + 1 + round * 20);
    if (range.empty()) continue;
    for (std::uint32_t index = 0; index < session.snapshot->lanes.size(); ++index) {
      const LaneSnapshot& lane = session.snapshot->lanes[index];
      decode(windows, store, session, lane, tick_range(lane, range));
      windows.begin_frame(store, session.snapshot);
      const LaneStretch held = lane_stretch(lane, &windows.lane(lane), range);
      windows.end_frame();
      const Plain expected = count_plainly(session, index, range);
      CHECK(held.exact);
      CHECK(held.events == expected.events);
      CHECK(held.busy_ns == doctest::Approx(expected.busy_ns).epsilon(1e-6));
      CHECK(held.wait_ns == doctest::Approx(expected.wait_ns).epsilon(1e-6));
      CHECK(held.lone.has_value() == (expected.events == 1));
      if (held.lone) {
        ++alone;
        CHECK(held.lone == expected.last);
      }
    }
  }
  CHECK(alone > 5);
}

}  // namespace
}  // namespace accelscope::lod
