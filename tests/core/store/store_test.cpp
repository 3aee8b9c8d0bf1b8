// The store end to end: what a source writes is what a snapshot shows, what a file keeps and what is found again.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <utility>

#include "core/chunk/chunk_view.h"
#include "core/chunk/session_writer.h"
#include "core/model/palette.h"
#include "core/model/time_range.h"
#include "core/store/store.h"
#include "tests/support/recording_sink.h"
#include "tests/support/wait.h"

using namespace accelscope;

namespace {

struct TemporaryFolder {
  TemporaryFolder()
      : path(std::filesystem::temp_directory_path() / ("accelscope-test-" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directory(path);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  [[nodiscard]] std::string file(const char* name) const { return (path / name).string(); }
  std::filesystem::path path;
};

struct Written {
  std::uint64_t events = 0;
  std::uint64_t busy = 0;
  std::uint64_t wait = 0;
};

Schema slice_schema() {
  Schema schema;
  schema.name = "instruction";
  schema.name_column = "opcode";
  schema.wait_names = {"WAIT"};
  schema.columns = {{.name = "line", .type = ColumnType::string, .role = Role::source_location},
                    {.name = "bytes", .type = ColumnType::uint64, .required = true}};
  return schema;
}

// Tracks of random events, some overlapping, and one counter.
Written write_session(EventSink& sink, std::uint32_t seed, int events_per_track) {
  SessionWriter writer(sink);
  Written written;
  std::mt19937_64 random(seed);
  const SchemaNumber slices = writer.add_schema(slice_schema());
  Schema counter;
  counter.name = "pending";
  counter.kind = EventKind::counter;
  counter.columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value}};
  const SchemaNumber counters = writer.add_schema(counter);
  const StringId names[] = {writer.intern("MATMUL"), writer.intern("WAIT"), writer.intern("ACTIVATE")};
  for (int t = 0; t < 3; ++t) {
    const TrackNumber track =
        writer.add_track({.name = "engine " + std::to_string(t), .kind = "engine", .schema = slices});
    std::int64_t at = 0;
    for (int i = 0; i < events_per_track; ++i) {
      at += static_cast<std::int64_t>(random() % 100);
      const auto duration = static_cast<std::int64_t>(random() % 150);
      const std::size_t name = random() % 3;
      Row row = writer.begin_event(track, at, duration, names[name]);
      row.string(0, writer.intern("kernel.py:" + std::to_string(random() % 30)));
      row.unsigned_integer(1, random() % 4096);
      ++written.events;
      (name == 1 ? written.wait : written.busy) += static_cast<std::uint64_t>(duration);
    }
  }
  const TrackNumber pending =
      writer.add_track({.name = "Pending DMA", .kind = "counter", .unit = "", .schema = counters});
  for (int i = 0; i < 300; ++i) writer.sample(pending, i * 10, static_cast<double>(i % 17));
  written.events += 300;
  writer.add_source_file("kernel.py", "x = 1\n");
  writer.set_meta("device", "nc0");
  writer.add_quality({"rows_skipped", 2, "two rows had no time"});
  writer.add_metric({"total_time", "overall", 0.5, "s", ""});
  CHECK(writer.finish().ok());
  return written;
}

// Sums of the roots of every slice tree: each event counts once.
Written sum_roots(const Snapshot& snapshot) {
  Written sum;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    sum.events += lane.event_count;
    for (std::size_t level = 0; level < kTreeLevels; ++level) {
      const std::size_t covered = level + 1 < kTreeLevels ? lane.tree.nodes[level + 1] * kTreeFanout : 0;
      for (std::size_t i = covered; lane.data->kind != EventKind::counter && i < lane.tree.nodes[level]; ++i) {
        sum.busy += lane.data->slices.node(level, i).busy;
        sum.wait += lane.data->slices.node(level, i).wait;
      }
    }
  }
  return sum;
}

void check_same(const Snapshot& snapshot, const Written& written) {
  const Written sum = sum_roots(snapshot);
  CHECK(snapshot.event_count == written.events);
  CHECK(sum.events == written.events);
  CHECK(sum.busy == written.busy);
  CHECK(sum.wait == written.wait);
}

Bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> text((std::istreambuf_iterator<char>(in)), {});
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

void write_file(const std::string& path, ByteView bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::unique_ptr<Store> new_store() {
  Result<std::unique_ptr<Store>> store = Store::create();
  REQUIRE(store.ok());
  return std::move(*store);
}

}  // namespace

