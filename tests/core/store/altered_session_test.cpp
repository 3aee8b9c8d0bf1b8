// A session file that somebody altered, with every checksum mended: what it says beside its events is not believed.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "tests/core/store/own_folder.h"
#include "tests/core/store/session_changes.h"

using namespace accelscope;

namespace {

struct NameSums {
  std::uint64_t events = 0;
  std::int64_t time_ns = 0;
  std::vector<std::pair<std::string, std::uint64_t>> names;
  bool operator==(const NameSums&) const = default;
};

NameSums sums_of(const Store& store, const TimeRange& range = {}) {
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{store, store.snapshot(), pool, control};
  const Result<lod::NameStatistics> found = lod::name_statistics(query, all_lanes(*query.snapshot), range);
  REQUIRE_MESSAGE(found.ok(), found.message());
  NameSums sums{found->event_count, found->time_ns, {}};
  for (const lod::NameStatistic& each : found->names) {
    sums.names.emplace_back(query.snapshot->strings->text(each.name), each.count);
  }
  std::sort(sums.names.begin(), sums.names.end());
  return sums;
}

std::uint64_t said(const Store& store, std::string_view kind) {
  std::uint64_t count = 0;
  for (const QualityEntry& entry : store.snapshot()->quality) count += entry.kind == kind ? entry.count : 0;
  return count;
}

// Changes the content of all rows of one part and level of the index, and mends their checksums.
void change_part(const std::string& path, std::int64_t part, std::int64_t level,
                 const std::function<void(Bytes&)>& change) {
  const auto database = std::move(Database::open(path, OpenMode::read_write)).value();
  auto select = database->prepare("SELECT rowid, payload FROM lane_index WHERE part = ? AND level = ?");
  REQUIRE(select.ok());
  select->bind(1, part).bind(2, level);
  std::vector<std::pair<std::int64_t, Bytes>> rows;
  for (Result<bool> row = select->step(); row && *row; row = select->step()) {
    const ByteView sealed = select->blob(1);
    rows.emplace_back(select->integer(0), Bytes(sealed.begin(), sealed.end() - sizeof(std::uint64_t)));
  }
  REQUIRE_FALSE(rows.empty());
  auto update = database->prepare("UPDATE lane_index SET payload = ? WHERE rowid = ?");
  REQUIRE(update.ok());
  for (auto& [row, content] : rows) {
    change(content);
    append_checksum(content);
    REQUIRE(update->run(ByteView(content), row).ok());
  }
}

void add_to_word(Bytes& bytes, std::size_t at, std::uint64_t value) {
  REQUIRE(bytes.size() >= at + sizeof value);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  word += value;
  std::memcpy(bytes.data() + at, &word, sizeof word);
}

}  // namespace

