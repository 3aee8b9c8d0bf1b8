#include "capture/sources/tracks/unordered_session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "capture/sources/tracks/gpu_tables.h"
#include "tests/capture/recording_sink.h"

namespace accelscope::capture::sources::tracks {
namespace {

std::vector<RecordedEvent> events_of_row(const RecordingSink& sink, const std::string& row) {
  std::vector<RecordedEvent> found = sink.events();
  std::erase_if(found, [&](const RecordedEvent& event) { return sink.tracks.at(event.track).name != row; });
  return found;
}

const RecordedEvent& event_of_id(const std::vector<RecordedEvent>& all, const RecordingSink& sink, EventId id) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const RecordedEvent& event) {
    return event.lane == lane_of(id) && sink.chunks[event.chunk].first_ordinal() + event.row == ordinal_of(id);
  });
  REQUIRE(found != all.end());
  return *found;
}

TEST_CASE("events that come in any order lie sorted, nested ones below those that hold them") {
  RecordingSink sink;
  UnorderedSession session(sink);
  const std::uint32_t row = session.add_track(session.add_table(make_gpu_schema(GpuTable::nvtx)), {.name = "main"});
  struct Range {
    std::int64_t start, duration;
  };
  std::vector<Range> ranges;
  for (std::int64_t outer = 0; outer < 500; ++outer) {
    ranges.push_back({outer * 100, 90});
    for (std::int64_t inner = 0; inner < 4; ++inner) ranges.push_back({outer * 100 + inner * 20, 15});
  }
  std::mt19937 random(7);
  std::shuffle(ranges.begin(), ranges.end(), random);
  for (const Range& range : ranges) session.write(row, range.start, range.duration, session.intern("range"), {});
  REQUIRE(session.finish({}).ok());

  const std::vector<RecordedEvent> events = events_of_row(sink, "main");
  CHECK(events.size() == ranges.size());
  for (const RecordedEvent& event : events) {
    CHECK(sink.lanes.at(event.lane).depth == (event.end - event.start == 90 ? 0U : 1U));
  }
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (events[i].lane == events[i - 1].lane) CHECK(events[i - 1].end <= events[i].start);
  }
}

TEST_CASE("a stamp that was never taken and an end taken late are set aside, and lengthen nothing") {
  constexpr std::int64_t kBegin = 1'700'000'000'000'000'000;
  RecordingSink sink;
  UnorderedSession session(sink);
  const std::uint32_t table = session.add_table(make_gpu_schema(GpuTable::kernel));
  const std::uint32_t stream = session.add_track(table, {.name = "stream 7", .kind = "stream", .device = "GPU 0"});
  const std::uint32_t calls = session.add_track(session.add_table(make_gpu_schema(GpuTable::runtime_call)),
                                                {.name = "main", .kind = "host_thread"});
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::int64_t at = kBegin + static_cast<std::int64_t>(i) * 1000;
    session.add_flow(FlowSide::source, flow_key(1, i), i, session.write(calls, at, 100, session.intern("call"), {}));
    const std::int64_t start = i == 5 ? 0 : at + 200;
    const std::int64_t length = i == 5 ? 0 : i == 9 ? 1'600'000'000 : 500;
    session.add_flow(FlowSide::target, flow_key(1, i), i,
                     session.write(stream, start, length, session.intern(i == 9 ? "late" : "gemm"), {}));
  }
  REQUIRE(session.finish({}).ok());
  CHECK(events_of_row(sink, "stream 7").size() == 18);
  const auto aside = events_of_row(sink, "stream 7 (impossible times)");
  REQUIRE(aside.size() == 2);
  for (const RecordedEvent& event : aside) CHECK(sink.tracks.at(event.track).kind == "doubtful");
  CHECK(events_of_row(sink, "main").size() == 20);
  CHECK(sink.meta.at("trace_begin_ns") == std::to_string(kBegin));
  std::map<std::string, std::uint64_t> said;
  for (const QualityEntry& entry : sink.qualities) said[entry.kind] += entry.count;
  CHECK(said["impossible_times"] == 2);
  CHECK(events_of_row(sink, "flows").size() == 18);
  CHECK(said["flow_without_event"] == 2);
}