TEST_CASE("overlapping events go to further sub-lanes and none is lost") {
  auto store = new_store();
  StoreSink sink(*store);
  const Written written = write_session(sink, 1, 5000);
  const auto snapshot = store->snapshot();
  check_same(*snapshot, written);
  REQUIRE(snapshot->tracks.size() == 4);
  CHECK(snapshot->tracks[0].lanes.size() > 1);
  for (const LaneSnapshot& lane : snapshot->lanes) {
    std::int64_t last = INT64_MIN;
    std::uint64_t ordinal = 0;
    bool sorted = true;
    for (std::uint32_t c = 0; c < lane.chunk_count; ++c) {
      const Result<Bytes> bytes = store->read_chunk(lane, c);
      REQUIRE(bytes.ok());
      const Result<ChunkView> view = ChunkView::parse(*bytes);
      REQUIRE(view.ok());
      sorted &= view->header().first_ordinal == ordinal;
      ordinal += view->count();
      BlockTimes times;
      for (std::uint32_t row = 0; row < view->count(); ++row) {
        if (row % kBlockEvents == 0) view->times(row / kBlockEvents, times);
        sorted &= times.begins[row % kBlockEvents] >= last;
        last = times.ends[row % kBlockEvents];
      }
    }
    CHECK(sorted);
  }
}

TEST_CASE("a marker that a file has beyond all time lies at the end of it") {
  auto store = new_store();
  REQUIRE(store->put_marker({.ts_ns = INT64_MIN, .end_ns = INT64_MAX, .name = "all"}).ok());
  REQUIRE(store->markers().size() == 1);
  CHECK(store->markers()[0].ts_ns == -kFarthestTime);
  CHECK(store->markers()[0].end_ns == kFarthestTime);
}

TEST_CASE("a saved session opens with everything it had") {
  const TemporaryFolder folder;
  auto store = new_store();
  StoreSink sink(*store);
  const Written written = write_session(sink, 2, 40000);
  const Result<std::int64_t> marker =
      store->put_marker({.id = 0, .set_name = "", .ts_ns = 77, .end_ns = 99, .name = "A", .note = "n"});
  REQUIRE(marker.ok());
  const Result<void> saved = store->save(folder.file("s.accel"));
  REQUIRE_MESSAGE(saved.ok(), (saved.ok() ? "" : saved.message()));
  Result<std::unique_ptr<Store>> opened = Store::open(folder.file("s.accel"));
  REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.message()));
  const auto snapshot = (*opened)->snapshot();
  check_same(*snapshot, written);
  CHECK(snapshot->begin_ns == store->snapshot()->begin_ns);
  CHECK(snapshot->end_ns == store->snapshot()->end_ns);
  REQUIRE(snapshot->sources.size() == 1);
  CHECK(snapshot->sources[0]->content == "x = 1\n");
  CHECK(snapshot->meta_value("device") == "nc0");
  REQUIRE(snapshot->quality.size() == 1);
  CHECK(snapshot->quality[0].count == 2);
  REQUIRE(snapshot->metrics.size() == 1);
  const std::vector<Marker> markers = (*opened)->markers();
  REQUIRE(markers.size() == 1);
  CHECK(markers[0].end_ns == 99);
  CHECK(snapshot->strings->find("MATMUL") != kNone);
  for (std::size_t i = 0; i < snapshot->lanes.size(); ++i) {
    CHECK((*opened)->read_chunk(snapshot->lanes[i], 0).ok());
    CHECK(snapshot->lanes[i].tree.nodes == store->snapshot()->lanes[i].tree.nodes);
  }
}

