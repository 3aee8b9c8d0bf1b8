#include "core/analysis/source/source_lines.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "core/scan/chunk_scan.h"
#include "tests/core/random_session.h"

using namespace accelscope;
using namespace accelscope::analysis;

TEST_CASE("source locations are read with and without a column, and refused without a line") {
  std::string_view path;
  std::uint32_t line = 0;
  CHECK(parse_source_location("a/b.py:33", path, line));
  CHECK(path == "a/b.py");
  CHECK(line == 33);
  CHECK(parse_source_location("C:/b.py:7:12", path, line));
  CHECK(path == "C:/b.py");
  CHECK(line == 7);
  for (const char* bad : {"", ":3", "b.py", "b.py:", "b.py:x", "b.py:-1", "b.py:99999999999"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_source_location(bad, path, line));
  }
}

TEST_CASE("every line shows the events, times and bytes that belong to it, in any range") {
  RandomSession session(41, 5'000);
  for (int i = 0; i < 12; ++i) {
    const TimeRange range = i == 0 ? TimeRange{} : session.random_range();
    struct Expected {
      std::uint64_t count = 0;
      std::int64_t busy = 0, wait = 0;
      std::uint64_t bytes = 0;
      std::vector<std::pair<std::int64_t, EventId>> events;
    };
    std::map<std::string, Expected> expected;
    for (const PlainEvent& event : session.events) {
      const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
      const TickRange ticks = tick_range(lane, range);
      if (event.location.empty() || !ticks.holds(event.begin_ticks, event.end_ticks)) continue;
      Expected& sum = expected[event.location];
      ++sum.count;
      const std::int64_t inside = std::min(event.end_ns, range.end_ns) - std::max(event.begin_ns, range.begin_ns);
      (event.waits ? sum.wait : sum.busy) += std::max<std::int64_t>(0, inside);
      if (event.bytes > 0) {
        const double share = share_inside(range, event.begin_ns, event.end_ns);
        sum.bytes += static_cast<std::uint64_t>(static_cast<double>(event.bytes) * share + 0.5);
      }
      sum.events.emplace_back(event.begin_ns, event.id);
    }
    const auto result = source_lines(session.context(), range);
    REQUIRE(result.ok());
    REQUIRE((*result)->lines.size() == expected.size());
    for (const SourceLine& line : (*result)->lines) {
      Expected& sum = expected.at(line.path + ":" + std::to_string(line.line));
      CHECK(line.event_count == sum.count);
      CHECK(line.busy_ns == sum.busy);
      CHECK(line.wait_ns == sum.wait);
      CHECK(line.bytes == sum.bytes);
      CHECK((*result)->find(line.path, line.line) == &line);
    }
    CHECK((*result)->of_file("dir/kernel.py").size() == expected.size());
    CHECK((*result)->find("dir/kernel.py", 12345) == nullptr);
    if (expected.empty()) continue;

    Expected& one = expected.begin()->second;
    std::sort(one.events.begin(), one.events.end());
    std::string_view path;
    std::uint32_t number = 0;
    REQUIRE(parse_source_location(expected.begin()->first, path, number));
    const auto events = events_of_line(session.context(), path, number, range, 25);
    REQUIRE(events.ok());
    CHECK(events->total == one.count);
    REQUIRE(events->events.size() == std::min<std::size_t>(25, one.events.size()));
    for (std::size_t e = 0; e < events->events.size(); ++e) CHECK(events->events[e] == one.events[e].second);
  }
}

TEST_CASE("what events waited before they began counts for their line, for no longer than their lane was free") {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber schema =
      writer.add_schema({.name = "instruction",
                         .wait_names = {"SEMAPHORE"},
                         .columns = {{.name = "line", .type = ColumnType::text, .role = Role::source_location},
                                     {.name = "evt_wait_time", .type = ColumnType::float64, .role = Role::wait_ns}}});
  const TrackNumber track = writer.add_track({.name = "Tensor", .kind = "engine", .schema = schema});
  const auto add = [&](std::int64_t at, std::int64_t duration, const char* name, const char* line, double waited) {
    Row row = writer.begin_event(track, at, duration, writer.intern(name));
    row.text(0, line);
    row.real(1, waited);
  };
  add(0, 10, "MATMUL", "a.py:1", 7);       // nothing is known of the time before
  add(20, 30, "SEMAPHORE", "a.py:1", 30);  // its wait is its duration, not twice
  add(60, 5, "MATMUL", "a.py:2", 7);
  add(70, 5, "MATMUL", "a.py:2", 1'000);  // free since 65
  add(80, 5, "MATMUL", "nowhere", 0);
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{**store, (*store)->snapshot(), pool, control};
  const auto lines = source_lines(query, {});
  REQUIRE(lines.ok());
  REQUIRE((*lines)->lines.size() == 2);
  CHECK((*lines)->unplaced == 1);
  const SourceLine* first = (*lines)->find("a.py", 1);
  REQUIRE(first != nullptr);
  CHECK(first->busy_ns == 10);
  CHECK(first->wait_ns == 30);
  CHECK((*lines)->find("a.py", 2)->wait_ns == 12);
  // Of a range only what lies in it, waits too.
  const auto part = source_lines(query, {58, 72});
  REQUIRE(part.ok());
  CHECK((*part)->find("a.py", 2)->wait_ns == 7);
  CHECK((*part)->find("a.py", 2)->busy_ns == 7);
  const auto later = source_lines(query, {67, 72});
  REQUIRE(later.ok());
  CHECK((*later)->find("a.py", 2)->wait_ns == 3);
}

TEST_CASE("lines of zones have the time in which none of the zones within them is under way") {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema(
      {.name = "zone", .columns = {{.name = "line", .type = ColumnType::string, .role = Role::source_location}}});
  const TrackNumber core = writer.add_track({.name = "BRISC", .kind = "engine", .schema = schema});
  const auto add = [&](std::uint32_t depth, std::int64_t begin, std::int64_t end, const char* line) {
    writer.begin_event_at(core, depth, begin, end - begin, writer.intern("z")).string(0, writer.intern(line));
  };
  add(0, 0, 1'000, "brisc.cc:10");
  add(1, 100, 900, "reader.cpp:5");
  add(2, 200, 300, "reader.cpp:7");
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const auto lines = source_lines({**store, (*store)->snapshot(), pool, control}, {});
  REQUIRE(lines.ok());
  CHECK((*lines)->find("brisc.cc", 10)->busy_ns == 200);  // the firmware's own, so it is not always the worst
  CHECK((*lines)->find("reader.cpp", 5)->busy_ns == 700);
  CHECK((*lines)->find("reader.cpp", 7)->busy_ns == 100);
  CHECK((*lines)->find("brisc.cc", 10)->host_ns == 0);
}
