#include "app/content/listings/listings.h"

#include <doctest/doctest.h>

#include <algorithm>

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