TEST_CASE("whoever waits for the database is told of, and what is known without it is not") {
  const TemporaryFolder folder;
  {
    auto store = std::move(Store::create()).value();
    StoreSink sink(*store);
    write_session(sink, 6, 100);
    CHECK(store->opened_from().empty());
    REQUIRE(store->save(folder.file("s.accel")).ok());
  }
  auto store = std::move(Store::open(folder.file("s.accel"))).value();
  int uses = 0;
  store->on_database_use([&uses] { ++uses; });
  CHECK(store->opened_from() == folder.file("s.accel"));
  CHECK_FALSE(store->is_read_only());
  const auto snapshot = store->snapshot();
  CHECK(uses == 0);
  auto used = [&, before = 0]() mutable { return std::exchange(before, uses) != uses; };
  CHECK(store->read_chunk(snapshot->lanes[0], 0).ok());
  CHECK(used());
  CHECK(store->markers().empty());
  CHECK(used());
  CHECK(store->put_marker({0, "", 1, std::nullopt, "a", ""}).ok());
  CHECK(used());
  CHECK(store->remove_marker(1).ok());
  CHECK(used());
  CHECK(store->set_overlay_value("key", "value").ok());
  CHECK(used());
  CHECK(store->overlay_value("key") == "value");
  CHECK(used());
  CHECK(store->status().path == folder.file("s.accel"));
  CHECK(used());
  REQUIRE(store->save(folder.file("t.accel")).ok());
  CHECK(used());
  REQUIRE(store->define(0, MetaEntry{"k", "v"}).ok());
  CHECK(used());
}

TEST_CASE("two sources keep their lanes, strings and ids apart and share equal names") {
  auto store = new_store();
  StoreSink first(*store);
  const Written a = write_session(first, 3, 500);
  StoreSink second(*store);
  const Written b = write_session(second, 4, 700);
  const auto snapshot = store->snapshot();
  CHECK(snapshot->event_count == a.events + b.events);
  CHECK(snapshot->tracks.size() == 8);
  CHECK(snapshot->strings->session_id(0, 1) == snapshot->strings->session_id(1, 1));
  CHECK(sum_roots(*snapshot).wait == a.wait + b.wait);
}

TEST_CASE("a chunk that comes twice is dropped and counted, a missing one is counted as lost") {
  test::RecordingSink recorder;
  SessionWriter writer(recorder);
  const TrackNumber track =
      writer.add_track({.name = "t", .kind = "engine", .schema = writer.add_schema({.name = "s"})});
  for (int c = 0; c < 3; ++c) {
    for (int i = 0; i < 10; ++i) writer.begin_event(track, c * 100 + i, 1, 0);
    writer.flush();
  }
  auto store = new_store();
  StoreSink sink(*store);
  for (const Definition& definition : recorder.definitions) CHECK(sink.define(definition).ok());
  CHECK(sink.append(recorder.chunks[0]).ok());
  CHECK(sink.append(recorder.chunks[0]).ok());
  CHECK(sink.append(recorder.chunks[2]).ok());
  CHECK(store->status().duplicates == 10);
  CHECK(store->status().lost == 10);
  CHECK(store->snapshot()->event_count == 20);

  SealedChunk flipped = recorder.chunks[1];
  flipped.bytes[flipped.bytes.size() / 2] ^= std::byte{1};
  auto other = new_store();
  StoreSink strict(*other);
  for (const Definition& definition : recorder.definitions) CHECK(strict.define(definition).ok());
  const Result<void> refused = strict.append(flipped);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.message().find("damaged") != std::string::npos);
  CHECK(other->snapshot()->event_count == 0);
}

TEST_CASE("a capture that passes its memory budget goes on in a file that nobody else sees") {
  const TemporaryFolder folder;
  StoreOptions options;
  options.memory_budget_bytes = 200'000;
  options.spill_directory = folder.path.string();
  Result<std::unique_ptr<Store>> store = Store::create(options);
  REQUIRE(store.ok());
  StoreSink sink(**store);
  const Written written = write_session(sink, 6, 60000);
  CHECK_FALSE((*store)->status().in_memory);
  check_same(*(*store)->snapshot(), written);
  const auto snapshot = (*store)->snapshot();
  for (const LaneSnapshot& lane : snapshot->lanes) CHECK((*store)->read_chunk(lane, lane.chunk_count - 1).ok());
  REQUIRE((*store)->save(folder.file("spilled.accel")).ok());
  Result<std::unique_ptr<Store>> opened = Store::open(folder.file("spilled.accel"));
  REQUIRE(opened.ok());
  check_same(*(*opened)->snapshot(), written);
  std::size_t there = 0;  // the saved file alone, also while the capture goes on
  for (const auto& entry : std::filesystem::directory_iterator(folder.path)) there += entry.is_regular_file() ? 1 : 0;
  CHECK(there == 1);
}

