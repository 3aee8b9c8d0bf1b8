// The tables of collectives on the command line, of simulated ranks with what was planted in them.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "app/content/collective_grid.h"
#include "capture/sim/output/simulator.h"
#include "core/chunk/session_writer.h"
#include "core/listing/analysis_listings.h"
#include "core/model/column_spec.h"
#include "core/search/filter_mask.h"
#include "tests/app/program_run.h"

using namespace accelscope;
using namespace accelscope::app::content;
using namespace accelscope::app;
using test::holds;
using test::run;

namespace {

std::vector<std::vector<std::string>> csv_of(const std::string& path, const std::string& table,
                                             const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"view", path, "--table", table, "--output-format", "csv"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto printed = run(arguments);
  REQUIRE(printed.code == terminal::kExitDone);
  std::vector<std::vector<std::string>> rows;
  std::istringstream text(printed.out);
  for (std::string line; std::getline(text, line);) {
    std::vector<std::string>& cells = rows.emplace_back();
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
  }
  return rows;
}

std::size_t column_of(const std::vector<std::vector<std::string>>& rows, const std::string& name) {
  const auto found = std::find(rows[0].begin(), rows[0].end(), name);
  REQUIRE(found != rows[0].end());
  return static_cast<std::size_t>(found - rows[0].begin());
}

}  // namespace

TEST_CASE("collectives listings: a simulated straggler is named with the time that it was made to cost") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("ranks.accel");
  REQUIRE(run({"simulate", "-o", path, "--ranks", "--devices", "16", "--straggler", "11", "--late", "50us", "--kernels",
               "100"})
              .code == terminal::kExitDone);
  const auto ranks = csv_of(path, "ranks");
  REQUIRE(ranks.size() == 17);
  const std::size_t straggler = column_of(ranks, "straggler"), waited = column_of(ranks, "others_waited_ns"),
                    last = column_of(ranks, "last_in");
  for (std::size_t r = 1; r < ranks.size(); ++r) CHECK((ranks[r][straggler] == "yes") == (r == 12));
  // In nine of ten steps it comes 50 µs late, of which the others' own spread of some µs is not its fault.
  const double times = std::stod(ranks[12][last]), cost = std::stod(ranks[12][waited]);
  CHECK(times > 80);
  CHECK(times < 98);
  CHECK(cost / times > 46'000);
  CHECK(cost / times < 50'000);
  CHECK(ranks[12][column_of(ranks, "host")] == "host 1");

  const auto kinds = csv_of(path, "collectives");
  REQUIRE(kinds.size() == 6);
  double count = 0;
  for (std::size_t k = 1; k < kinds.size(); ++k) count += std::stod(kinds[k][column_of(kinds, "count")]);
  CHECK(count == 100);
  for (std::size_t k = 1; k < kinds.size(); ++k) {
    const double bytes = std::stod(kinds[k][column_of(kinds, "size_bytes")]);
    const double median = std::stod(kinds[k][column_of(kinds, "median_ns")]);
    CHECK(std::stod(kinds[k][column_of(kinds, "algbw_bytes_per_s")]) == doctest::Approx(bytes * 1e9 / median));
    // The simulated links carry 68 GB/s at most.
    CHECK(std::stod(kinds[k][column_of(kinds, "busbw_bytes_per_s")]) < 68e9);
  }
  const auto instances = csv_of(path, "collective-instances");
  CHECK(instances.size() == 101);
  const auto half = csv_of(path, "collective-instances", {"--range", "0%:50%"});
  CHECK(half.size() < 60);
  CHECK(half.size() > 40);
}

TEST_CASE("collectives listings: missing ranks and clocks apart are told of") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("ranks.accel");
  REQUIRE(run({"simulate", "-o", path, "--ranks", "--devices", "16", "--straggler", "11", "--missing-rank", "2",
               "--clock-skew", "30us"})
              .code == terminal::kExitDone);
  const auto printed = run({"view", path, "--table", "ranks"});
  CHECK(holds(printed.err, "1 of 16 ranks is not in the session: waits may be for it"));
  CHECK(holds(printed.err, "clocks set by 48 collectives; residual"));
  const auto ranks = csv_of(path, "ranks");
  REQUIRE(ranks.size() == 17);
  CHECK(ranks[3][0] == "rank 2");
  CHECK(ranks[12][column_of(ranks, "straggler")] == "yes");
  CHECK(run({"simulate", "-o", path, "--ranks", "--slim"}).code != terminal::kExitDone);
  CHECK(run({"simulate", "-o", path, "--ranks", "--late", "soon"}).code != terminal::kExitDone);
}

