// Segments at an instant: what is held, what lies in it, and what of it is free.
#include "core/analysis/memory/segments.h"

#include <doctest/doctest.h>

#include "core/chunk/session_writer.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

struct Held {
  std::int64_t ns = 0, bytes = 0;
  std::uint64_t address = 0;
  bool joins = false;
};
struct Block {
  std::int64_t ns = 0, bytes = 0;
  std::uint64_t address = 0;
  std::int64_t requested = 0;
};

std::shared_ptr<const MemoryUsage> usage_of_blocks(const std::vector<Held>& held, const std::vector<Block>& blocks) {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const TrackNumber pieces = writer.add_track(
      {.name = "segments",
       .kind = "memory",
       .schema = writer.add_schema({.name = "segment",
                                    .kind = EventKind::memory,
                                    .columns = {{.name = "bytes", .role = Role::reserved},
                                                {.name = "at", .type = ColumnType::uint64, .role = Role::address},
                                                {.name = "joins", .type = ColumnType::boolean, .role = Role::joins},
                                                {.name = "of", .type = ColumnType::string, .role = Role::pool}}})});
  const TrackNumber track = writer.add_track(
      {.name = "heap",
       .kind = "memory",
       .schema = writer.add_schema({.name = "block",
                                    .kind = EventKind::memory,
                                    .columns = {{.name = "bytes", .role = Role::allocation},
                                                {.name = "at", .type = ColumnType::uint64, .role = Role::address},
                                                {.name = "asked", .role = Role::requested},
                                                {.name = "stack", .type = ColumnType::string, .role = Role::stack}}})});
  for (const Held& each : held) {
    Row row = writer.begin_event(pieces, each.ns, 0, writer.intern("segment"));
    row.integer(0, each.bytes);
    row.unsigned_integer(1, each.address);
    row.boolean(2, each.joins);
    row.string(3, writer.intern("heap"));
  }
  for (const Block& each : blocks) {
    Row row = writer.begin_event(track, each.ns, 0, writer.intern("tensor"));
    row.integer(0, each.bytes);
    row.unsigned_integer(1, each.address);
    if (each.requested > 0) row.integer(2, each.requested);
    row.string(3, writer.intern(each.address % 2 == 0 ? "f\ng" : "h\ng"));
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  auto usage = memory_usage({.store = *store, .snapshot = store->snapshot(), .pool = pool, .control = control});
  REQUIRE(usage.ok());
  return *usage;
}

}  // namespace

TEST_CASE("segments: pieces that touch are one where they join, and what is free between blocks is told") {
  const auto usage =
      usage_of_blocks({{10, 100, 1000, true}, {20, 100, 1100, true}, {30, 100, 1200, false}, {60, -100, 1100, false}},
                      {{10, 30, 1000, 20}, {20, 50, 1090}, {30, 40, 1250}, {50, -50, 1090}});
  REQUIRE(usage->pools.size() == 1);
  CHECK(usage->unmatched_releases == 0);
  CHECK(usage->reserved_at(0, 9) == 0);
  CHECK(usage->reserved_at(0, 10) == 100);
  CHECK(usage->reserved_at(0, 59) == 300);
  CHECK(usage->reserved_at(0, 60) == 200);
  const SegmentMap map = segments_at(*usage, 0, 40);
  REQUIRE(map.segments.size() == 2);
  CHECK(map.segments[0].bytes == 200);
  CHECK(map.segments[0].used == 80);
  CHECK(map.segments[0].requested == 70);  // nobody says what the second was asked for with
  CHECK(map.segments[0].largest_free == 60);
  CHECK(map.segments[1].largest_free == 50);
  CHECK(map.bytes == 300);
  CHECK(map.used == 120);
  CHECK(map.outside == 0);
  CHECK(fragmentation(map.segments[0].free(), map.segments[0].largest_free) == doctest::Approx(0.5));
  CHECK(fragmentation(0, 0) == 0);
  const SegmentMap later = segments_at(*usage, 0, 60);
  REQUIRE(later.segments.size() == 2);
  CHECK(later.segments[0].bytes == 100);
  CHECK(later.segments[0].used == 30);
  CHECK(usage->reserved_most(0, {0, 100}, 10) ==
        std::vector<std::uint64_t>{0, 100, 200, 300, 300, 300, 200, 200, 200, 200});
}

TEST_CASE("segments: where nobody tells what is held, the addresses that were ever taken stand for it") {
  const auto usage = usage_of_blocks({}, {{10, 30, 1000}, {20, 50, 1030}, {30, 40, 5001}, {50, -50, 1030}});
  const SegmentMap map = segments_at(*usage, 0, 60);
  CHECK_FALSE(map.held);
  REQUIRE(map.segments.size() == 2);
  CHECK(map.segments[0].bytes == 80);
  CHECK(map.segments[0].used == 30);
  CHECK(map.segments[0].largest_free == 50);
  CHECK(map.segments[1].free() == 0);
  // Stacks are called by what is allocated there.
  CHECK(usage->group_count(UsageGrouping::stack) == 2);
  CHECK(usage->group_name(usage->allocations[0].stack, UsageGrouping::stack) == "tensor");
  CHECK(usage->group_name(usage->allocations[2].stack, UsageGrouping::stack) == "tensor #2");
}