TEST_CASE("long work that nothing belies is believed: alone, of its kind, or beside a host that waits for it") {
  RecordingSink sink;
  UnorderedSession session(sink);
  const std::uint32_t table = session.add_table(make_gpu_schema(GpuTable::kernel));
  const std::uint32_t stream = session.add_track(table, {.name = "stream 7", .kind = "stream", .device = "GPU 0"});
  std::int64_t at = 1'000'000;
  for (int i = 0; i < 50; ++i) {
    session.write(stream, at, 500, session.intern("small"), {});
    at += 1000;
  }
  session.write(stream, at, 3'000'000, session.intern("large"), {});  // nothing begins within it
  at += 3'000'100;
  session.write(stream, at, 500, session.intern("small"), {});
  for (int i = 0; i < 4; ++i) {  // a kernel that is always long, with others beside it
    session.write(stream, at, 900'000, session.intern("persistent"), {});
    session.write(stream, at + 100, 500, session.intern("small"), {});
    at += 1'000'000;
  }
  REQUIRE(session.finish({}).ok());
  CHECK(events_of_row(sink, "stream 7").size() == 60);
  for (const QualityEntry& entry : sink.qualities) CHECK(entry.kind != "impossible_times");
}

TEST_CASE("every source of a key is joined with every target of it, by the ids of the events that were written") {
  RecordingSink sink;
  UnorderedSession session(sink);
  const std::uint32_t calls = session.add_track(session.add_table(make_gpu_schema(GpuTable::runtime_call)),
                                                {.name = "calls"}, {kLaunchingRows, 0});
  const std::uint32_t kernels =
      session.add_track(session.add_table(make_gpu_schema(GpuTable::kernel)), {.name = "stream 7"}, {kDeviceRows, 0});
  const auto call = [&](std::int64_t at, std::uint64_t process, std::uint64_t correlation) {
    session.add_flow(FlowSide::source, flow_key(process, correlation), correlation,
                     session.write(calls, at, 5, session.intern("launch call"), {}));
  };
  EventValues values;
  const auto kernel = [&](std::int64_t at, std::uint64_t process, std::uint64_t correlation) {
    values.clear();
    values.integer(KernelColumns::correlation, static_cast<std::int64_t>(correlation));
    session.add_flow(FlowSide::target, flow_key(process, correlation), correlation,
                     session.write(kernels, at, 10, session.intern("gemm"), values));
  };
  // The same correlation of two processes; a graph with two kernels; two kernels that are alike in all but their flow.
  kernel(300, 1, 4);
  call(40, 2, 4);
  call(30, 1, 4);
  kernel(200, 2, 4);
  kernel(500, 1, 9);
  kernel(520, 1, 9);
  call(60, 1, 9);
  kernel(700, 1, 11);
  kernel(700, 1, 12);
  call(71, 1, 12);
  call(70, 1, 11);
  call(80, 1, 13);  // started nothing
  REQUIRE(session.finish({.unjoined_sources = "calls that started nothing"}).ok());

  const std::vector<RecordedEvent> all = sink.events();
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  std::vector<EventId> targets;
  for (const RecordedEvent& flow : events_of_row(sink, "flows")) {
    const ChunkView chunk = sink.view(flow);
    const auto stored = [&](std::size_t column) { return chunk.stored(column, flow.row); };
    pairs.emplace_back(event_of_id(all, sink, stored(kFlowSource)).start,
                       event_of_id(all, sink, stored(kFlowTarget)).start);
    targets.push_back(stored(kFlowTarget));
  }
  std::sort(pairs.begin(), pairs.end());
  const std::vector<std::pair<std::int64_t, std::int64_t>> expected = {{30, 300}, {40, 200}, {60, 500},
                                                                       {60, 520}, {70, 700}, {71, 700}};
  CHECK(pairs == expected);
  std::sort(targets.begin(), targets.end());
  CHECK(std::unique(targets.begin(), targets.end()) == targets.end());
  REQUIRE(sink.qualities.size() == 1);
  CHECK(sink.qualities[0].detail == "calls that started nothing");
  CHECK(sink.qualities[0].count == 1);
}

// Ends are found by their ids where their track stayed in order, by a search where it did not, or where it was in order
// for a while: names say which event is which.
TEST_CASE("flows: each joins the two events that were written, in order or not, more of them than fit in memory") {
  RecordingSink sink;
  UnorderedSession session(sink);
  constexpr std::size_t kRows = 4;
  constexpr std::uint64_t kFlows = 100'000;  // two ends each: more than a batch of the sorter
  const std::uint32_t table = session.add_table(make_gpu_schema(GpuTable::nvtx));
  std::vector<std::uint32_t> rows;
  for (std::size_t row = 0; row < kRows; ++row) {
    rows.push_back(session.add_track(table, {.name = "row " + std::to_string(row)}));
  }
  std::mt19937_64 random(23);
  const auto write = [&](std::uint64_t flow, FlowSide side) {
    const std::size_t row = random() % kRows;
    auto start = static_cast<std::int64_t>(flow * 10);
    if (row == 1) start -= static_cast<std::int64_t>(random() % 500);                       // never in order
    if (row == 2 && flow > kFlows / 2) start -= static_cast<std::int64_t>(random() % 500);  // from then on
    // The name is the flow's number; many begin at one time and last as long.
    const StringId name = session.intern(std::to_string(flow));
    session.add_flow(side, flow_key(1, flow), flow, session.write(rows[row], start, 3, name, {}));
  };
  for (std::uint64_t flow = 0; flow < kFlows; ++flow) {
    write(flow, FlowSide::source);
    write(flow, FlowSide::target);
  }
  REQUIRE(session.finish({}).ok());

  std::map<std::pair<LaneNumber, std::uint64_t>, std::string> names;
  const std::vector<RecordedEvent> all = sink.events();
  for (const RecordedEvent& event : all) {
    names[{event.lane, sink.chunks[event.chunk].first_ordinal() + event.row}] = event.name;
  }
  std::set<std::uint64_t> ids;
  std::uint64_t wrong = 0;
  for (const RecordedEvent& flow : events_of_row(sink, "flows")) {
    const ChunkView chunk = sink.view(flow);
    const auto name_at = [&](std::size_t column) -> const std::string& {
      const EventId id = chunk.stored(column, flow.row);
      return names.at({lane_of(id), ordinal_of(id)});
    };
    const auto id = static_cast<std::uint64_t>(chunk.int64(kFlowId, flow.row));
    const std::string text = std::to_string(id);
    wrong += name_at(kFlowSource) == text && name_at(kFlowTarget) == text ? 0 : 1;
    ids.insert(id);
  }
  CHECK(wrong == 0);
  CHECK(ids.size() == kFlows);
}

TEST_CASE("rows stand by rank, device and name, those within another behind it, whatever the order they came in") {
  RecordingSink sink;
  UnorderedSession session(sink);
  const std::uint32_t table = session.add_table(make_gpu_schema(GpuTable::kernel));
  const std::uint32_t thread = session.add_group({.name = "thread 9"}, {kLaunchingRows, 0});
  (void)session.add_track(table, {.name = "thread 9 runtime"}, {kLaunchingRows, 1}, thread);
  (void)session.add_track(table, {.name = "stream 13", .device = "GPU 0"});
  (void)session.add_track(table, {.name = "stream 7", .device = "GPU 10"});
  (void)session.add_track(table, {.name = "thread 9 annotations"}, {kLaunchingRows, 0}, thread);
  (void)session.add_track(table, {.name = "stream 7", .device = "GPU 2"});
  const std::uint32_t late = session.add_track(table, {.name = "unnamed", .device = "GPU 0"});
  session.row(late).name = "stream 7";
  REQUIRE(session.finish({}).ok());

  std::vector<Track> rows;
  for (const auto& [number, track] : sink.tracks) rows.push_back(track);
  std::sort(rows.begin(), rows.end(), [](const Track& a, const Track& b) { return a.order < b.order; });
  std::vector<std::string> names;
  for (const Track& row : rows) names.push_back(row.device + "/" + row.name);
  CHECK(names == std::vector<std::string>{"GPU 0/stream 7", "GPU 0/stream 13", "GPU 2/stream 7", "GPU 10/stream 7",
                                          "/thread 9", "/thread 9 annotations", "/thread 9 runtime"});
  CHECK(rows[5].parent == rows[4].number);
  CHECK(rows[4].parent == kNone);
}

TEST_CASE("the session begins with its first event, and says what time that was") {
  RecordingSink sink;
  UnorderedSession session(sink);
  const std::uint32_t row = session.add_track(session.add_table(make_gpu_schema(GpuTable::kernel)), {.name = "stream"});
  session.write(row, 9'000, 2'000, session.intern("later"), {});
  session.write(row, 3'000, -1, session.intern("first"), {});
  REQUIRE(session.finish({.ticks_per_ns = 1000, .unix_ns = 1'700'000'000'000'000'000}).ok());
  CHECK(sink.meta.at("begin_unix_ns") == "1700000000000000003");
  REQUIRE(sink.clocks.size() == 1);
  const ClockMap clock(sink.clocks.begin()->second);
  CHECK(clock.to_ns(3'000) == 0);
  CHECK(clock.to_ns(9'000) == 6);
  REQUIRE(sink.qualities.size() == 1);
  CHECK(sink.qualities[0].kind == "negative_duration");
}

TEST_CASE("the time of day of a session's begin stays a date, whatever the file says it was") {
  RecordingSink sink;
  UnorderedSession session(sink);
  const std::uint32_t row = session.add_track(session.add_table(make_gpu_schema(GpuTable::kernel)), {.name = "stream"});
  session.write(row, 3'000, 1, session.intern("first"), {});
  REQUIRE(session.finish({.unix_ns = INT64_MAX}).ok());
  CHECK(sink.meta.at("begin_unix_ns") == std::to_string(INT64_MAX));
}

}  // namespace
}  // namespace accelscope::capture::sources::tracks
