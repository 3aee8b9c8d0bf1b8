// A session of many short chunks is saved with them merged: every event, value, id and figure is what it was.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "core/chunk/session_writer.h"
#include "core/database/chunk_rows.h"
#include "core/database/database.h"
#include "core/lod/range_statistics.h"
#include "core/store/store.h"
#include "tests/core/store/own_folder.h"
#include "tests/support/recording_sink.h"
#include "tests/support/sanitized.h"

using namespace accelscope;

namespace {

Schema every_type() {
  Schema schema;
  schema.name = "instruction";
  schema.wait_names = {"WAIT"};
  schema.columns = {{.name = "line", .type = ColumnType::string, .role = Role::source_location},
                    {.name = "bytes", .type = ColumnType::uint64, .required = true},
                    {.name = "delta", .type = ColumnType::int64},
                    {.name = "share", .type = ColumnType::float64},
                    {.name = "whole", .type = ColumnType::float64},
                    {.name = "operands", .type = ColumnType::text},
                    {.name = "id", .type = ColumnType::uint64},
                    {.name = "same_id", .type = ColumnType::uint64},
                    {.name = "flag", .type = ColumnType::boolean},
                    {.name = "never", .type = ColumnType::int64}};
  return schema;
}

// Live sources seal what came in 100 ms: here after some tens or hundreds of events of all tracks.
void write_slowly(EventSink& sink, std::uint32_t seed, int events) {
  std::mt19937_64 random(seed);
  const auto chance = [&](unsigned one_in) { return random() % one_in == 0; };
  SessionWriter writer(sink);
  const SchemaNumber slices = writer.add_schema(every_type());
  Schema counter;
  counter.name = "pending";
  counter.kind = EventKind::counter;
  counter.columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value}};
  const SchemaNumber counters = writer.add_schema(counter);
  Clock clock;
  clock.name = "cycles";
  clock.ticks_per_ns = 1.4;
  clock.anchors = {{1000, 500}};
  const ClockNumber cycles = writer.add_clock(clock);
  std::vector<TrackNumber> tracks;
  for (int t = 0; t < 4; ++t) {
    tracks.push_back(writer.add_track(
        {.name = "engine " + std::to_string(t), .kind = "engine", .schema = slices, .clock = t == 1 ? cycles : kNone}));
  }
  const TrackNumber pending = writer.add_track({.name = "Pending", .kind = "counter", .schema = counters});
  std::vector<std::int64_t> at(tracks.size(), -500);
  for (int i = 0; i < events; ++i) {
    const std::size_t track = random() % tracks.size();
    at[track] += static_cast<std::int64_t>(random() % 100);
    const auto duration = chance(9) ? 0 : static_cast<std::int64_t>(random() % 150);  // now and then overlapping
    const std::uint64_t name = random() % 40;
    Row row = writer.begin_event(tracks[track], at[track], duration,
                                 writer.intern(name == 0 ? "WAIT" : "op" + std::to_string(name)));
    if (!chance(3)) row.string(0, writer.intern("kernel.py:" + std::to_string(random() % 30)));
    row.unsigned_integer(1, random() % 4096);
    if (!chance(4)) row.integer(2, static_cast<std::int64_t>(random()));
    if (!chance(4)) row.real(3, static_cast<double>(random() % 1000) / 7.0);
    if (!chance(4)) row.real(4, static_cast<double>(random() % 1000));
    if (!chance(4)) row.text(5, chance(5) ? "" : "dst=0x" + std::to_string(random() % 300));
    row.unsigned_integer(6, random());
    if (chance(2)) row.boolean(8, chance(2));
    if (chance(3)) writer.sample(pending, i * 7, static_cast<double>(random() % 17));
    if (chance(400)) writer.flush();
  }
  CHECK(writer.finish().ok());
}

// A line for each event: its id, times, name and values.
std::map<EventId, std::string> all_events(const Store& store) {
  std::map<EventId, std::string> events;
  const auto snapshot = store.snapshot();
  for (const LaneSnapshot& lane : snapshot->lanes) {
    const std::uint32_t scope = scope_of(lane.number());
    for (std::uint32_t c = 0; c < lane.chunk_count; ++c) {
      const Result<Bytes> bytes = store.read_chunk(lane, c);
      REQUIRE(bytes.ok());
      const Result<ChunkView> view = ChunkView::parse(*bytes);
      REQUIRE(view.ok());
      CHECK(view->verify_checksums().ok());
      for (std::uint32_t row = 0; row < view->count(); ++row) {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        view->event_times(row, begin, end);
        std::string line = std::to_string(begin) + " " + std::to_string(end) + " ";
        line += snapshot->strings->text(snapshot->strings->session_id(scope, view->name(row)));
        for (std::size_t column = 0; column < lane.schema->columns.size(); ++column) {
          const ColumnType type = lane.schema->columns[column].type;
          line += "|";
          if (!view->has_value(column, row)) continue;
          if (type == ColumnType::text) {
            line += "'" + std::string(view->text(column, row)) + "'";
          } else if (type == ColumnType::float64) {
            line += std::to_string(std::bit_cast<std::uint64_t>(view->float64(column, row)));
          } else {
            line += std::to_string(view->stored(column, row));
          }
        }
        const EventId id = make_event_id(lane.number(), lane.chunk(c).first_ordinal + row);
        CHECK(events.emplace(id, std::move(line)).second);
      }
    }
  }
  return events;
}

