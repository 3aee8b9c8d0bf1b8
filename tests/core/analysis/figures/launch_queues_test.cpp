
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "core/analysis/figures/derived_counters.h"
#include "core/chunk/session_writer.h"

namespace accelscope::analysis {
namespace {

using Times = std::vector<std::pair<std::int64_t, std::int64_t>>;

// The integral, launch by launch.
double depth_plainly(const Times& times, double from, double to) {
  double waited = 0;
  for (const auto& [launched, begun] : times) {
    const double shared = std::min(to, static_cast<double>(begun)) - std::max(from, static_cast<double>(launched));
    waited += std::max(0.0, shared);
  }
  return waited / (to - from);
}

TEST_CASE("launch queues: depth and latency are what adding up launch by launch gives") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    Times times;
    const std::int64_t base = round % 2 == 0 ? 0 : std::int64_t{1} << 60;
    for (int i = 0; i < 300; ++i) {
      const auto launched = base + static_cast<std::int64_t>(random() % 100'000);
      times.emplace_back(launched, launched + static_cast<std::int64_t>(random() % 3'000));
    }
    const LaunchQueue queue(times);
    CHECK(queue.size() == times.size());
    const TimeRange range{base + 1'000, base + 90'000};
    std::vector<double> depth(17), latency(17);
    queue.add_depth(range, depth);
    queue.add_latency(range, latency);
    const double step = static_cast<double>(range.length_ns()) / 17;
    for (std::size_t i = 0; i < depth.size(); ++i) {
      Times near;  // less the base, where doubles are exact
      for (const auto& [launched, begun] : times) near.emplace_back(launched - base, begun - base);
      const double from = 1'000 + step * static_cast<double>(i);
      CHECK(depth[i] == doctest::Approx(depth_plainly(near, from, from + step)).epsilon(1e-9));
      double waited = 0, count = 0;
      for (const auto& [launched, begun] : near) {
        if (static_cast<double>(begun) < from || static_cast<double>(begun) >= from + step) continue;
        waited += static_cast<double>(begun - launched);
        ++count;
      }
      if (count == 0) CHECK(std::isnan(latency[i]));
      if (count > 0) CHECK(latency[i] == doctest::Approx(waited / count));
    }
  }
}

TEST_CASE("launch queues: the depth of a few ns is exact after days of launches") {
  std::mt19937_64 random(6);
  constexpr std::int64_t kDay = 86'400'000'000'000, kPlace = 3 * kDay;
  Times times, near;  // near: from kPlace
  for (int i = 0; i < 20'000; ++i) {
    const auto launched = static_cast<std::int64_t>(random() % kPlace);
    times.emplace_back(launched, launched + static_cast<std::int64_t>(random() % 3'000));
  }
  for (std::int64_t i = 0; i < 40; ++i) times.emplace_back(kPlace + i, kPlace + i + 1 + i % 7);
  for (const auto& [launched, begun] : times) near.emplace_back(launched - kPlace, begun - kPlace);
  const LaunchQueue queue(times);
  std::vector<double> depth(100);  // stretches of less than a ns
  queue.add_depth({kPlace, kPlace + 37}, depth);
  for (std::size_t i = 0; i < depth.size(); ++i) {
    const double from = 0.37 * static_cast<double>(i);
    CHECK(depth[i] == doctest::Approx(depth_plainly(near, from, from + 0.37)).epsilon(1e-9));
  }
}

TEST_CASE("launch queues: what begins before its launch has not waited, and nothing launched is no depth") {
  const LaunchQueue early(Times{{100, 50}, {200, 260}});
  std::vector<double> depth(2), latency(2);
  early.add_depth({0, 300}, depth);
  early.add_latency({0, 300}, latency);
  CHECK(depth[0] == 0);
  CHECK(depth[1] == doctest::Approx(60.0 / 150));
  CHECK(latency[0] == 0);
  CHECK(latency[1] == 60);
  std::vector<double> none(2);
  LaunchQueue().add_depth({0, 10}, none);
  CHECK(none == std::vector<double>{0, 0});
  LaunchQueue().add_latency({0, 10}, none);
  CHECK(std::isnan(none[0]));
}

TEST_CASE("launch queues: a session's launches are found through its flows, device by device") {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber call = writer.add_schema(
      {.name = "call", .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key, .required = true}}});
  const SchemaNumber kernel = writer.add_schema(
      {.name = "kernel", .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key, .required = true}}});
  const SchemaNumber flow = writer.add_schema(
      {.name = "launch",
       .kind = EventKind::flow,
       .columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source, .required = true},
                   {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target, .required = true}}});
  const TrackNumber thread = writer.add_track({.name = "main", .kind = "host_thread", .host = "h", .schema = call});
  const TrackNumber stream =
      writer.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel});
  const TrackNumber flows = writer.add_track({.name = "launches", .kind = "flow", .schema = flow});
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto at = static_cast<std::int64_t>(i) * 100;
    writer.begin_event(thread, at, 10, writer.intern("launch")).unsigned_integer(0, i + 1);
    writer.begin_event(stream, 400 + at, 100, writer.intern("k")).unsigned_integer(0, i + 11);
    Row row = writer.begin_event(flows, at, 0, writer.intern("ac2g"));
    row.unsigned_integer(0, i + 1);
    row.unsigned_integer(1, i + 11);
  }
  REQUIRE(writer.finish());
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  const auto queues = launch_queues(query);
  REQUIRE(queues.ok());
  bool any_depth = false;
  for (const DerivedCounter& counter : derived_counters(*store->snapshot())) {
    if (!counter.is_of_launches()) continue;
    CHECK(counter.device == "gpu 0");
    const auto values = derived_values(query, counter, {.launches = queues->get()}, {0, 800}, 8);
    REQUIRE(values.ok());
    if (counter.kind == DerivedCounter::Kind::queue_depth) {
      any_depth = true;
      CHECK(*values == std::vector<float>{1, 2, 3, 4, 3, 2, 1, 0});
    } else {
      CHECK(std::isnan((*values)[0]));
      CHECK((*values)[4] == 400);
    }
  }
  CHECK(any_depth);
}

}  // namespace
}  // namespace accelscope::analysis
