// What a session says of its memory: who held the most, what an allocator held for nothing, which requests failed.
#include "core/analysis/memory/pressure.h"

#include <doctest/doctest.h>

#include "core/analysis/advice/advice.h"
#include "core/analysis/figures/verdict.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

// An allocator with segments of 100 MiB; two lines that allocate; a request that fails.
struct AllocatorSession {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  WorkerPool pool{2};
  TaskControl control;
  TrackNumber pieces = writer.add_track(
      {.name = "segments",
       .kind = "memory",
       .device = "GPU 0",
       .schema = writer.add_schema({.name = "memory_segment",
                                    .kind = EventKind::memory,
                                    .columns = {{.name = "bytes", .role = Role::reserved},
                                                {.name = "at", .type = ColumnType::uint64, .role = Role::address},
                                                {.name = "of", .type = ColumnType::string, .role = Role::pool}}})});
  TrackNumber blocks = writer.add_track(
      {.name = "heap",
       .kind = "memory",
       .device = "GPU 0",
       .schema = writer.add_schema(
           {.name = "memory",
            .kind = EventKind::memory,
            .columns = {{.name = "bytes", .role = Role::allocation},
                        {.name = "at", .type = ColumnType::uint64, .role = Role::address},
                        {.name = "source", .type = ColumnType::string, .role = Role::source_location}}})});
  TrackNumber errors = writer.add_track(
      {.name = "out of memory",
       .kind = "error",
       .device = "GPU 0",
       .schema = writer.add_schema(
           {.name = "out_of_memory",
            .columns = {{.name = "asked"},
                        {.name = "device_free"},
                        {.name = "allocated"},
                        {.name = "reserved"},
                        {.name = "source", .type = ColumnType::string, .role = Role::source_location}}})});

  void segment(std::int64_t ns, std::uint64_t address, std::int64_t bytes) {
    Row row = writer.begin_event(pieces, ns, 0, writer.intern("segment"));
    row.integer(0, bytes);
    row.unsigned_integer(1, address);
    row.string(2, writer.intern("heap"));
  }
  void block(std::int64_t ns, std::uint64_t address, std::int64_t bytes, const std::string& line) {
    Row row = writer.begin_event(blocks, ns, 0, writer.intern("tensor"));
    row.integer(0, bytes);
    row.unsigned_integer(1, address);
    row.string(2, writer.intern(line));
  }
  void failure(std::int64_t ns, std::int64_t asked, std::int64_t free, std::int64_t held, std::int64_t reserved) {
    Row row = writer.begin_event(errors, ns, 0, writer.intern("out of memory"));
    row.integer(0, asked);
    row.integer(1, free);
    row.integer(2, held);
    row.integer(3, reserved);
    row.string(4, writer.intern("/app/train.py:88"));
  }
  [[nodiscard]] QueryContext query() { return {*store, store->snapshot(), pool, control}; }
  [[nodiscard]] MemoryPressure pressure() {
    auto usage = memory_usage(query());
    REQUIRE(usage.ok());
    auto found = memory_pressure(query(), **usage);
    REQUIRE(found.ok());
    return *found;
  }
};

AllocatorSession& fill(AllocatorSession& session, bool fails) {
  session.segment(10, 0x10000000, 100 * kMiB);
  session.segment(20, 0x20000000, 100 * kMiB);
  session.segment(30, 0x30000000, 100 * kMiB);
  session.block(40, 0x10000000, 90 * kMiB, "/app/train.py:41");
  session.block(50, 0x20000000, 60 * kMiB, "/app/train.py:41");
  session.block(60, 0x30000000, 20 * kMiB, "/app/model.py:7");
  session.block(70, 0x30000000, -20 * kMiB, "/app/model.py:7");
  if (fails) session.failure(80, 120 * kMiB, 5 * kMiB, 150 * kMiB, 300 * kMiB);
  session.block(90, 0x10000000 + 90 * kMiB, kMiB, "/app/train.py:50");
  REQUIRE(session.writer.finish().ok());
  return session;
}

}  // namespace

