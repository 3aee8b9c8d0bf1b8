// Pools of several devices, pools known by samples, capacities, and the search for what is alive.
#include <doctest/doctest.h>

#include <random>

#include "core/analysis/memory/usage.h"
#include "core/chunk/session_writer.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

class MemorySession {
 public:
  MemorySession() {
    auto created = Store::create();
    REQUIRE(created.ok());
    store_ = std::move(created).value();
    sink_ = std::make_unique<StoreSink>(*store_);
    writer_ = std::make_unique<SessionWriter>(*sink_);
    schema_ =
        writer_->add_schema({.name = "memory",
                             .kind = EventKind::memory,
                             .columns = {{.name = "size", .type = ColumnType::int64, .role = Role::allocation},
                                         {.name = "address", .type = ColumnType::uint64, .role = Role::address},
                                         {.name = "line", .type = ColumnType::string, .role = Role::source_location}}});
  }
  TrackNumber track(const std::string& device, const std::string& name) {
    return writer_->add_track({.name = name, .kind = "memory", .device = device, .schema = schema_});
  }
  void change(TrackNumber track, std::int64_t at, std::int64_t bytes, std::uint64_t address,
              std::int64_t duration = 0) {
    Row row = writer_->begin_event(track, at, duration, writer_->intern("w"));
    row.integer(0, bytes);
    row.unsigned_integer(1, address);
    row.string(2, writer_->intern("kernel.py:7"));
  }
  void counter(const std::string& name, const std::string& track_unit, const std::string& unit,
               std::vector<std::pair<std::int64_t, double>> samples) {
    const SchemaNumber schema = writer_->add_schema(
        {.name = "c" + name,
         .kind = EventKind::counter,
         .columns = {{.name = "v", .type = ColumnType::float64, .unit = unit, .role = Role::value, .required = true}}});
    const TrackNumber track =
        writer_->add_track({.name = name, .kind = "counter", .device = "nc0", .unit = track_unit, .schema = schema});
    for (const auto& [at, value] : samples) writer_->begin_event(track, at, 0, 0).real(0, value);
  }
  SessionWriter& writer() { return *writer_; }
  const MemoryUsage& usage() {
    if (!usage_) {
      REQUIRE(writer_->finish().ok());
      TaskControl control;
      auto result = memory_usage({*store_, store_->snapshot(), pool_, control});
      REQUIRE(result.ok());
      usage_ = *result;
    }
    return *usage_;
  }

 private:
  std::unique_ptr<Store> store_;
  std::unique_ptr<StoreSink> sink_;
  std::unique_ptr<SessionWriter> writer_;
  SchemaNumber schema_ = 0;
  WorkerPool pool_{2};
  std::shared_ptr<const MemoryUsage> usage_;
};

}  // namespace

TEST_CASE("two devices with a pool of one name have two pools: equal addresses do not release each other") {
  MemorySession session;
  const TrackNumber first = session.track("nc0", "SBUF");
  const TrackNumber second = session.track("nc1", "SBUF");
  session.change(first, 10, 100, 0);
  session.change(second, 20, 70, 0);
  session.change(first, 30, -100, 0);
  session.writer().set_meta("capacity.SBUF", "4096");
  session.writer().set_meta("capacity.nc1 SBUF", "8192");
  const MemoryUsage& usage = session.usage();
  CHECK(usage.implied_releases == 0);
  REQUIRE(usage.pools.size() == 2);
  const std::uint32_t nc0 = usage.find_pool("nc0 SBUF").value();
  const std::uint32_t nc1 = usage.find_pool("nc1 SBUF").value();
  CHECK(usage.used_at(nc0, 25) == 100);
  CHECK(usage.used_at(nc0, 30) == 0);
  CHECK(usage.used_at(nc1, 35) == 70);
  CHECK(usage.pools[nc0].never_freed == 0);
  CHECK(usage.pools[nc1].never_freed == 1);
  CHECK(usage.pools[nc0].capacity_bytes == 4096U);
  CHECK(usage.pools[nc1].capacity_bytes == 8192U);
  CHECK(usage.sites.at(usage.allocations[0].site) == "kernel.py:7");
}

TEST_CASE("pools are in the order of their devices, whichever is used first") {
  MemorySession session;
  for (const char* device : {"TPU 10", "TPU 2", "TPU 0"}) {
    session.change(session.track(device, "HBM"), 10, 100, 0);
    session.change(session.track(device, "CMEM"), 20, 100, 0);
  }
  std::vector<std::string> names;
  for (const PoolUsage& pool : session.usage().pools) names.push_back(pool.name);
  CHECK(names ==
        std::vector<std::string>{"TPU 0 HBM", "TPU 0 CMEM", "TPU 2 HBM", "TPU 2 CMEM", "TPU 10 HBM", "TPU 10 CMEM"});
}