TEST_CASE("a memory budget whose folder cannot be written costs nothing, is told, and takes hold once it can") {
  const TemporaryFolder folder;
  StoreOptions options;
  options.memory_budget_bytes = 200'000;
  options.spill_directory = folder.file("not there yet");
  Result<std::unique_ptr<Store>> created = Store::create(options);
  REQUIRE(created.ok());
  Store& store = **created;
  std::uint64_t events = write_session(*std::make_unique<StoreSink>(store), 6, 60000).events;
  CHECK(store.status().in_memory);
  CHECK(store.snapshot()->event_count == events);
  const auto reported = [](const Snapshot& snapshot) {
    return std::count_if(snapshot.quality.begin(), snapshot.quality.end(),
                         [](const QualityEntry& entry) { return entry.kind == "spill_failed"; });
  };
  CHECK(reported(*store.snapshot()) == 1);

  std::filesystem::create_directory(options.spill_directory);
  const auto patience = std::chrono::steady_clock::now() + test::kPatience;
  while (store.status().in_memory && std::chrono::steady_clock::now() < patience) {
    events += write_session(*std::make_unique<StoreSink>(store), 7, 3000).events;
  }
  CHECK_FALSE(store.status().in_memory);
  for (int i = 0; i < 20; ++i) events += write_session(*std::make_unique<StoreSink>(store), 8, 3000).events;
  CHECK(store.snapshot()->event_count == events);
  const auto snapshot = store.snapshot();
  for (const LaneSnapshot& lane : snapshot->lanes) {
    for (std::uint32_t i = 0; i < lane.chunk_count; ++i) REQUIRE(store.read_chunk(lane, i).ok());
  }
  REQUIRE(store.save(folder.file("saved.accel")).ok());
  Result<std::unique_ptr<Store>> opened = Store::open(folder.file("saved.accel"));
  REQUIRE(opened.ok());
  CHECK((*opened)->snapshot()->event_count == events);
  CHECK(reported(*(*opened)->snapshot()) == 1);
}

TEST_CASE("what was lost or came twice while a capture ran is told in the saved file as well") {
  const TemporaryFolder folder;
  test::RecordingSink recorder;
  write_session(recorder, 9, 40000);
  auto store = new_store();
  StoreSink sink(*store);
  for (const Definition& definition : recorder.definitions) CHECK(sink.define(definition).ok());
  for (std::size_t i = 0; i < recorder.chunks.size(); ++i) {
    if (i == 1) continue;
    CHECK(sink.append(recorder.chunks[i]).ok());
    if (i == 2) CHECK(sink.append(recorder.chunks[i]).ok());
  }
  const auto counts = [](const Store& of) {
    std::map<std::string, std::uint64_t> found;
    for (const QualityEntry& entry : of.snapshot()->quality) found[std::string(entry.kind)] += entry.count;
    return found;
  };
  CHECK(counts(*store)["lost_events"] > 0);
  CHECK(counts(*store)["duplicate_events"] > 0);
  REQUIRE(store->save(folder.file("holes.accel")).ok());
  Result<std::unique_ptr<Store>> opened = Store::open(folder.file("holes.accel"));
  REQUIRE(opened.ok());
  CHECK(counts(**opened) == counts(*store));
}

TEST_CASE("foreign, empty, missing and cut files are refused with what to do") {
  const TemporaryFolder folder;
  const auto message = [&](const char* name) {
    const Result<std::unique_ptr<Store>> opened = Store::open(folder.file(name));
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.message().find(name) != std::string::npos);
    return opened.message();
  };
  CHECK(message("missing.accel").find("check the path") != std::string::npos);
  write_file(folder.file("empty.accel"), {});
  CHECK(message("empty.accel").find("empty") != std::string::npos);
  const std::string prose(5000, 'x');
  write_file(folder.file("prose.accel"), std::as_bytes(std::span(prose)));
  CHECK(message("prose.accel").find("not a session") != std::string::npos);

  auto store = new_store();
  StoreSink sink(*store);
  write_session(sink, 7, 20000);
  REQUIRE(store->save(folder.file("whole.accel")).ok());
  Bytes bytes = read_file(folder.file("whole.accel"));
  bytes.resize(bytes.size() * 9 / 10);
  write_file(folder.file("cut.accel"), bytes);
  CHECK(message("cut.accel").find("salvage") != std::string::npos);
}