TEST_CASE("memory pressure: the peak names the lines that held it, and what of the segments nobody could have") {
  AllocatorSession session;
  const MemoryPressure pressure = fill(session, false).pressure();
  REQUIRE(pressure.pools.size() == 1);
  const PoolPressure& pool = pressure.pools[0];
  CHECK(pool.peak.bytes == 170 * kMiB);
  REQUIRE(pool.holders.size() == 2);
  CHECK(pool.holders[0].name == "train.py:41");
  CHECK(pool.holders[0].bytes == 150 * kMiB);
  CHECK(pool.holders[0].count == 2);
  CHECK(pool.reserved == 300 * kMiB);
  CHECK(pool.free == 130 * kMiB);
  CHECK(pool.largest_free == 80 * kMiB);
  CHECK(pool.empty_segments == 1);
  CHECK(pool.empty_bytes == 100 * kMiB);
  CHECK(pressure.failures.empty());
  CHECK(pressure_text(pressure) == "heap peaks at 170 MiB, no work was recorded");
  const std::string cause = pressure_cause(pressure);
  CHECK(cause.find("Held by train.py:41 150 MiB (88.2 %), model.py:7 20 MiB") != std::string::npos);
  CHECK(cause.find("130 MiB of 300 MiB reserved are free, the longest stretch 80 MiB") != std::string::npos);
  CHECK(cause.find("1 segment of 100 MiB holds nothing in the end") != std::string::npos);
}

TEST_CASE("memory pressure: a failed request says what it asked for, what was free, and who held the rest then") {
  AllocatorSession session;
  const MemoryPressure pressure = fill(session, true).pressure();
  REQUIRE(pressure.failures.size() == 1);
  const FailedRequest& failure = pressure.failures[0];
  CHECK(failure.asked == 120 * kMiB);
  CHECK(failure.free == 5 * kMiB);
  CHECK(failure.source == "train.py:88");
  REQUIRE(failure.holders.size() == 1);  // the other line's block was gone by then
  CHECK(failure.holders[0].bytes == 150 * kMiB);
  CHECK(pressure_text(pressure) ==
        "Out of memory: train.py:88 asked for 120 MiB, 5 MiB free; 150 MiB held, 150 MiB by train.py:41");
}

TEST_CASE("memory pressure: a failure is the first finding and the verdict, memory held for nothing comes after it") {
  AllocatorSession session;
  const QueryContext query = fill(session, true).query();
  const auto advice = find_advice(query, {});
  REQUIRE(advice.ok());
  REQUIRE((*advice)->findings.size() == 2);
  const Finding& first = (*advice)->findings[0];
  CHECK(first.rule->id == RuleId::out_of_memory);
  CHECK(first.is_error);
  CHECK(first.source == "train.py:88");
  CHECK(first.evidence.find("150 MiB are reserved and free, in pieces too small") != std::string::npos);
  CHECK((*advice)->findings[1].rule->id == RuleId::held_memory);
  CHECK(saving_text((*advice)->findings[1]) == "no time, but memory");
  const auto verdict = session_verdict(query, std::nullopt, {});
  REQUIRE(verdict.ok());
  CHECK(verdict->bound.starts_with("Out of memory: train.py:88 asked for 120 MiB, 5 MiB free"));
}

TEST_CASE("memory pressure: memory that is in use throughout raises no finding") {
  AllocatorSession session;
  session.segment(10, 0x10000000, 100 * kMiB);
  session.block(40, 0x10000000, 95 * kMiB, "/app/train.py:41");
  REQUIRE(session.writer.finish().ok());
  const auto advice = find_advice(session.query(), {});
  REQUIRE(advice.ok());
  CHECK((*advice)->findings.empty());
}
