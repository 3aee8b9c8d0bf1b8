#include "app/content/listings/listings.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "app/persist/peak_book.h"
#include "app/system/system_paths.h"
#include "capture/sim/output/simulator.h"
#include "tests/app/program_run.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::run;

TEST_CASE("listings: view --table prints them within a filter, and says what it cannot do") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.accel");
  {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate({.seed = 5, .kernels = 1}, sink).ok());
    REQUIRE(store->save(path).ok());
  }
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const auto all = run({"view", path, "--table", "incidents", "--output-format", "csv"});
  REQUIRE(all.code == kExitDone);
  CHECK(all.out.starts_with("ts_ns,dur_ns,severity,name,track,event_id\n"));
  REQUIRE(lines(all.out) > 2);
  const auto half = run({"view", path, "--table", "incidents", "--range", "0%:50%", "--output-format", "csv"});
  CHECK(lines(half.out) < lines(all.out));
  const auto none = run({"view", path, "--table", "incidents", "--filter", "no such thing", "--output-format", "csv"});
  CHECK(lines(none.out) == 1);
  CHECK(run({"view", path, "--table", "incidents", "--by", "name"}).code != kExitDone);
  CHECK(run({"view", path, "--table", "incidents", "--range", "nonsense"}).code != kExitDone);
  CHECK(holds(run({"view", path, "--table", "incident"}).err, "did you mean incidents?"));
}

TEST_CASE("listings: as many cells as columns, of every listing, and columns that are told apart") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(capture::sim::simulate({.seed = 7, .kernels = 1}, sink).ok());
  WorkerPool pool(1);
  TaskControl control;
  for (const ListingKind& kind : listing_kinds()) {
    CAPTURE(kind.name);
    const auto listing = kind.make({*store, store->snapshot(), pool, control}, {});
    REQUIRE(listing.ok());
    CHECK(find_listing(kind.name) != nullptr);
    CHECK_FALSE(kind.summary.empty());
    REQUIRE_FALSE(listing->columns.empty());
    CHECK(listing->rows.cells.size() == listing->rows.row_count() * listing->columns.size());
    CHECK((listing->targets.empty() || listing->targets.size() == listing->rows.row_count()));
    std::vector<std::string> names = listing->rows.columns;
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
    for (const ListingColumn& column : listing->columns) CHECK_FALSE(column.title.empty());
  }
  CHECK(find_listing("no such listing") == nullptr);
}

TEST_CASE("listings: roofline, memory levels and peaks are printed, with what the user has entered") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.accel");
  {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate({.seed = 5, .kernels = 1}, sink).ok());
    REQUIRE(store->save(path).ok());
  }
  const std::string state = folder.path() + "/state";
  const char* before = std::getenv("XDG_STATE_HOME");
  const std::string kept = before == nullptr ? "" : before;
  setenv("XDG_STATE_HOME", state.c_str(), 1);
  const auto levels = run({"view", path, "--table", "memory-levels", "--output-format", "csv"});
  REQUIRE(levels.code == kExitDone);
  CHECK(holds(levels.out, "HBM to SBUF"));
  CHECK(holds(levels.out, "\"Compute, bf16\""));
  const auto by_layer = run({"view", path, "--table", "roofline", "--output-format", "csv"});
  CHECK(holds(by_layer.out, "layers.0/"));
  const auto by_line = run({"view", path, "--table", "roofline", "--by", "line", "--output-format", "csv"});
  REQUIRE(by_line.code == kExitDone);
  CHECK(holds(by_line.out, ".py:"));
  CHECK_FALSE(holds(by_line.out, "layers.0/"));
  CHECK(holds(run({"view", path, "--table", "roofline", "--by", "kernel"}).err, "by name, layer or line"));
  const auto peaks = run({"view", path, "--table", "peaks", "--output-format", "csv"});
  CHECK(holds(peaks.out, "NeuronCore of simulated,hbm,HBM,410000000000"));
  {
    PeakBook book(peak_book_file(state_directory(process_environment())));
    REQUIRE(book.enter({"NeuronCore of simulated", "hbm", 8.2e11}).ok());
  }
  const auto entered = run({"view", path, "--table", "peaks", "--output-format", "csv"});
  CHECK(holds(entered.out, "entered"));
  CHECK(run({"view", path, "--table", "memory-levels", "--output-format", "csv"}).out != levels.out);
  kept.empty() ? unsetenv("XDG_STATE_HOME") : setenv("XDG_STATE_HOME", kept.c_str(), 1);
}