TEST_CASE("a session in a read-only file keeps its markers beside it") {
  const TemporaryFolder folder;
  auto store = new_store();
  StoreSink sink(*store);
  write_session(sink, 8, 100);
  const std::string path = folder.file("ro.accel");
  REQUIRE(store->save(path).ok());
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  {
    Result<std::unique_ptr<Store>> opened = Store::open(path);
    REQUIRE(opened.ok());
    if (!(*opened)->status().read_only) return;  // a superuser may write anything
    REQUIRE((*opened)->put_marker({.ts_ns = 5, .name = "kept"}).ok());
  }
  Result<std::unique_ptr<Store>> again = Store::open(path);
  REQUIRE(again.ok());
  REQUIRE((*again)->markers().size() == 1);
}

TEST_CASE("saving into a folder that does not exist says so and loses nothing") {
  auto store = new_store();
  StoreSink sink(*store);
  const Written written = write_session(sink, 9, 100);
  const Result<void> saved = store->save("/nonexistent-folder/s.accel");
  REQUIRE_FALSE(saved.ok());
  CHECK(saved.message().find("/nonexistent-folder/s.accel") != std::string::npos);
  check_same(*store->snapshot(), written);
}

TEST_CASE("a cut session file gives back every whole chunk that is left in it") {
  const TemporaryFolder folder;
  auto store = new_store();
  StoreSink sink(*store);
  const Written written = write_session(sink, 10, 60000);
  REQUIRE(store->save(folder.file("whole.accel")).ok());
  const Bytes whole = read_file(folder.file("whole.accel"));
  const auto original = store->snapshot();
  for (const unsigned percent : {99U, 75U, 40U}) {
    Bytes bytes = whole;
    bytes.resize(whole.size() * percent / 100);
    write_file(folder.file("cut.accel"), bytes);
    SalvageReport report;
    Result<std::unique_ptr<Store>> salvaged = salvage_session(folder.file("cut.accel"), report);
    REQUIRE_MESSAGE(salvaged.ok(), (salvaged.ok() ? "" : salvaged.message()));
    const auto snapshot = (*salvaged)->snapshot();
    CHECK(snapshot->event_count == report.events);
    // Chunks lie one after another, so about the share of the file that is left must come back.
    CHECK(report.events * 100 > written.events * (percent > 20 ? percent - 20 : 0));
    CHECK(report.events <= written.events);
    for (const LaneSnapshot& lane : snapshot->lanes) {
      const LaneSnapshot* known = original->find_lane(lane.number());
      REQUIRE(known != nullptr);
      if (lane.chunk_count == 0) continue;
      const Result<Bytes> a = (*salvaged)->read_chunk(lane, 0);
      const Result<Bytes> b = store->read_chunk(*known, known->chunk_of_ordinal(lane.chunk(0).first_ordinal));
      REQUIRE(a.ok());
      REQUIRE(b.ok());
      CHECK(*a == *b);
    }
  }
}

TEST_CASE("flipped bytes in a session file cost at most the chunks they hit") {
  const TemporaryFolder folder;
  auto store = new_store();
  StoreSink sink(*store);
  const Written written = write_session(sink, 11, 60000);
  REQUIRE(store->save(folder.file("s.accel")).ok());
  const Bytes whole = read_file(folder.file("s.accel"));
  std::mt19937_64 random(12);
  for (int round = 0; round < 10; ++round) {
    Bytes bytes = whole;
    for (int i = 0; i < 3; ++i) bytes[100 + random() % (bytes.size() - 100)] ^= std::byte{0x41};
    write_file(folder.file("flipped.accel"), bytes);
    SalvageReport report;
    const Result<std::unique_ptr<Store>> salvaged = salvage_session(folder.file("flipped.accel"), report);
    if (!salvaged) {
      CHECK(salvaged.message().find("flipped.accel") != std::string::npos);
      continue;
    }
    CHECK((*salvaged)->snapshot()->event_count == report.events);
    CHECK(report.events <= written.events);
    CHECK((report.events == written.events || !report.missing.empty() || (*salvaged)->status().lost > 0));
    const Result<std::unique_ptr<Store>> opened = Store::open(folder.file("flipped.accel"));
    if (opened) CHECK((*opened)->snapshot()->event_count <= written.events);
  }
}

TEST_CASE("a file without a single whole chunk says that nothing is left") {
  const TemporaryFolder folder;
  const std::string noise(100000, '\x0d');
  write_file(folder.file("noise.accel"), std::as_bytes(std::span(noise)));
  SalvageReport report;
  const Result<std::unique_ptr<Store>> salvaged = salvage_session(folder.file("noise.accel"), report);
  REQUIRE_FALSE(salvaged.ok());
  CHECK(salvaged.message().find("nothing can be salvaged") != std::string::npos);
}