TEST_CASE("the peak of a pool is what its source states as in use, with what was there before the recording began") {
  MemorySession session;
  session.change(session.track("nc0", "GPU 0 memory"), 10, 100, 0, 10);
  session.counter("GPU 0 memory Total Allocated", "B", "B", {{10, 1'945}, {20, 1'845}, {30, 1'900}});
  const MemoryUsage& usage = session.usage();
  const std::uint32_t pool = usage.find_pool("GPU 0 memory").value();
  CHECK(usage.pools[pool].peak_bytes == 100);  // of the allocations that were recorded
  CHECK(usage.peak(pool).bytes == 1'945);
  CHECK(usage.peak(pool).stated);
  CHECK(usage.peak(pool, {15, 40}).bytes == 1'945);  // it holds until the next is stated
  CHECK(usage.peak(pool, {20, 40}).bytes == 1'900);
  CHECK(usage.peak(pool, {20, 40}).ns == 30);

  MemorySession silent;
  silent.change(silent.track("nc0", "SBUF"), 10, 100, 0, 10);
  CHECK(silent.usage().peak(0).bytes == 100);
  CHECK_FALSE(silent.usage().peak(0).stated);
}

TEST_CASE("samples of a share become a pool where the capacity is known and no allocations say it better") {
  for (const bool has_allocations : {false, true}) {
    MemorySession session;
    session.writer().set_meta("capacity.SBUF", "1000");
    session.counter("SBUF usage", "", "share", {{10, 0.25}, {20, 0.5}, {30, 0}});
    session.counter("PSUM usage", "", "share", {{10, 0.25}});              // of what, nobody says
    session.counter("Pending", "B", "B", {{10, 5}});                       // bytes, but not in use
    session.counter("memory allocated", "B", "B", {{15, 3e9}, {16, -1}});  // a sample below zero is none
    if (has_allocations) session.change(session.track("nc0", "SBUF"), 5, 10, 0);
    const MemoryUsage& usage = session.usage();
    REQUIRE(usage.sampled.size() == (has_allocations ? 1 : 2));
    const auto heap = usage.find_pool("memory allocated");
    REQUIRE(heap.has_value());
    CHECK(usage.pool(*heap).sampled);
    CHECK_FALSE(usage.pool(*heap).estimated);
    CHECK(usage.used_at(*heap, 14) == 0);
    CHECK(usage.used_at(*heap, 99) == 3'000'000'000);
    if (has_allocations) continue;
    const std::uint32_t sbuf = usage.find_pool("SBUF").value();
    CHECK(usage.pool(sbuf).estimated);
    CHECK(usage.pool(sbuf).peak_bytes == 500);
    CHECK(usage.pool(sbuf).peak_ns == 20);
    CHECK(usage.used_at(sbuf, 15) == 250);
    const StackedUsage stack = usage.stacked(sbuf, {0, 40}, 4, 8);
    CHECK(stack.total == std::vector<std::uint64_t>{0, 250, 500, 0});
    CHECK(stack.names.empty());
  }
}

TEST_CASE("lifetimes that the source guessed are marked, stated ones beside them are not") {
  MemorySession session;
  const TrackNumber stated = session.track("", "stated");
  session.change(stated, 10, 64, 0x100, 5);
  session.writer().add_quality({"memory_estimated", 1, "lifetimes are not in the file"});
  CHECK_FALSE(session.usage().pools[0].estimated);  // it has an address
}

TEST_CASE("what overlaps a stretch is found as by looking at every allocation") {
  std::mt19937_64 random(7);
  for (const int count : {0, 1, 31, 32, 33, 1'500, 40'000}) {
    MemoryUsage usage;
    usage.tensors = {"t"};
    usage.sites = {""};
    usage.pools.resize(2);
    std::int64_t at = 0;
    for (int i = 0; i < count; ++i) {
      at += static_cast<std::int64_t>(random() % 3);
      Allocation allocation;
      allocation.pool = static_cast<std::uint32_t>(random() % 2);
      allocation.bytes = 1 + random() % 64;
      allocation.begin_ns = at;
      if (random() % 50 != 0) allocation.end_ns = at + static_cast<std::int64_t>(random() % 100);
      usage.allocations.push_back(allocation);
    }
    usage.index();
    for (int probe = 0; probe < 40; ++probe) {
      const std::int64_t from = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(at + 50));
      const std::int64_t to = probe % 2 == 0 ? from : from + static_cast<std::int64_t>(random() % 60);
      std::vector<std::uint32_t> expected;
      for (std::uint32_t i = 0; i < usage.allocations.size(); ++i) {
        const Allocation& a = usage.allocations[i];
        if (a.pool == 1 && a.begin_ns <= to && (!a.end_ns || *a.end_ns > from)) expected.push_back(i);
      }
      std::vector<std::uint32_t> found;
      usage.visit(1, from, to, [&](std::uint32_t index) { found.push_back(index); });
      CHECK(found == expected);
    }
  }
}

TEST_CASE("areas by size class and by line add up to the total, and small allocations are left to the rest") {
  MemorySession session;
  const TrackNumber track = session.track("", "SBUF");
  session.change(track, 10, 1'000, 0);
  session.change(track, 10, 8'000, 0x10000);
  session.change(track, 20, -1'000, 0);
  const MemoryUsage& usage = session.usage();
  const StackedUsage classes = usage.stacked(0, {0, 40}, 4, 8, 0, UsageGrouping::size_class);
  CHECK(classes.names == std::vector<std::string>{"4 to 64 KiB", "under 4 KiB"});
  CHECK(classes.values[1] == std::vector<std::uint64_t>{0, 1'000, 0, 0});
  CHECK(usage.stacked(0, {0, 40}, 4, 8, 0, UsageGrouping::site).names.front() == "kernel.py:7");
  const StackedUsage large = usage.stacked(0, {0, 40}, 4, 8, 4'096);
  CHECK(large.names == std::vector<std::string>{"w", "other"});
  CHECK(large.values[1] == std::vector<std::uint64_t>{0, 1'000, 0, 0});
  CHECK(usage.pools[0].touched == std::vector<AddressSpan>{{0, 1'000}, {0x10000, 0x10000 + 8'000}});
}
