// What may be defined in a session: what is announced again as something else, what is too much and what is too long.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <random>
#include <string>

#include "core/chunk/chunk_builder.h"
#include "core/chunk/session_writer.h"
#include "core/model/time_range.h"
#include "core/store/definition_limits.h"
#include "core/store/store.h"
#include "tests/core/store/own_folder.h"

using namespace accelscope;

namespace {

using Limits = DefinitionLimits;

// A slice table of two columns, a track, a lane and two names; and a chunk of four events on it.
struct Reported {
  explicit Reported(StoreOptions options = {}) : store(Store::create(std::move(options)).value()) {
    scope = store->new_scope();
    schema = {.number = 0, .name = "work", .columns = {{.name = "c0"}, {.name = "c1"}}};
    REQUIRE(define(schema));
    REQUIRE(define(Track{.number = 0, .name = "t", .kind = "stream", .device = "d0", .schema = 0}));
    REQUIRE(define(Lane{0, 0, 0}));
    REQUIRE(define(StringBatch{1, {"alpha", "beta"}}));
  }
  bool define(const Definition& definition) { return store->define(scope, definition).ok(); }
  Result<void> append(std::int64_t begin, LaneNumber lane = 0, std::uint64_t ordinal = 0) {
    ChunkBuilder builder(schema, lane);
    builder.go_on_from(ordinal);
    for (std::int64_t i = 0; i < 4; ++i) builder.append(begin + 20 * i, 10, 1);
    return store->append(scope, builder.seal());
  }
  [[nodiscard]] const QualityEntry* quality(std::string_view kind) const {
    const auto snapshot = store->snapshot();
    retained = snapshot;
    const auto found = std::find_if(snapshot->quality.begin(), snapshot->quality.end(),
                                    [kind](const QualityEntry& each) { return each.kind == kind; });
    return found == snapshot->quality.end() ? nullptr : &*found;
  }
  std::unique_ptr<Store> store;
  std::uint32_t scope = 0;
  Schema schema;
  mutable std::shared_ptr<const Snapshot> retained;
};

}  // namespace

