#include "core/lod/lane_window.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/chunk/session_writer.h"
#include "core/model/palette.h"
#include "core/scan/event_reader.h"

namespace accelscope::lod {
namespace {

// A lane of 5,000 events in chunks of odd sizes, and a counter of which some samples have no value or none that is one.
struct WindowSession {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  std::shared_ptr<const Snapshot> snapshot;

  WindowSession() {
    const SchemaNumber slices = writer.add_schema({.name = "instruction", .wait_names = {"WAIT"}});
    Column value{.name = "value", .type = ColumnType::float64, .role = Role::value};
    const SchemaNumber counters =
        writer.add_schema({.name = "counter", .kind = EventKind::counter, .columns = {value}});
    const TrackNumber engine = writer.add_track({.name = "Tensor", .kind = "engine", .schema = slices});
    const TrackNumber counter = writer.add_track({.name = "Pending", .kind = "counter", .schema = counters});
    std::mt19937 random(1);
    const StringId names[] = {writer.intern("MATMUL"), writer.intern("WAIT"), writer.intern("ACTIVATE")};
    for (std::int64_t i = 0; i < 5000; ++i) {
      (void)writer.begin_event(engine, i * 10, 7, names[random() % 3]);
      if (i % 500 < 130 || i % 7 == 0) {
        (void)writer.begin_event(counter, i * 10, 0, 0);  // without a value
      } else {
        writer.sample(counter, i * 10, i % 500 == 200 ? std::nan("") : static_cast<double>(i));
      }
      if (random() % 300 == 0) writer.flush();
    }
    REQUIRE(writer.finish());
    snapshot = store->snapshot();
  }
};

TEST_CASE("windows hold the events that reading them one by one gives") {
  WindowSession session;
  WorkerPool pool(2);
  LaneWindows windows(pool);
  const LaneSnapshot& lane = session.snapshot->lanes[0];
  EventReader reader(*session.store, session.snapshot);
  std::uint64_t seen = 0;
  for (std::uint32_t leaf = 0; leaf < lane.tree.nodes[0]; ++leaf) {
    const LaneWindow* window = nullptr;
    for (int frame = 0; frame < 3 && window == nullptr; ++frame) {
      windows.begin_frame(session.store, session.snapshot);
      window = windows.lane(lane).find(leaf, WindowDetail::events);
      windows.end_frame();
      if (window == nullptr) windows.wait_until_settled();
    }
    REQUIRE(window != nullptr);
    const std::uint32_t place = leaf - window->first_leaf;
    for (std::uint32_t i = window->first_entry[place]; i < window->first_entry[place + 1]; ++i) {
      const std::uint64_t ordinal = window->first_ordinal[place] + i - window->first_entry[place];
      CHECK(ordinal == seen++);
      const Result<EventRecord> event = reader.read(make_event_id(lane.number(), ordinal));
      REQUIRE(event);
      CHECK(event->begin_ticks == window->events[i].begin_ticks);
      CHECK(event->end_ticks == window->events[i].end_ticks);
      CHECK(event->name == window->events[i].name);
      CHECK(event->waits == window->events[i].waits);
    }
  }
  CHECK(seen == lane.event_count);
}

TEST_CASE("weights of micro nodes give the mean colour that the node has, whatever waits or takes no time") {
  WindowSession session;
  WorkerPool pool(2);
  LaneWindows windows(pool);
  const LaneSnapshot& lane = session.snapshot->lanes[0];
  const auto window_of = [&](std::uint32_t leaf, WindowDetail detail) {
    const LaneWindow* window = nullptr;
    for (int frame = 0; frame < 3 && window == nullptr; ++frame) {
      windows.begin_frame(session.store, session.snapshot);
      window = windows.lane(lane).find(leaf, detail);
      windows.end_frame();
      if (window == nullptr) windows.wait_until_settled();
    }
    REQUIRE(window != nullptr);
    return *window;
  };
  int wrong = 0;
  int nodes = 0;
  for (std::uint32_t leaf = 0; leaf < lane.tree.nodes[0]; ++leaf) {
    const LaneWindow micro = window_of(leaf, WindowDetail::micro);
    const LaneWindow events = window_of(leaf, WindowDetail::events);
    const std::uint32_t place = leaf - micro.first_leaf;
    for (std::uint32_t i = micro.first_entry[place]; i < micro.first_entry[place + 1]; ++i, ++nodes) {
      const std::uint32_t first = events.first_entry[place] + (i - micro.first_entry[place]) * kMicroEvents;
      for (const unsigned shift : {0U, 8U, 16U}) {
        double sum = 0;
        double all = 0;
        for (std::uint32_t event = 0; event < kMicroEvents; ++event) {
          const double weight = micro.weights[i][event];
          if (weight == 0) continue;
          sum += weight * (kSlicePalette[events.events[first + event].slot] >> shift & 0xffU);
          all += weight;
        }
        const double mean = sum / std::max(all, 1.0);
        wrong += std::abs(mean - (micro.nodes[i].colour >> shift & 0xffU)) > 1.5 ? 1 : 0;
      }
    }
  }
  CHECK(nodes > 600);
  CHECK(wrong == 0);
}

TEST_CASE("micro nodes of a leaf add up to the leaf") {
  WindowSession session;
  WorkerPool pool(2);
  LaneWindows windows(pool);
  for (const LaneSnapshot& lane : session.snapshot->lanes) {
    for (std::uint32_t leaf = 0; leaf < lane.tree.nodes[0]; ++leaf) {
      const LaneWindow* window = nullptr;
      for (int frame = 0; frame < 3 && window == nullptr; ++frame) {
        windows.begin_frame(session.store, session.snapshot);
        window = windows.lane(lane).find(leaf, WindowDetail::micro);
        windows.end_frame();
        if (window == nullptr) windows.wait_until_settled();
      }
      REQUIRE(window != nullptr);
      const std::uint32_t first = window->first_entry[leaf - window->first_leaf];
      const std::uint32_t last = window->first_entry[leaf - window->first_leaf + 1];
      REQUIRE(last > first);
      if (lane.data->kind == EventKind::counter) {
        const CounterNode sum = merge(window->counter_nodes.data() + first, last - first);
        CHECK(sum.min == lane.data->counters.node(0, leaf).min);
        CHECK(sum.max == lane.data->counters.node(0, leaf).max);
        CHECK(sum.integral == doctest::Approx(lane.data->counters.node(0, leaf).integral));
      } else {
        const SliceNode sum = merge(window->nodes.data() + first, last - first);
        CHECK(sum.busy == lane.data->slices.node(0, leaf).busy);
        CHECK(sum.wait == lane.data->slices.node(0, leaf).wait);
        CHECK(sum.count == lane.data->slices.node(0, leaf).count);
      }
    }
  }
}

TEST_CASE("windows stay within their memory, and what is drawn stays") {
  WindowSession session;
  constexpr std::size_t kBudget = 60'000;  // two windows of events
  WorkerPool pool(1);
  LaneWindows windows(pool, kBudget, 1);
  const LaneSnapshot& lane = session.snapshot->lanes[0];
  for (std::uint32_t leaf = 0; leaf < lane.tree.nodes[0]; leaf += kWindowLeaves) {
    for (int frame = 0; frame < 3; ++frame) {
      windows.begin_frame(session.store, session.snapshot);
      (void)windows.lane(lane).find(leaf, WindowDetail::events);
      windows.end_frame();
      windows.wait_until_settled();
    }
    CHECK(windows.lane(lane).ready(leaf, WindowDetail::events) != nullptr);
    CHECK(windows.memory_bytes() <= kBudget);
  }
}

}  // namespace
}  // namespace accelscope::lod
