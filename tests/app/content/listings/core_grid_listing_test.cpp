#include "core/listing/analysis_listings.h"

#include <doctest/doctest.h>

#include <map>
#include <sstream>

#include "tests/app/program_run.h"
#include "tests/support/core_session.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::run;

namespace {

// The value of a column by chip and core, of a listing printed as CSV.
std::map<std::string, double> csv_column(const std::string& csv, const std::string& wanted) {
  std::istringstream lines(csv);
  std::string line;
  std::vector<std::string> head;
  std::map<std::string, double> found;
  const auto cells_of = [](const std::string& text) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : text) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    return cells;
  };
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (head.empty()) {
      head = cells;
      continue;
    }
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < head.size(); ++i) row[head[i]] = cells[i];
    REQUIRE(row.contains(wanted));
    found[row["chip"] + " " + row["core"]] = std::stod(row[wanted]);
  }
  return found;
}

}  // namespace

TEST_CASE("core grid listing: view --table core-grid prints a measure of every core, and ranges add up to the whole") {
  const test::CoreSession session(21, 150);
  const test::TemporaryFolder folder;
  const std::string path = folder.file("cores.accel");
  REQUIRE(session.store->save(path).ok());
  const auto print = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"view", path, "--table", "core-grid", "--output-format", "csv"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const auto whole = print({});
  REQUIRE(whole.code == terminal::kExitDone);
  const auto busy = csv_column(whole.out, "value_ns");
  CHECK(busy.size() == 12);
  const auto cycles = csv_column(whole.out, "cycles");
  CHECK(cycles.at("chip 0 core 1,7") == busy.at("chip 0 core 1,7"));
  CHECK(cycles.at("chip 1 core 1,7") == doctest::Approx(busy.at("chip 1 core 1,7") / 2).epsilon(0.001));
  const std::string end = std::to_string(session.store->snapshot()->end_ns);
  const auto early = csv_column(print({"--range", "0:3000"}).out, "value_ns");
  const auto late = csv_column(print({"--range", "3000:" + end}).out, "value_ns");
  for (const auto& [core, value] : busy) CHECK(early.at(core) + late.at(core) == doctest::Approx(value));
  const auto zone = csv_column(print({"--by", "zone:MATMUL"}).out, "value_ns");
  for (const auto& [core, value] : zone) CHECK(value < busy.at(core));
  CHECK(holds(print({"--by", "zone.bytes"}).out, "value_bytes"));
  CHECK(holds(print({"--by", "events,part:TRISC_1"}).out, "events"));
  const auto wrong = print({"--by", "speed"});
  CHECK(wrong.code != terminal::kExitDone);
  CHECK(holds(wrong.err, "busy, wait, events"));
}

TEST_CASE("core grid listing: the most and the least loaded core come first, then those far from the others") {
  const test::CoreSession session(4, 200);
  WorkerPool pool(1);
  TaskControl control;
  EventFilter filter;
  filter.range = TimeRange{0, 12'000};
  const auto frames = analysis::core_grid_frames({*session.store, session.store->snapshot(), pool, control}, filter,
                                                 {.part = "TRISC_1"}, 8);
  REQUIRE(frames.ok());
  const listing::CoreValues of_frames = listing::core_grid_values(**frames, 0, 8);
  const std::vector<std::size_t> order = listing::core_grid_order(of_frames);
  REQUIRE(order.size() == 12);
  CHECK(of_frames.measured == 12);
  std::vector<double> values;
  for (const std::optional<double>& each : of_frames.cells) values.push_back(each.value());
  CHECK(values[order[0]] == *std::max_element(values.begin(), values.end()));
  CHECK(values[order[1]] == *std::min_element(values.begin(), values.end()));
  const listing::Listing listing = listing::core_grid_listing(**frames, *session.store->snapshot(), 0, 8, order);
  REQUIRE(listing.rows.row_count() == 12);
  CHECK(std::get<std::string>(listing.rows.at(0, 1)).starts_with("most"));
  CHECK(std::get<std::string>(listing.rows.at(1, 1)).starts_with("least"));
  REQUIRE(listing.targets.size() == 12);
  CHECK_FALSE(std::get<EventFilter>(listing.targets[0]).tracks.empty());
}

TEST_CASE("core grid listing: a core without the processor that is measured has no value, and is no core of least") {
  const test::CoreSession session(4, 200, "TRISC_1");
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{*session.store, session.store->snapshot(), pool, control};
  const auto frames = analysis::core_grid_frames(query, {}, {.part = "TRISC_1"}, 8);
  REQUIRE(frames.ok());
  const auto lacking = (*frames)->grid.find(0, 3, 8);
  REQUIRE(lacking);
  CHECK_FALSE((*frames)->is_measured(*lacking));
  const listing::CoreValues values = listing::core_grid_values(**frames, 0, 8);
  CHECK(values.measured == 11);
  CHECK_FALSE(values.cells[*lacking]);
  double sum = 0;
  for (std::size_t cell = 0; cell < values.cells.size(); ++cell) {
    if (cell == *lacking) continue;
    REQUIRE(values.cells[cell]);
    sum += *values.cells[cell];
    CHECK(*values.cells[cell] >= values.spread.min);
  }
  CHECK(values.spread.min > 0);
  CHECK(values.spread.mean == doctest::Approx(sum / 11));
  CHECK(values.spread.least != *lacking);
  CHECK(*values.cells[values.spread.least] == values.spread.min);
  CHECK(listing::core_grid_shares(**frames, 0, 8).spread.max <= 1);
  const std::vector<std::size_t> order = listing::core_grid_order(values);
  CHECK(order.back() == *lacking);
  const listing::Listing listing = listing::core_grid_listing(**frames, *session.store->snapshot(), 0, 8, order);
  const std::size_t last = listing.rows.row_count() - 1;
  CHECK(std::get<std::string>(listing.rows.at(last, 0)) == "core 3,8");
  for (const std::size_t column : {2U, 3U, 4U, 5U}) {  // value, cycles, share, events
    CHECK(std::holds_alternative<std::monostate>(listing.rows.at(last, column)));
    CHECK_FALSE(std::holds_alternative<std::monostate>(listing.rows.at(0, column)));
  }
  CHECK(holds(listing.note, "1 of 12 cores have no TRISC_1"));
  // All of a core is always measured.
  const auto whole = analysis::core_grid_frames(query, {}, {}, 8);
  REQUIRE(whole.ok());
  CHECK(listing::core_grid_values(**whole, 0, 8).measured == 12);
}
