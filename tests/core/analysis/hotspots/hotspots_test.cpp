#include "core/analysis/hotspots/hotspots.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "core/chunk/session_writer.h"
#include "core/search/filter_mask.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

// Streams with launches, a queue with packets, an engine with waits and a host whose calls are none of a device's.
struct LaunchedSession {
  std::unique_ptr<Store> store = Store::create().value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  WorkerPool pool{3};
  TaskControl control;
  SchemaNumber kernel = writer.add_schema(
      {.name = "kernel",
       .columns = {{.name = "grid", .type = ColumnType::string, .group = "Launch"},
                   {.name = "occupancy", .type = ColumnType::float64, .unit = "%", .group = "Launch"},
                   {.name = "registers", .type = ColumnType::int64, .group = "Launch"},
                   {.name = "never", .type = ColumnType::int64, .group = "Launch"},
                   {.name = "arguments", .type = ColumnType::text, .group = "Launch"},
                   {.name = "waited", .type = ColumnType::int64, .unit = "ns", .role = Role::wait_ns}}});
  SchemaNumber move = writer.add_schema(
      {.name = "dma", .columns = {{.name = "size", .type = ColumnType::int64, .unit = "B", .role = Role::bytes}}});
  SchemaNumber instruction = writer.add_schema({.name = "instruction", .wait_names = {"WAIT"}});
  SchemaNumber call = writer.add_schema({.name = "call"});
  TrackNumber stream[2] = {
      writer.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel}),
      writer.add_track({.name = "stream 9", .kind = "stream", .device = "gpu 0", .schema = kernel})};
  TrackNumber queue = writer.add_track({.name = "q0", .kind = "dma_queue", .device = "gpu 0", .schema = move});
  TrackNumber engine = writer.add_track({.name = "Act", .kind = "engine", .device = "nc0", .schema = instruction});
  TrackNumber host = writer.add_track({.name = "main", .kind = "host_thread", .schema = call});

  HotspotList found(const TimeRange& range = {}, const EventFilter& filter = {}) {
    REQUIRE(writer.finish().ok());
    QueryContext query{*store, store->snapshot(), pool, control};
    if (filter.needs_mask()) {
      auto mask = search::filter_mask(query, filter, nullptr);
      REQUIRE(mask.ok());
      query.mask = *mask;
    }
    auto list = find_hotspots(query, range);
    REQUIRE(list.ok());
    return *list;
  }
  std::string name(const Hotspot& row) { return std::string(store->snapshot()->strings->text(row.name)); }
};

}  // namespace

TEST_CASE("hotspots: sums, extremes and launches are what looking at every event gives") {
  std::mt19937_64 random(3);
  LaunchedSession session;
  struct Plain {
    std::uint64_t count = 0;
    std::int64_t total = 0, min = INT64_MAX, max = -1, wait = 0;
    double occupancy = 0;
    std::uint64_t occupied = 0;
    std::string grid;
    bool varies = false;
  };
  const TimeRange range{200'000, 900'000};
  std::map<std::string, Plain> all, within;
  std::int64_t at[2] = {0, 0}, free_ns[2] = {0, 0};
  for (int i = 0; i < 40'000; ++i) {
    const std::size_t lane = random() % 2;
    const std::string name = "k" + std::to_string(random() % 7);
    const auto length = static_cast<std::int64_t>(1 + random() % 60);
    const std::string grid = name == "k3" ? "[" + std::to_string(random() % 3) + "]" : "[" + name + "]";
    Row row = session.writer.begin_event(session.stream[lane], at[lane], length, session.writer.intern(name));
    row.string(0, session.writer.intern(grid));
    const bool has_occupancy = random() % 4 != 0;
    const double occupancy = static_cast<double>(random() % 100) / 2;
    if (has_occupancy) row.real(1, occupancy);
    row.integer(2, 32);
    row.text(4, "x");
    row.integer(5, i % 5);
    for (auto* plain : {&all, &within}) {
      if (plain == &within && !range.holds(at[lane], at[lane] + length)) continue;
      Plain& sum = (*plain)[name];
      if (sum.count++ == 0) sum.grid = grid;
      sum.varies = sum.varies || sum.grid != grid;
      sum.total += length;
      sum.min = std::min(sum.min, length);
      sum.max = std::max(sum.max, length);
      sum.wait += std::min<std::int64_t>(i % 5, at[lane] - free_ns[lane]);
      if (has_occupancy) {
        sum.occupancy += occupancy;
        ++sum.occupied;
      }
    }
    free_ns[lane] = at[lane] + length;
    at[lane] = free_ns[lane] + static_cast<std::int64_t>(random() % 20);
  }
  session.writer.begin_event(session.host, 0, 1'000'000, session.writer.intern("forward"));
  for (const bool part : {false, true}) {
    const HotspotList list = session.found(part ? range : TimeRange{});
    const auto& plain = part ? within : all;
    REQUIRE(list.columns.size() == 4);  // what nothing has a value in is none
    REQUIRE(list.rows.size() == plain.size());
    std::int64_t last = INT64_MAX, total = 0;
    for (const Hotspot& row : list.rows) {
      const Plain& want = plain.at(session.name(row));
      CHECK(row.count == want.count);
      CHECK(row.total_ns == want.total);
      CHECK(row.min_ns == want.min);
      CHECK(row.max_ns == want.max);
      CHECK(row.wait_ns == want.wait);
      CHECK(row.launch[0].varies == want.varies);
      if (!want.varies) CHECK(row.launch[0].first == want.grid);
      CHECK(row.launch[1].count == want.occupied);
      CHECK(row.launch[1].sum == doctest::Approx(want.occupancy));
      CHECK(row.launch[2].min == 32);
      CHECK(row.launch[3].first == "x");
      CHECK(row.tracks.size() == 2);
      CHECK(row.total_ns <= last);
      last = row.total_ns;
      total += row.total_ns;
    }
    CHECK(list.total_ns == total);
  }
}

