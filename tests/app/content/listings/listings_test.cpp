#include "core/listing/listings.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "capture/sim/output/simulator.h"
#include "core/chunk/session_writer.h"
#include "core/listing/statistics.h"
#include "core/search/filter_mask.h"
#include "tests/app/program_run.h"
#include "tests/support/simulated_session.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::run;

TEST_CASE("listings: view --table prints them within a filter, and says what it cannot do") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.accel");
  test::save_simulated_session(path);
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const auto all = run({"view", path, "--table", "incidents", "--output-format", "csv"});
  REQUIRE(all.code == terminal::kExitDone);
  CHECK(all.out.starts_with("ts_ns,dur_ns,severity,name,track,event_id\n"));
  REQUIRE(lines(all.out) > 2);
  const auto half = run({"view", path, "--table", "incidents", "--range", "0%:50%", "--output-format", "csv"});
  CHECK(lines(half.out) < lines(all.out));
  const auto none = run({"view", path, "--table", "incidents", "--filter", "no such thing", "--output-format", "csv"});
  CHECK(lines(none.out) == 1);
  CHECK(run({"view", path, "--table", "incidents", "--by", "name"}).code != terminal::kExitDone);
  CHECK(run({"view", path, "--table", "incidents", "--range", "nonsense"}).code != terminal::kExitDone);
  CHECK(holds(run({"view", path, "--table", "incident"}).err, "did you mean incidents?"));
}

TEST_CASE("view --table: people read values in the unit of their size, programs get every digit") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.accel");
  test::save_simulated_session(path);
  const auto longest_number = [](const std::string& text) {
    std::size_t longest = 0, digits = 0;
    for (const char c : text) longest = std::max(longest, digits = c >= '0' && c <= '9' ? digits + 1 : 0);
    return longest;
  };
  const std::string csv = run({"view", path, "--table", "path-shares", "--output-format", "csv"}).out;
  const std::string table = run({"view", path, "--table", "path-shares"}).out;
  CHECK(longest_number(csv) >= 12);
  CHECK(longest_number(table) <= 4);
  CHECK(holds(table, " %"));
  CHECK(holds(table, " µs"));
  CHECK(longest_number(run({"query", path, "SELECT 0.28019002219189304 AS share"}).out) <= 4);
  CHECK(
      holds(run({"query", path, "SELECT 0.28019002219189304 AS share", "--format", "csv"}).out, "0.28019002219189304"));
  CHECK(holds(run({"query", path, "SELECT 1099511627776 AS id"}).out, "1099511627776"));  // to be copied
}

TEST_CASE("listings: as many cells as columns, of every listing, and columns that are told apart") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(capture::sim::simulate({.seed = 7, .kernels = 1}, sink).ok());
  WorkerPool pool(1);
  TaskControl control;
  for (const listing::ListingKind& kind : listing::listing_kinds()) {
    CAPTURE(kind.name);
    const auto listing = kind.make({*store, store->snapshot(), pool, control}, {});
    REQUIRE(listing.ok());
    CHECK(listing::find_listing(kind.name) != nullptr);
    CHECK_FALSE(kind.summary.empty());
    REQUIRE_FALSE(listing->columns.empty());
    CHECK(listing->rows.cells.size() == listing->rows.row_count() * listing->columns.size());
    CHECK((listing->targets.empty() || listing->targets.size() == listing->rows.row_count()));
    std::vector<std::string> names = listing->rows.columns;
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
    for (const listing::ListingColumn& column : listing->columns) CHECK_FALSE(column.title.empty());
  }
  CHECK(listing::find_listing("no such listing") == nullptr);
}

TEST_CASE("listings: statistics by any columns are printed, and add up to what they are grouped from") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.accel");
  test::save_simulated_session(path);
  const auto by_name = run({"view", path, "--table", "statistics", "--by", "name", "--output-format", "csv"});
  REQUIRE(by_name.code == terminal::kExitDone);
  CHECK(by_name.out.starts_with(
      "name,count,total_ns,share,mean_ns,min_ns,median_ns,p90_ns,p99_ns,max_ns,deviation_ns\n"));
  CHECK(holds(by_name.out, "\nMATMUL,"));
  CHECK(run({"view", path, "--table", "statistics", "--output-format", "csv"}).out == by_name.out);
  const auto two =
      run({"view", path, "--table", "statistics", "--by", "instruction.opcode,track", "--output-format", "csv"});
  REQUIRE(two.code == terminal::kExitDone);
  CHECK(two.out.starts_with("opcode,track,count,"));
  const auto bytes = run({"view", path, "--table", "statistics", "--value", "bytes", "--output-format", "csv"});
  REQUIRE(bytes.code == terminal::kExitDone);
  CHECK(bytes.out.starts_with("name,count,total_bytes,share,mean_bytes,"));
  CHECK(holds(run({"view", path, "--table", "statistics", "--by", "nmae"}).err, "did you mean name?"));
  CHECK(holds(run({"view", path, "--table", "incidents", "--value", "bytes"}).err, "no choice of what is measured"));
  CHECK(holds(run({"view", path, "--table", "device-stats"}).err, "no zones"));
}