TEST_CASE(
    "collectives listings: the row of a kind stands for all of its events, whatever they are called, and no others") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  {
    using namespace columns;
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema(make_schema(
        {"kernel", EventKind::slice, "name"}, {{"In msg nelems", kInt, "", kMemory}, {"dtype", kString, "", kMemory}}));
    struct Reported {
      const char* name;
      std::int64_t elements;
    };
    constexpr Reported kReported[] = {{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", 1024},
                                      {"ncclKernel_AllReduce_RING_LL_Sum_bf16 \"v2/3\"", 1024},
                                      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", 4096},
                                      {"ncclDevKernel_AllGather_RING_LL(ncclDevComm*)", 4096},
                                      {"gemm", 0}};
    for (int rank = 0; rank < 2; ++rank) {
      Track track;
      track.device = "rank " + std::to_string(rank) + " gpu 0";
      track.name = "stream 7";
      track.kind = "stream";
      track.schema = schema;
      const TrackNumber number = writer.add_track(std::move(track));
      for (std::int64_t i = 0; i < 100; ++i) {
        const Reported& reported = kReported[i % 5];
        Row row = writer.begin_event(number, i * 1000, 100 + i, writer.intern(reported.name));
        if (reported.elements == 0) continue;
        row.integer(0, reported.elements);
        row.string(1, writer.intern("BFloat16"));
      }
    }
    REQUIRE(writer.finish().ok());
  }
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  const auto found = std::move(analysis::find_collectives(query)).value();
  REQUIRE(found->kinds.size() == 3);
  const auto report = analysis::report_collectives(found, {});
  const listing::Listing listing = listing::collectives_listing(*report, *query.snapshot);
  REQUIRE(listing.targets.size() == 3);
  for (std::size_t row = 0; row < 3; ++row) {
    const analysis::CollectiveKind& kind = found->kinds[report->kinds[row].kind];
    CAPTURE(listing::collective_title(kind));
    const auto mask = search::event_mask(query, std::get<EventFilter>(listing.targets[row]));
    REQUIRE_MESSAGE(mask.ok(), mask.message());
    std::uint64_t parts = 0;
    for (const analysis::CollectiveInstance& instance : found->instances) {
      if (instance.kind != report->kinds[row].kind) continue;
      for (const analysis::CollectiveCell& cell : found->cells_of(instance)) {
        ++parts;
        CHECK((*mask)->passes(*query.snapshot, cell.event));
      }
    }
    CHECK((*mask)->total() == parts);
  }
  CHECK(report->kinds[0].count + report->kinds[1].count + report->kinds[2].count == 80);
}

TEST_CASE("collectives listings: a filter hides operations and ranks, and the answer says so") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("ranks.accel");
  REQUIRE(run({"simulate", "-o", path, "--ranks", "--devices", "8", "--straggler", "5", "--kernels", "100"}).code ==
          terminal::kExitDone);
  const auto whole = csv_of(path, "collective-instances");
  const auto printed = run({"view", path, "--table", "ranks", "--filter", "device~/rank [0-3] /"});
  CHECK_FALSE(holds(printed.err, "not in the session"));
  CHECK(holds(printed.err, "the filter hides 4 of 8 ranks; waits and times are those of all ranks"));
  const auto ranks = csv_of(path, "ranks", {"--filter", "device~/rank [0-3] /"});
  REQUIRE(ranks.size() == 9);
  const std::size_t waited = column_of(ranks, "waited_ns");
  CHECK(ranks[1][waited] == csv_of(path, "ranks")[1][waited]);
  CHECK(ranks[6][waited].empty());
  // Who was last is known though it is hidden.
  const auto some = csv_of(path, "collective-instances", {"--filter", "device~/rank [0-3] /"});
  CHECK(some == whole);
  const auto one = run({"view", path, "--table", "collectives", "--filter", "AllReduce"});
  CHECK(holds(one.err, "operations; waits and times are those of all ranks"));
}

TEST_CASE("collective grid: columns hold the largest of their instances, and every instance has a column") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(capture::sim::simulate(
              {.kernels = 100, .devices = 4, .detail = capture::sim::Detail::ranks, .faults = {.straggler = 1}}, sink)
              .ok());
  WorkerPool pool(1);
  TaskControl control;
  const auto found = analysis::find_collectives({*store, store->snapshot(), pool, control});
  REQUIRE(found.ok());
  const auto report = analysis::report_collectives(*found, {});
  for (const std::size_t most : {1U, 7U, 33U, 100U, 1000U}) {
    for (const auto measure : {CollectiveMeasure::arrival, CollectiveMeasure::duration, CollectiveMeasure::wait}) {
      const auto grid = make_collective_grid(report, measure, most);
      REQUIRE(grid->columns == std::min<std::size_t>(most, 100));
      std::vector<float> wanted(grid->columns * 4, CollectiveGrid::kNone);
      for (std::size_t i = 0; i < 100; ++i) {
        const std::size_t column = grid->column_of(i);
        const auto [first, last] = grid->instances(column);
        CHECK(first <= i);
        CHECK(i < last);
        const analysis::CollectiveInstance& instance = (*found)->instances[report->instances[i]];
        for (const analysis::CollectiveCell& cell : (*found)->cells_of(instance)) {
          float& value = wanted[column * 4 + cell.rank];
          value = std::max(value, static_cast<float>(measured_ns(instance, cell, measure)));
        }
      }
      CHECK(grid->values == wanted);
    }
  }
  CHECK(ranks_to_compare(*report, 2) == std::vector<std::uint32_t>{0, 1});
  CHECK(ranks_to_compare(*report, 8).size() == 4);
}