std::vector<std::string> statistics_of(const Store& store, std::uint32_t seed) {
  const auto snapshot = store.snapshot();
  WorkerPool pool{2};
  TaskControl control;
  const QueryContext query{store, snapshot, pool, control};
  std::vector<std::string> lines;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 40; ++i) {
    const auto length = static_cast<std::uint64_t>(snapshot->end_ns - snapshot->begin_ns);
    TimeRange range{snapshot->begin_ns + static_cast<std::int64_t>(random() % length), 0};
    range.end_ns = range.begin_ns + static_cast<std::int64_t>(random() % length);
    if (i == 0) range = {snapshot->begin_ns, snapshot->end_ns + 1};
    LaneIndices lanes;
    for (std::uint32_t lane = 0; lane < snapshot->lanes.size(); ++lane) lanes.push_back(lane);
    const auto names = lod::name_statistics(query, lanes, range);
    REQUIRE(names.ok());
    std::string line = std::to_string(names->event_count) + " " + std::to_string(names->time_ns);
    for (const lod::NameStatistic& each : names->names) {
      line += " " + std::string(snapshot->strings->text(each.name)) + ":" + std::to_string(each.count) + ":" +
              std::to_string(each.time_ns);
    }
    for (const std::uint32_t lane : lanes) {
      const auto share = lod::lane_share(store, *snapshot, lane, range);
      REQUIRE(share.ok());
      line += " " + std::to_string(share->event_count) + "," + std::to_string(share->busy_ns) + "," +
              std::to_string(share->wait_ns);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::size_t different(const std::map<EventId, std::string>& a, const std::map<EventId, std::string>& b) {
  std::size_t count = a.size() == b.size() ? 0 : 1;
  for (const auto& [id, line] : a) {
    const auto other = b.find(id);
    count += other == b.end() || other->second != line;
  }
  return count;
}

std::uint32_t chunks_of(const Store& store) {
  std::uint32_t chunks = 0;
  for (const LaneSnapshot& lane : store.snapshot()->lanes) chunks += lane.chunk_count;
  return chunks;
}

std::unique_ptr<Store> slow_session(std::uint32_t seed, int events) {
  Result<std::unique_ptr<Store>> store = Store::create();
  REQUIRE(store.ok());
  for (std::uint32_t source = 0; source < 2; ++source) {
    StoreSink sink(**store);
    write_slowly(sink, seed + source, events);
  }
  return std::move(*store);
}

std::unique_ptr<Store> reopened(const std::string& path) {
  Result<std::unique_ptr<Store>> opened = Store::open(path);
  REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.message()));
  return std::move(*opened);
}

}  // namespace