TEST_CASE("an altered index is made again and said so, and every sum is right") {
  const OwnFolder folder;
  const std::string sound = folder.file("sound.accel");
  REQUIRE(test::save_changeable_session(sound).ok());
  NameSums right;
  {
    const auto store = std::move(Store::open(sound)).value();
    right = sums_of(*store);
    CHECK(said(*store, "index_rebuilt") == 0);
    REQUIRE(right.events > 1500);
  }
  constexpr std::int64_t kPlaces = 0, kTree = 1, kTotals = 2;
  struct Forgery {
    const char* what;
    std::int64_t part;
    std::function<void(Bytes&)> change;
  };
  const std::vector<Forgery> forgeries = {
      {"a name that the session does not have", kTotals,
       [](Bytes& bytes) {
         const std::uint32_t name = 0x00f00000;
         if (bytes.size() >= 32) std::memcpy(bytes.data() + 16, &name, sizeof name);
       }},
      {"more time of a name", kTotals,
       [](Bytes& bytes) {
         if (bytes.size() >= 32) add_to_word(bytes, 24, 1000);
       }},
      {"more events of a stretch", kTotals, [](Bytes& bytes) { add_to_word(bytes, 8, 5); }},
      {"a sum that is not kept", kTotals, [](Bytes& bytes) { bytes[4] ^= std::byte{1}; }},
      {"a chunk of another row", kPlaces, [](Bytes& bytes) { add_to_word(bytes, 0, 1); }},
      {"an ordinal", kPlaces, [](Bytes& bytes) { add_to_word(bytes, 8, std::uint64_t{1} << 39); }},
      {"a leaf", kPlaces, [](Bytes& bytes) { add_to_word(bytes, 16, 0x00f00000); }},
      {"a count", kPlaces, [](Bytes& bytes) { add_to_word(bytes, 16, std::uint64_t{1} << 32); }},
      {"a begin", kPlaces, [](Bytes& bytes) { add_to_word(bytes, 24, ~std::uint64_t{0}); }},
      {"an end", kPlaces, [](Bytes& bytes) { add_to_word(bytes, 32, 1); }},
      {"a leaf that begins before its chunk", kTree, [](Bytes& bytes) { add_to_word(bytes, 0, ~std::uint64_t{999}); }},
      {"a leaf that ends after its chunk", kTree,
       [](Bytes& bytes) { add_to_word(bytes, bytes.size() - 32, std::uint64_t{1} << 40); }},
      {"a leaf too many", kTree,
       [](Bytes& bytes) {
         const Bytes last(bytes.end() - 40, bytes.end());
         bytes.insert(bytes.end(), last.begin(), last.end());
       }},
      {"no content at all", kTree, [](Bytes& bytes) { bytes.clear(); }},
  };
  for (const Forgery& forgery : forgeries) {
    CAPTURE(forgery.what);
    const std::string path = folder.file("altered.accel");
    std::filesystem::copy_file(sound, path, std::filesystem::copy_options::overwrite_existing);
    change_part(path, forgery.part, 0, forgery.change);
    const auto store = std::move(Store::open(path)).value();
    CHECK(said(*store, "index_rebuilt") > 0);
    CHECK(said(*store, "damaged_chunks") == 0);
    CHECK(sums_of(*store) == right);
  }
}

TEST_CASE("upper levels of a saved index are made anew, whatever the file says of them") {
  const OwnFolder folder;
  const std::string path = folder.file("upper.accel");
  test::RecordingSink recorded;
  REQUIRE(test::write_changeable_session(recorded, 9000).ok());
  REQUIRE(test::save_in_rows(path, recorded).ok());
  SliceNode node;
  NameSums right;
  {
    const auto store = std::move(Store::open(path)).value();
    right = sums_of(*store);
    REQUIRE(store->snapshot()->lanes[0].tree.nodes[1] > 0);
    node = store->snapshot()->lanes[0].data->slices.node(1, 0);
  }
  change_part(path, 1, 1, [](Bytes& bytes) { add_to_word(bytes, 16, 4711); });
  const auto store = std::move(Store::open(path)).value();
  const SliceNode& read = store->snapshot()->lanes[0].data->slices.node(1, 0);
  CHECK(read.busy == node.busy);
  CHECK(read.count == node.count);
  CHECK(sums_of(*store) == right);
}

