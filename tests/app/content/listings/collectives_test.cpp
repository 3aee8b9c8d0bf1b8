// The tables of collectives on the command line, of simulated ranks with what was planted in them.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "app/content/collective_grid.h"
#include "app/content/listings/collectives.h"
#include "capture/sim/output/simulator.h"
#include "tests/app/program_run.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::run;

namespace {

std::vector<std::vector<std::string>> csv_of(const std::string& path, const std::string& table,
                                             const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"view", path, "--table", table, "--output-format", "csv"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto printed = run(arguments);
  REQUIRE(printed.code == kExitDone);
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
              .code == kExitDone);
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
              .code == kExitDone);
  const auto printed = run({"view", path, "--table", "ranks"});
  CHECK(holds(printed.err, "1 of 16 ranks is not in the session: waits may be for it"));
  CHECK(holds(printed.err, "clocks set by 48 collectives; residual"));
  const auto ranks = csv_of(path, "ranks");
  REQUIRE(ranks.size() == 17);
  CHECK(ranks[3][0] == "rank 2");
  CHECK(ranks[12][column_of(ranks, "straggler")] == "yes");
  CHECK(run({"simulate", "-o", path, "--ranks", "--slim"}).code != kExitDone);
  CHECK(run({"simulate", "-o", path, "--ranks", "--late", "soon"}).code != kExitDone);
}

TEST_CASE("collective grid: columns hold the largest of their instances, and every instance has a column") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(capture::sim::simulate(
              {.kernels = 100, .devices = 4, .detail = capture::sim::Detail::ranks, .faults = {.straggler = 1}}, sink)
              .ok());
  WorkerPool pool(1);
  TaskControl control;
  const auto found = find_collectives({*store, store->snapshot(), pool, control});
  REQUIRE(found.ok());
  const auto report = report_collectives(*found, {});
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
        const CollectiveInstance& instance = (*found)->instances[report->instances[i]];
        for (const CollectiveCell& cell : (*found)->cells_of(instance)) {
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