TEST_CASE("a slow capture is saved in long chunks, and every event, value, id and statistic is what it was") {
  const OwnFolder folder;
  const std::uint32_t last = test::sanitized() ? 1 : 3;  // sanitizers make each take a quarter of a minute
  for (std::uint32_t seed = 1; seed <= last; ++seed) {
    const auto store = slow_session(seed, 30'000);
    CHECK(store->put_marker({.ts_ns = 5, .name = "here"}).ok());
    CHECK(store->set_overlay_value("view", "zoomed").ok());
    const Result<void> saved = store->save(folder.file("slow.accel"));
    REQUIRE_MESSAGE(saved.ok(), (saved.ok() ? "" : saved.message()));
    const auto opened = reopened(folder.file("slow.accel"));
    CHECK(chunks_of(*opened) * 4 < chunks_of(*store));
    CHECK(opened->snapshot()->event_count == store->snapshot()->event_count);
    CHECK(opened->snapshot()->quality.size() == store->snapshot()->quality.size());
    CHECK(different(all_events(*store), all_events(*opened)) == 0);
    CHECK(statistics_of(*store, seed) == statistics_of(*opened, seed));
    REQUIRE(opened->markers().size() == 1);
    CHECK(opened->markers()[0].name == "here");
    CHECK(opened->overlay_value("view") == "zoomed");
    // Chunks that are long already are copied as they are.
    REQUIRE(opened->save(folder.file("again.accel")).ok());
    CHECK(different(all_events(*store), all_events(*reopened(folder.file("again.accel")))) == 0);
  }
}

TEST_CASE("a hole in a lane's events stays a hole, and a damaged file of merged chunks gives back the whole ones") {
  const OwnFolder folder;
  test::RecordingSink recorder;
  write_slowly(recorder, 7, 20'000);
  Result<std::unique_ptr<Store>> store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  for (const Definition& definition : recorder.definitions) CHECK(sink.define(definition).ok());
  std::mt19937_64 random(8);
  for (const SealedChunk& chunk : recorder.chunks) {
    if (random() % 10 != 0) CHECK(sink.append(chunk).ok());
  }
  CHECK((*store)->status().lost > 0);
  REQUIRE((*store)->save(folder.file("holes.accel")).ok());
  const auto events = all_events(**store);
  CHECK(different(events, all_events(*reopened(folder.file("holes.accel")))) == 0);

  // Cut: what is left is salvaged, with the same ids and values.
  std::filesystem::resize_file(folder.file("holes.accel"), std::filesystem::file_size(folder.file("holes.accel")) / 2);
  SalvageReport report;
  const Result<std::unique_ptr<Store>> salvaged = salvage_session(folder.file("holes.accel"), report);
  REQUIRE_MESSAGE(salvaged.ok(), (salvaged.ok() ? "" : salvaged.message()));
  const auto left = all_events(**salvaged);
  CHECK(left.size() > events.size() / 10);
  std::size_t wrong = 0;
  for (const auto& [id, line] : left) wrong += events.at(id) != line;
  CHECK(wrong == 0);
}

TEST_CASE("a session with a damaged chunk is saved as it is, and one of a newer version keeps what it has beside") {
  const OwnFolder folder;
  // A file of short chunks, which is changed beneath the session that is opened from it.
  const auto saved = [&](const char* name, const char* change) {
    const std::string given = folder.file("given-") + name;
    const Result<std::unique_ptr<Store>> empty = Store::create();
    REQUIRE(empty.ok());
    REQUIRE((*empty)->save(given).ok());
    test::RecordingSink recorder;
    write_slowly(recorder, 12, 20'000);
    {
      Result<std::unique_ptr<Database>> file = Database::open(given, OpenMode::read_write);
      REQUIRE(file.ok());
      REQUIRE((*file)->execute("BEGIN").ok());
      Result<Statement> define = (*file)->prepare("INSERT INTO definition(payload) VALUES(?)");
      Result<Statement> insert = (*file)->prepare(kInsertChunk);
      REQUIRE((define.ok() && insert.ok()));
      for (const Definition& definition : recorder.definitions) {
        const Bytes record = encode(definition, 0);
        REQUIRE(define->bind(1, ByteView(record)).run().ok());
      }
      for (const SealedChunk& chunk : recorder.chunks) {
        REQUIRE(insert_chunk_row(*insert, 0, *read_chunk_header(chunk.bytes), chunk.bytes).ok());
      }
      REQUIRE((*file)->execute("COMMIT").ok());
    }
    const Result<std::unique_ptr<Store>> opened_session = Store::open(given);
    REQUIRE(opened_session.ok());
    {
      Result<std::unique_ptr<Database>> file = Database::open(given, OpenMode::read_write);
      REQUIRE(file.ok());
      const Result<void> changed = (*file)->execute(change);
      REQUIRE_MESSAGE(changed.ok(), (changed.ok() ? "" : changed.message()));
    }
    const Result<void> done = (*opened_session)->save(folder.file(name));
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.message()));
    const auto opened = reopened(folder.file(name));
    CHECK(opened->snapshot()->event_count == (*opened_session)->snapshot()->event_count);
    return std::pair(chunks_of(**opened_session), chunks_of(*opened));
  };
  const auto [whole, merged] = saved("whole.accel", "SELECT 1");
  CHECK(merged * 4 < whole);
  const auto [before, after] = saved("damaged.accel",
                                     "UPDATE chunk SET payload = CAST(substr(payload, 1, 200) || x'ff00ff00' || "
                                     "substr(payload, 205) AS BLOB) WHERE id = 7");
  CHECK(after == before);
  const auto [all, retained] = saved("newer.accel", "CREATE TABLE later(x); INSERT INTO later VALUES(42)");
  CHECK(retained == all);
  Result<std::unique_ptr<Database>> file = Database::open(folder.file("newer.accel"), OpenMode::read_only);
  REQUIRE(file.ok());
  CHECK((*file)->integer("SELECT x FROM later").value() == 42);
}

TEST_CASE("saving a slow capture can be cancelled, and goes on while events come in") {
  const OwnFolder folder;
  const auto store = slow_session(21, 20'000);
  int asked = 0;
  const Result<void> cancelled = store->save(folder.file("slow.accel"), [&](std::uint64_t done, std::uint64_t total) {
    CHECK(done <= total);
    return ++asked < 20;
  });
  REQUIRE_FALSE(cancelled.ok());
  CHECK(cancelled.message().find("cancelled") != std::string::npos);
  CHECK(std::filesystem::is_empty(folder.path()));

  // A third source writes from within the progress of a save, which is of what was there when it began.
  const auto there = all_events(*store);
  bool written = false;
  const Result<void> saved = store->save(folder.file("slow.accel"), [&](std::uint64_t, std::uint64_t) {
    if (!written) {
      written = true;
      StoreSink sink(*store);
      write_slowly(sink, 23, 5'000);
    }
    return true;
  });
  REQUIRE_MESSAGE(saved.ok(), (saved.ok() ? "" : saved.message()));
  CHECK(all_events(*store).size() > there.size());
  CHECK(different(there, all_events(*reopened(folder.file("slow.accel")))) == 0);
}