TEST_CASE("listings: a row of statistics selects the events that it counts, whatever it is grouped by") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(capture::sim::simulate({.seed = 9, .kernels = 1}, sink).ok());
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  const std::vector<analysis::StatisticsQuestion> questions = {
      {.by = {"instruction.opcode"}},
      {.by = {"instruction.opcode", "track"}},
      {.by = {"table", "device"}},
      {.by = {"dma.variable", "track"}},
      {.by = {"instruction.nki_source_location"}},
      {.by = {"dma.transfer_size"}, .value = "dma.transfer_size"}};
  for (const analysis::StatisticsQuestion& question : questions) {
    CAPTURE(question.by[0]);
    const auto table = listing::statistics_table(query, question);
    if (!table) FAIL_CHECK(table.message());
    if (!table) continue;
    REQUIRE_FALSE(table->statistics->rows.empty());
    for (std::size_t row = 0; row < std::min<std::size_t>(table->statistics->rows.size(), 12); ++row) {
      const auto* filter = std::get_if<EventFilter>(&table->listing.targets[row]);
      REQUIRE(filter != nullptr);
      const auto mask = search::event_mask(query, *filter);
      REQUIRE(mask.ok());
      CHECK((*mask)->total() == table->statistics->rows[row].figures.count);
    }
  }
}

TEST_CASE("listings: device-stats has zones by core and processor, in cycles and in ns of their clock") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  Schema schema{.name = "zone", .name_column = "zone_name"};
  schema.columns = {{.name = "cycles", .unit = "cycles"},
                    {.name = "pcie_slot"},
                    {.name = "core_x"},
                    {.name = "core_y"},
                    {.name = "risc", .type = ColumnType::string}};
  const SchemaNumber zones = writer.add_schema(schema);
  const ClockNumber clock = writer.add_clock({.name = "chip", .ticks_per_ns = 2});
  for (int core = 1; core <= 2; ++core) {
    const TrackNumber track = writer.add_track({.name = "core " + std::to_string(core),
                                                .kind = "engine",
                                                .device = "chip 0",
                                                .schema = zones,
                                                .clock = clock});
    for (int i = 0; i < 3; ++i) {
      const std::int64_t cycles = 100 * core * (i + 1);
      Row row = writer.begin_event(track, i * 10'000, cycles, writer.intern("FW"));
      row.integer(0, cycles);
      row.integer(1, 0);
      row.integer(2, core);
      row.integer(3, 7);
      row.string(4, writer.intern("BRISC"));
    }
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const auto listing = listing::list_device_stats({*store, store->snapshot(), pool, control}, {});
  REQUIRE(listing.ok());
  REQUIRE(listing->rows.row_count() == 2);
  const auto cell = [&](std::size_t row, std::string_view column) {
    const auto found = std::find(listing->rows.columns.begin(), listing->rows.columns.end(), column);
    REQUIRE(found != listing->rows.columns.end());
    return std::get<std::int64_t>(
        listing->rows.at(row, static_cast<std::size_t>(found - listing->rows.columns.begin())));
  };
  CHECK(cell(0, "core_x") == 2);  // the larger total first
  CHECK(cell(0, "count") == 3);
  CHECK(cell(0, "total_cycles") == 1200);
  CHECK(cell(0, "median_cycles") == 400);
  CHECK(cell(0, "total_ns") == 600);
  CHECK(cell(0, "max_ns") == 300);
  CHECK(cell(1, "mean_cycles") == 200);
  CHECK(cell(1, "min_ns") == 50);
}

TEST_CASE("listings: a column whose name holds a comma and quotes is named in quotes") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.accel");
  {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema({.name = "work", .columns = {{.name = "rows, \"padded\""}}});
    const TrackNumber track = writer.add_track({.name = "q", .kind = "engine", .schema = schema});
    for (std::int64_t i = 0; i < 6; ++i) writer.begin_event(track, i * 10, 5, writer.intern("a")).integer(0, i % 2);
    REQUIRE(writer.finish().ok());
    REQUIRE(store->save(path).ok());
  }
  const auto found =
      run({"view", path, "--table", "statistics", "--by", "\"rows, \"\"padded\"\"\",name", "--output-format", "csv"});
  REQUIRE(found.code == terminal::kExitDone);
  CHECK(holds(found.out, "\n0,a,3,"));
  CHECK(holds(found.out, "\n1,a,3,"));
  CHECK(holds(run({"view", path, "--table", "statistics", "--by", "\"rows, "}).err, "add a closing"));
}