TEST_CASE("definitions: a table or track that is announced again as another kind stays what it was, and is told") {
  Reported reported;
  REQUIRE(reported.append(0).ok());
  Schema counter = reported.schema;
  counter.kind = EventKind::counter;
  CHECK(reported.define(counter));
  CHECK(reported.define(reported.schema));  // the same again says nothing
  Schema fewer = reported.schema;
  fewer.columns.resize(1);
  CHECK(reported.define(fewer));
  Schema other{.number = 1, .name = "pending", .kind = EventKind::counter, .columns = {{.name = "v"}}};
  CHECK(reported.define(other));
  CHECK(reported.define(Track{.number = 0, .name = "t", .kind = "counter", .device = "d0", .schema = 1}));
  CHECK(reported.define(Clock{.number = 0, .name = "c"}));
  CHECK(reported.define(Track{.number = 0, .name = "t", .kind = "stream", .device = "d0", .schema = 0, .clock = 0}));
  REQUIRE(reported.append(1'000, 0, 4).ok());

  const auto snapshot = reported.store->snapshot();
  REQUIRE(snapshot->lanes.size() == 1);
  CHECK(snapshot->lanes[0].schema->kind == EventKind::slice);
  CHECK(snapshot->lanes[0].event_count == 8);
  CHECK(snapshot->tracks[0].schema == snapshot->lanes[0].schema);
  CHECK(snapshot->tracks[0].track->kind == "stream");
  std::uint64_t refused = 0;
  for (const QualityEntry& each : snapshot->quality) refused += each.kind == "definitions_refused" ? each.count : 0;
  CHECK(refused == 4);
  // Its name may change.
  CHECK(reported.define(Track{.number = 0, .name = "renamed", .kind = "stream", .device = "d0", .schema = 0}));
  CHECK(reported.store->snapshot()->tracks[0].track->name == "renamed");
}

TEST_CASE("definitions: a clock from one end of time to the other is refused, and times saturate") {
  Reported reported;
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
  CHECK(reported.define(Clock{.number = 1, .name = "steep", .anchors = {{0, kLow}, {1, kHigh}}}));
  CHECK(reported.define(Clock{.number = 2, .name = "steep too", .anchors = {{0, 0}, {1, kFarthestTime}}}));
  CHECK(reported.define(Clock{.number = 3, .name = "fine", .anchors = {{0, 0}, {1'000, 2'000}}}));
  CHECK(reported.define(Clock{.number = 3, .name = "worse", .anchors = {{0, kLow}, {1, kHigh}}}));
  REQUIRE(reported.quality("definitions_refused") != nullptr);
  CHECK(reported.quality("definitions_refused")->count == 3);
  const auto snapshot = reported.store->snapshot();
  REQUIRE(snapshot->clocks.size() == 3);
  CHECK(snapshot->clocks[0]->anchors.empty());
  CHECK(snapshot->clocks[2]->name == "fine");

  const ClockMap steep({.anchors = {{-kFarthestTime, -kFarthestTime}, {kFarthestTime, kFarthestTime}}});
  CHECK(steep.to_ns(kHigh) == kFarthestTime);
  CHECK(steep.to_ns(kLow) == -kFarthestTime);
  CHECK(TimeRange{kLow, kHigh}.length_ns() == kHigh);
  CHECK(time_between(kHigh, kLow) == -kHigh);
  CHECK(whole_time(1e300) == kFarthestTime);
  CHECK(whole_time(std::numeric_limits<double>::quiet_NaN()) == -kFarthestTime);
}

TEST_CASE("definitions: events beyond all times are left out and counted, and the capture goes on") {
  Reported reported;
  CHECK(reported.append(kFarthestTime - 10).ok());
  CHECK(reported.store->snapshot()->event_count == 0);
  REQUIRE(reported.quality("times_out_of_range") != nullptr);
  CHECK(reported.quality("times_out_of_range")->count == 4);
  CHECK(reported.append(0, 0, 4).ok());
  CHECK(reported.store->snapshot()->event_count == 4);
  const auto snapshot = reported.store->snapshot();
  CHECK(snapshot->end_ns - snapshot->begin_ns == 70);
}

TEST_CASE("definitions: clocks, tracks, facts and problems that come again take no further room in the file") {
  const OwnFolder folder;
  const std::string path = folder.file("again.accel");
  std::uint64_t first_size = 0;
  for (const int times : {2, 20'000}) {
    Reported reported;
    for (int i = 0; i < times; ++i) {
      REQUIRE(reported.define(Clock{.number = 0, .name = "c", .anchors = {{0, 0}, {1'000, 1'000 + i}}}));
      REQUIRE(reported.define(MetaEntry{"key", "value " + std::to_string(i)}));
      REQUIRE(reported.define(QualityEntry{QualityKind("bad_records"), 2, "the same again"}));
    }
    REQUIRE(reported.append(0).ok());
    std::filesystem::remove(path);
    REQUIRE(reported.store->save(path).ok());
    const std::uint64_t size = std::filesystem::file_size(path);
    if (first_size == 0) first_size = size;
    CHECK(size <= first_size + 16'384);
    const auto opened = Store::open(path);
    REQUIRE(opened.ok());
    const auto snapshot = (*opened)->snapshot();
    CHECK(snapshot->clocks[0]->anchors[1].ns == 1'000 + times - 1);
    CHECK(snapshot->meta_value("key") == "value " + std::to_string(times - 1));
    REQUIRE(snapshot->quality.size() == 1);
    CHECK(snapshot->quality[0].count == 2ULL * static_cast<unsigned>(times));
    // And once more, of the opened file.
    (*opened)->add_quality({"bad_records", 3, "the same again"});
    CHECK((*opened)->snapshot()->quality[0].count == 2ULL * static_cast<unsigned>(times) + 3);
  }
  const auto again = Store::open(path);
  REQUIRE(again.ok());
  CHECK((*again)->snapshot()->quality[0].count == 40'003);
}

TEST_CASE("definitions: what was refused is told in the saved file as it was while live") {
  const OwnFolder folder;
  const std::string path = folder.file("refused.accel");
  Reported reported;
  REQUIRE(reported.append(0).ok());
  Schema counter = reported.schema;
  counter.kind = EventKind::counter;
  for (int i = 0; i < 3; ++i) REQUIRE(reported.define(counter));
  REQUIRE(reported.store->save(path).ok());
  const auto opened = Store::open(path);
  REQUIRE(opened.ok());
  const auto snapshot = (*opened)->snapshot();
  REQUIRE(snapshot->quality.size() == 1);
  CHECK(snapshot->quality[0].kind == "definitions_refused");
  CHECK(snapshot->quality[0].count == 3);
}

TEST_CASE("definitions: lanes, tracks and tables beyond the limit are left out with what belongs to them") {
  Reported reported;
  // As many lanes as fit, in as many scopes as that takes.
  std::uint32_t scope = reported.scope;
  std::size_t lanes = 1;
  std::uint32_t next = 1;
  while (lanes < Limits::kLanes) {
    if (next > kMaxLocalNumber) {
      scope = reported.store->new_scope();
      next = 0;
      REQUIRE(reported.store->define(scope, reported.schema).ok());
      REQUIRE(reported.store->define(scope, Track{.number = 0, .name = "t", .schema = 0}).ok());
    }
    REQUIRE(reported.store->define(scope, Lane{next++, 0, 1}).ok());
    ++lanes;
  }
  scope = reported.store->new_scope();
  REQUIRE(reported.store->define(scope, reported.schema).ok());
  REQUIRE(reported.store->define(scope, Track{.number = 0, .name = "t", .schema = 0}).ok());
  REQUIRE(reported.store->define(scope, Lane{7, 0, 0}).ok());
  CHECK(reported.store->snapshot()->lanes.size() == Limits::kLanes);
  REQUIRE(reported.quality("definitions_left_out") != nullptr);
  ChunkBuilder builder(reported.schema, 7);
  builder.append(0, 10, 0);
  CHECK(reported.store->append(scope, builder.seal()).ok());
  REQUIRE(reported.quality("lanes_left_out") != nullptr);
  CHECK(reported.quality("lanes_left_out")->count == 1);
  // A lane costs little until it is used, and is counted.
  const StoreStatus status = reported.store->status();
  CHECK(status.memory_bytes > Limits::kLanes * 1'000);
  CHECK(status.memory_bytes < Limits::kLanes * 4'000);
}

TEST_CASE("definitions: tracks, facts, problems and strings in great numbers are found at once, and limited") {
  Reported reported;
  for (std::uint32_t i = 0; i < 30'000; ++i) {
    REQUIRE(reported.define(MetaEntry{"key " + std::to_string(i), "v"}));
    REQUIRE(reported.define(QualityEntry{QualityKind("bad_records"), 1, "place " + std::to_string(i)}));
    REQUIRE(reported.define(StringBatch{3 + i, {"name " + std::to_string(i)}}));
    REQUIRE(reported.define(SourceFile{"file" + std::to_string(i), "x"}));
  }
  const auto snapshot = reported.store->snapshot();
  CHECK(snapshot->meta.size() == 30'000);
  CHECK(snapshot->sources.size() == 30'000);
  CHECK(snapshot->quality.size() == Limits::kProblems);
  CHECK(snapshot->quality.back().kind == "further_problems");
  CHECK(snapshot->quality.back().count == 30'000 - (Limits::kProblems - 1));
  CHECK(snapshot->strings->session_id(reported.scope, 30'002) != 0);
}

TEST_CASE("definitions: texts count in the memory of a session and keep within its budget") {
  Reported reported({.memory_budget_bytes = 1ULL << 20, .spill_directory = {}});
  const std::uint64_t before = reported.store->status().memory_bytes;
  for (StringId i = 0; i < 100; ++i) {
    REQUIRE(reported.define(StringBatch{3 + i, {std::to_string(i) + std::string(Limits::kString - 8, 'A')}}));
  }
  REQUIRE(reported.quality("names_left_out") != nullptr);
  CHECK(reported.quality("names_left_out")->count >= 30);
  CHECK(reported.store->snapshot()->strings->memory_bytes() <= Limits::kLeastTexts + (1U << 20));
  CHECK(reported.store->status().memory_bytes >= before + (60ULL << 20));
  // What comes then is left out, and the session goes on.
  CHECK(reported.define(SourceFile{"late.py", std::string(4U << 20, 'x')}));
  CHECK(reported.store->snapshot()->sources.empty());
  REQUIRE(reported.quality("definitions_left_out") != nullptr);
  CHECK(reported.append(0).ok());
}

TEST_CASE("definitions: long names, long values and many columns are cut and told") {
  Reported reported;
  Schema wide{.number = 1, .name = std::string(10'000, 'n')};
  for (int i = 0; i < 100'000; ++i) wide.columns.push_back({.name = "c" + std::to_string(i)});
  CHECK(reported.define(wide));
  CHECK(reported.define(MetaEntry{"key", std::string(3U << 20, 'v')}));
  const auto snapshot = reported.store->snapshot();
  REQUIRE(snapshot->schemas.size() == 2);
  CHECK(snapshot->schemas[1]->columns.size() == Limits::kColumns);
  CHECK(snapshot->schemas[1]->name.size() == Limits::kName);
  CHECK(snapshot->meta_value("key").size() == Limits::kValue);
  REQUIRE(reported.quality("columns_left_out") != nullptr);
  CHECK(reported.quality("columns_left_out")->count == 100'000 - Limits::kColumns);
  REQUIRE(reported.quality("texts_cut") != nullptr);
  // A source that writes more columns than a chunk has writes those that it has.
  StoreSink sink(*reported.store);
  SessionWriter writer(sink);
  wide.columns.resize(1'000);
  const SchemaNumber schema = writer.add_schema(wide);
  const TrackNumber track = writer.add_track({.name = "w", .schema = schema});
  Row row = writer.begin_event(track, 0, 5, writer.intern("x"));
  for (std::size_t i = 0; i < 1'000; ++i) row.integer(i, static_cast<std::int64_t>(i));
  REQUIRE(writer.finish().ok());
  CHECK(reported.store->snapshot()->event_count == 1);
}

TEST_CASE("definitions: numbers beyond those of a source are refused") {
  Reported reported;
  CHECK_FALSE(reported.define(Lane{kMaxLocalNumber + 1, 0, 0}));
  CHECK_FALSE(reported.define(Track{.number = kNone, .name = "none", .schema = 0}));
  CHECK_FALSE(reported.define(Schema{.number = 1U << 20}));
}

TEST_CASE("definitions: a session names the program that wrote it, also when another one's facts are copied into it") {
  const auto fact = [](const Store& store) { return std::string(store.snapshot()->meta_value(kWrittenByFact)); };
  Reported reported({.written_by = "accelscope 0.2.0"});
  CHECK(reported.define(MetaEntry{std::string(kWrittenByFact), "accelscope 0.1.0"}));
  CHECK(fact(*reported.store) == "accelscope 0.2.0");
  const OwnFolder folder;
  REQUIRE(reported.store->save(folder.file("a.accel")).ok());
  CHECK(fact(**Store::open(folder.file("a.accel"))) == "accelscope 0.2.0");
  CHECK(fact(*Reported().store).empty());
}