TEST_CASE("hotspots: waiting is counted apart, transfers have their bytes, and a filter leaves only what passes") {
  LaunchedSession session;
  session.writer.begin_event(session.engine, 0, 50, session.writer.intern("ACTIVATE"));
  session.writer.begin_event(session.engine, 50, 700, session.writer.intern("WAIT"));
  for (int i = 0; i < 3; ++i)
    session.writer.begin_event(session.queue, i * 100, 90, session.writer.intern("w1")).integer(0, 4'096);
  const HotspotList list = session.found();
  REQUIRE(list.rows.size() == 2);
  CHECK(session.name(list.rows[0]) == "w1");
  CHECK(list.rows[0].work == WorkKind::transfer);
  CHECK(list.rows[0].bytes == 3 * 4'096);
  CHECK_FALSE(list.rows[0].has_wait);
  CHECK(list.waiting_ns == 700);
  CHECK(list.columns.empty());
  CHECK(session.found({}, {.terms = {{"name=ACTIVATE", false}}}).rows.size() == 1);
  CHECK(session.found({80, 90}).rows.size() == 1);
  LaunchedSession empty;
  CHECK(empty.found().rows.empty());
}

TEST_CASE(
    "hotspots: bytes and waits are numbers of any column of their role, below 0 nothing, waits while it was free") {
  LaunchedSession session;
  const SchemaNumber odd = session.writer.add_schema(
      {.name = "odd",
       .columns = {{.name = "in", .type = ColumnType::int64, .unit = "B", .role = Role::bytes},
                   {.name = "out", .type = ColumnType::float64, .unit = "B", .role = Role::bytes},
                   {.name = "waited", .type = ColumnType::float64, .unit = "ns", .role = Role::wait_ns}}});
  const TrackNumber track =
      session.writer.add_track({.name = "stream 3", .kind = "stream", .device = "gpu 0", .schema = odd});
  const auto add = [&](std::int64_t begin, std::int64_t in, double out, double waited) {
    Row row = session.writer.begin_event(track, begin, 50, session.writer.intern("k"));
    row.integer(0, in);
    row.real(1, out);
    row.real(2, waited);
  };
  add(0, -1, 100, -5);
  add(150, 8, 0, 30);
  add(250, -1, -7, 1e12);  // 50 free before it
  const HotspotList list = session.found();
  REQUIRE(list.rows.size() == 1);
  CHECK(list.rows[0].bytes == 108);
  CHECK(list.rows[0].has_wait);
  CHECK(list.rows[0].wait_ns == 30 + 50);
}

TEST_CASE("hotspots: operations are set against the peak of the precision that the kernel computes in") {
  LaunchedSession session;
  session.writer.set_meta("device.0.name", "NVIDIA H100 80GB HBM3");
  const SchemaNumber schema = session.writer.add_schema(
      {.name = "kernel",
       .columns = {{.name = "flops", .type = ColumnType::float64, .unit = "FLOP", .role = Role::flops},
                   {.name = "precision", .type = ColumnType::string},
                   {.name = "work from", .type = ColumnType::string}}});
  const TrackNumber track =
      session.writer.add_track({.name = "stream 3", .kind = "stream", .device = "GPU 0", .schema = schema});
  std::int64_t at = 0;
  const auto add = [&](const char* name, double flops, const char* precision) {
    Row row = session.writer.begin_event(track, at, 1000, session.writer.intern(name));
    if (flops > 0) {
      row.real(0, flops);
      row.string(1, session.writer.intern(precision));
      row.string(2, session.writer.intern("aten::mm of some shape"));
    }
    at += 1000;
  };
  add("gemm", 400e6, "bf16");
  add("gemm", 0, "");  // not known of this one
  add("gemm", 600e6, "bf16");
  add("both", 100e6, "bf16");
  add("both", 100e6, "tf32");
  add("copy", 0, "");
  const HotspotList list = session.found();
  std::map<std::string, const Hotspot*> rows;
  for (const Hotspot& row : list.rows) rows[session.name(row)] = &row;
  CHECK(rows.at("gemm")->flops == doctest::Approx(1e9));
  CHECK(rows.at("gemm")->flops_ns == 2000);
  CHECK(rows.at("gemm")->precision == "bf16");
  CHECK(rows.at("gemm")->work_from == "aten::mm of some shape");
  CHECK(rows.at("gemm")->peak.value_or(0) == doctest::Approx(989.4e12));
  CHECK(rows.at("both")->precision.empty());
  CHECK_FALSE(rows.at("both")->peak.has_value());
  CHECK(rows.at("copy")->flops == 0);
}