TEST_CASE("a file whose index covers only some of its chunks gives the right sums in every range") {
  const OwnFolder folder;
  test::RecordingSink recorded;
  REQUIRE(test::write_changeable_session(recorded, 12'000).ok());
  const std::string path = folder.file("partly.accel");
  REQUIRE(test::save_in_rows(path, recorded).ok());
  const auto whole = std::move(Store::open(path)).value();
  const std::shared_ptr<const Snapshot> snapshot = whole->snapshot();
  REQUIRE(snapshot->lanes[0].chunk_count >= 17);
  for (const std::uint32_t covered : {1U, 5U, 6U, 15U}) {
    CAPTURE(covered);
    const std::string part = folder.file("part.accel");
    std::filesystem::copy_file(path, part, std::filesystem::copy_options::overwrite_existing);
    {
      Snapshot before = *snapshot;
      for (LaneSnapshot& lane : before.lanes) {
        lane.chunk_count = std::min(lane.chunk_count, covered);
        if (lane.chunk_count == 0) continue;
        const ChunkPlace& last = lane.chunk(lane.chunk_count - 1);
        std::uint32_t nodes = last.first_leaf + (last.count + kBlockEvents - 1) / kBlockEvents;
        for (std::uint32_t& count : lane.tree.nodes) count = std::exchange(nodes, nodes / kTreeFanout);
        std::uint32_t stretches = lane.chunk_count;
        for (std::uint32_t& count : lane.totals.stretches) {
          count = std::exchange(stretches, stretches / static_cast<std::uint32_t>(NameTotals::kFanout));
        }
      }
      const auto database = std::move(Database::open(part, OpenMode::read_write)).value();
      REQUIRE(write_lane_indexes(*database, before).ok());
    }
    const auto opened = std::move(Store::open(part)).value();
    CHECK(said(*opened, "index_rebuilt") == 0);
    CHECK(opened->snapshot()->event_count == snapshot->event_count);
    for (const std::int64_t share : {0, 3, 5, 8, 10}) {
      const std::int64_t length = snapshot->end_ns - snapshot->begin_ns;
      const TimeRange range{snapshot->begin_ns + length * share / 12, snapshot->end_ns};
      CHECK(sums_of(*opened, range) == sums_of(*whole, range));
    }
  }
}

TEST_CASE("a chunk in the place of another is refused when it is read") {
  const OwnFolder folder;
  const std::string path = folder.file("swapped.accel");
  REQUIRE(test::save_changeable_session(path).ok());
  {
    const auto database = std::move(Database::open(path, OpenMode::read_write)).value();
    // Of another lane, with as many events.
    REQUIRE(database
                ->execute("UPDATE chunk SET payload = (SELECT b.payload FROM chunk b WHERE b.lane <> chunk.lane AND "
                          "b.first_ordinal = chunk.first_ordinal AND b.count = chunk.count LIMIT 1) WHERE lane = 0 AND "
                          "EXISTS (SELECT 1 FROM chunk b WHERE b.lane <> chunk.lane AND b.first_ordinal = "
                          "chunk.first_ordinal AND b.count = chunk.count)")
                .ok());
  }
  const auto store = std::move(Store::open(path)).value();
  const auto snapshot = store->snapshot();
  std::size_t refused = 0;
  for (std::uint32_t chunk = 0; chunk < snapshot->lanes[0].chunk_count; ++chunk) {
    refused += store->read_chunk(snapshot->lanes[0], chunk).ok() ? 0 : 1;
  }
  CHECK(refused > 0);
}

TEST_CASE("events that are not those of their index are refused when they are read, not drawn where they are not") {
  const OwnFolder folder;
  const std::string path = folder.file("other_times.accel");
  test::RecordingSink recorded;
  REQUIRE(test::write_changeable_session(recorded).ok());
  REQUIRE(test::save_in_rows(path, recorded).ok());
  {
    // Durations longer than the header says: all that the index can be compared with without them is as it was.
    const auto database = std::move(Database::open(path, OpenMode::read_write)).value();
    auto update = database->prepare("UPDATE chunk SET payload = ? WHERE id = ?");
    REQUIRE(update.ok());
    for (std::int64_t row = 1; row <= 2; ++row) {
      Bytes bytes = std::move(database->read_blob("chunk", "payload", row)).value();
      const std::size_t durations = sizeof(ChunkHeader) + sizeof(ColumnEntry);
      add_to_word(bytes, durations + offsetof(ColumnEntry, base), 1'000'000);
      ChunkHeader header = *read_chunk_header(bytes);
      header.payload_checksum = checksum(ByteView(bytes).subspan(sizeof header));
      header.header_checksum = checksum_of_header(header);
      std::memcpy(bytes.data(), &header, sizeof header);
      REQUIRE(update->run(ByteView(bytes), row).ok());
    }
  }
  const auto store = std::move(Store::open(path)).value();
  const auto snapshot = store->snapshot();
  std::size_t refused = 0;
  for (const LaneSnapshot& lane : snapshot->lanes) {
    for (std::uint32_t chunk = 0; chunk < lane.chunk_count; ++chunk) {
      refused += store->read_chunk(lane, chunk).ok() ? 0 : 1;
    }
  }
  CHECK(refused == 2);
}

TEST_CASE("strings of two sources at once have the same numbers in the file as in the index that is saved with it") {
  const OwnFolder folder;
  const std::string path = folder.file("two.accel");
  const auto store = std::move(Store::create()).value();
  const std::array<std::uint32_t, 2> scopes{store->new_scope(), store->new_scope()};
  std::atomic<int> calls{0};
  std::atomic<bool> second_done{false};
  std::thread second;
  store->on_database_use([&] {
    if (calls++ != 0) return;
    second = std::thread([&] {
      const Result<void> defined = store->define(scopes[1], StringBatch{.first_id = 1, .strings = {"b", "c"}});
      second_done = defined.ok();
    });
    // The first one has its numbers, and is not written yet.
    for (int i = 0; i < 50 && !second_done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  REQUIRE(store->define(scopes[0], StringBatch{.first_id = 1, .strings = {"a", "b"}}).ok());
  second.join();
  REQUIRE(second_done);
  REQUIRE(store->save(path).ok());
  const auto opened = std::move(Store::open(path)).value();
  for (const std::uint32_t scope : scopes) {
    CHECK(opened->snapshot()->strings->scope_map(scope) == store->snapshot()->strings->scope_map(scope));
  }
}

TEST_CASE("salvage makes up no more names than a file of its size can have held") {
  const OwnFolder folder;
  const std::string path = folder.file("names.accel");
  test::RecordingSink recorded;
  REQUIRE(test::write_changeable_session(recorded, 300).ok());
  for (SealedChunk& chunk : recorded.chunks) {
    if (chunk.lane() != 0) continue;
    // Its header says that one of its names is the fifteen-millionth.
    const std::size_t names = sizeof(ChunkHeader) + 2 * sizeof(ColumnEntry);
    const std::uint64_t largest = 15'000'000;
    std::memcpy(chunk.bytes.data() + names + offsetof(ColumnEntry, max), &largest, sizeof largest);
    ChunkHeader header = chunk.header();
    header.payload_checksum = checksum(ByteView(chunk.bytes).subspan(sizeof header));
    header.header_checksum = checksum_of_header(header);
    std::memcpy(chunk.bytes.data(), &header, sizeof header);
  }
  REQUIRE(test::save_in_rows(path, recorded).ok());
  SalvageReport report;
  const auto store = salvage_session(path, report);
  REQUIRE_MESSAGE(store.ok(), store.message());
  CHECK((*store)->snapshot()->strings->size() < 100'000);
  CHECK(report.events > 0);
}

TEST_CASE("altered sessions are drawn, asked, queried and written out without harm, 60 seeds") {
  const OwnFolder folder;
  const std::string sound = folder.file("sound.accel");
  REQUIRE(test::save_changeable_session(sound).ok());
  const std::string path = folder.file("altered.accel");
  std::size_t opened = 0;
  std::uint64_t answers = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<std::uint8_t> steps((1 + seed % 3) * test::SessionChanges::kStep);
    for (std::uint8_t& each : steps) each = static_cast<std::uint8_t>(random());
    std::filesystem::copy_file(sound, path, std::filesystem::copy_options::overwrite_existing);
    test::SessionChanges(path).apply(steps);
    Result<std::unique_ptr<Store>> store = Store::open(path);
    if (!store) continue;
    ++opened;
    test::SessionUse use(std::move(*store));
    use.draw();
    use.ask();
    use.query();
    if (seed % 4 == 0) use.write_out();
    answers += use.answers();
  }
  CHECK(opened > 50);
  CHECK(answers > 1000);
}
