// A small random session for tests of queries, and all its events as plain rows to check answers against: two
// sources, three kinds of clocks, lanes of many and few names, instants, gaps, coinciding edges, partial chunks.
#pragma once

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "core/chunk/session_writer.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/event_reader.h"

namespace accelscope {

struct PlainEvent {
  std::uint32_t lane = 0;  // index
  EventId id = kNoEvent;
  std::int64_t begin_ticks = 0, end_ticks = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  StringId name = 0;
  std::string name_text;
  std::string location;     // "" if it has none
  std::int64_t bytes = -1;  // -1 if it has none
  bool waits = false;
};

class RandomSession {
 public:
  explicit RandomSession(std::uint32_t seed, int events_per_track = 40'000) : random_(seed) {
    auto created = Store::create();
    REQUIRE(created.ok());
    store = std::move(created).value();
    for (int source = 0; source < 2; ++source) write_source(source, events_per_track);
    snapshot = store->snapshot();
    read_back();
  }

  [[nodiscard]] QueryContext context() { return {*store, snapshot, pool, control}; }
  [[nodiscard]] TimeRange random_range() {
    const auto length = static_cast<std::uint64_t>(snapshot->end_ns - snapshot->begin_ns + 200);
    // Now and then an edge is exactly where an event begins or ends.
    const auto edge = [&] {
      const PlainEvent& event = events[random_() % events.size()];
      const std::uint64_t kind = random_() % 4;
      if (kind == 0) return event.begin_ns;
      if (kind == 1) return event.end_ns;
      return snapshot->begin_ns - 100 + static_cast<std::int64_t>(random_() % length);
    };
    const std::int64_t a = edge();
    const std::int64_t b = random_() % 8 == 0 ? a + static_cast<std::int64_t>(random_() % 50) : edge();
    return {std::min(a, b), std::max(a, b)};
  }

  std::unique_ptr<Store> store;
  std::shared_ptr<const Snapshot> snapshot;
  WorkerPool pool{2};
  TaskControl control;
  std::vector<PlainEvent> events;  // by lane, then ordinal

 private:
  void write_source(int source, int events_per_track) {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    Schema schema;
    schema.name = source == 0 ? "instruction" : "dma";
    schema.name_column = "opcode";
    schema.wait_names = {"WAIT"};
    schema.columns = {{.name = "line", .type = ColumnType::string, .role = Role::source_location},
                      {.name = "bytes",
                       .type = source == 0 ? ColumnType::int64 : ColumnType::uint64,
                       .unit = "B",
                       .role = Role::bytes}};
    if (source == 1) schema.columns.push_back({.name = "note", .type = ColumnType::text});
    const SchemaNumber number = writer.add_schema(schema);
    Clock fast;
    fast.name = "cycles";
    fast.ticks_per_ns = 1.4;
    fast.anchors = {{1000, 500}};
    const ClockNumber cycles = writer.add_clock(fast);
    Clock bent;
    bent.name = "drifting";
    for (std::int64_t i = 0; i < 20; ++i) bent.anchors.push_back({i * 500'000, i * 1'000'000 + (i % 3) * 20});
    const ClockNumber drifting = writer.add_clock(bent);
    // So many names that chunks keep totals, or only stretches of several chunks do, or short chunks do not.
    const int name_counts[] = {5, 60, 600};
    const ClockNumber clocks[] = {kNone, cycles, drifting};
    for (int t = 0; t < 3; ++t) {
      const TrackNumber track = writer.add_track({.name = "track " + std::to_string(t),
                                                  .kind = "engine",
                                                  .schema = number,
                                                  .clock = clocks[(t + source) % 3]});
      const int count = t == 0 ? events_per_track * 4 : events_per_track;
      write_track(writer, track, source, name_counts[(t + source) % 3], count);
    }
    CHECK(writer.finish().ok());
  }

  void write_track(SessionWriter& writer, TrackNumber track, int source, int names, int count) {
    std::int64_t at = static_cast<std::int64_t>(random_() % 1000);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t gap = random_() % 10;
      at += gap < 5 ? 0 : static_cast<std::int64_t>(gap < 9 ? random_() % 30 : random_() % 300);
      const auto duration = static_cast<std::int64_t>(random_() % 8 == 0 ? 0 : random_() % 40);
      const std::uint64_t name = random_() % static_cast<std::uint64_t>(names);
      const std::string text = name == 0 ? "WAIT" : (name % 3 == 1 ? "matmul_" : "Copy.") + std::to_string(name);
      Row row = writer.begin_event(track, at, duration, writer.intern(text));
      if (random_() % 4 != 0) row.string(0, writer.intern("dir/kernel.py:" + std::to_string(random_() % 20)));
      if (random_() % 3 != 0) {
        if (source == 0) row.integer(1, static_cast<std::int64_t>(random_() % 10'000));
        if (source == 1) row.unsigned_integer(1, random_() % 10'000);
      }
      at += duration;
      if (random_() % 9000 == 0) writer.flush();
    }
  }

  // With nothing but the chunk decoder.
  void read_back() {
    for (std::uint32_t lane_index = 0; lane_index < snapshot->lanes.size(); ++lane_index) {
      const LaneSnapshot& lane = snapshot->lanes[lane_index];
      for (std::uint32_t c = 0; c < lane.chunk_count; ++c) {
        const auto bytes = store->read_chunk(lane, c);
        REQUIRE(bytes.ok());
        const auto view = ChunkView::parse(*bytes);
        REQUIRE(view.ok());
        for (std::uint32_t row = 0; row < view->count(); ++row) add_row(lane_index, lane, c, *view, row);
      }
    }
  }

  void add_row(std::uint32_t lane_index, const LaneSnapshot& lane, std::uint32_t chunk, const ChunkView& view,
               std::uint32_t row) {
    const std::uint32_t scope = scope_of(lane.number());
    PlainEvent event;
    event.lane = lane_index;
    event.id = make_event_id(lane.number(), lane.chunk(chunk).first_ordinal + row);
    view.event_times(row, event.begin_ticks, event.end_ticks);
    event.begin_ns = lane.clock->to_ns(event.begin_ticks);
    event.end_ns = lane.clock->to_ns(event.end_ticks);
    event.name = snapshot->strings->session_id(scope, view.name(row));
    event.name_text = snapshot->strings->text(event.name);
    event.waits = event.name_text == "WAIT";
    if (view.has_value(0, row)) {
      const auto local = static_cast<std::uint32_t>(view.uint64(0, row));
      event.location = snapshot->strings->text(snapshot->strings->session_id(scope, local));
    }
    if (view.has_value(1, row)) {
      const bool is_signed = lane.schema->columns[1].type == ColumnType::int64;
      event.bytes = is_signed ? view.int64(1, row) : static_cast<std::int64_t>(view.uint64(1, row));
    }
    events.push_back(std::move(event));
  }

  std::mt19937_64 random_;
};

}  // namespace accelscope
