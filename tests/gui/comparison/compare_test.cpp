// The Compare panel: alone it says what is missing; with a second session open it sets both beside each other.
#include "capture/sim/output/simulator.h"
#include "core/search/filter_mask.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

std::string saved_simulation(const TemporaryFolder& folder, const std::string& name, double slower,
                             std::uint32_t diverging = 0) {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  capture::sim::SimulationOptions options{.seed = 3, .kernels = 1, .slower = slower};
  if (diverging > 0) options.diverging_operation = diverging;
  REQUIRE(capture::sim::simulate(options, sink).ok());
  REQUIRE(store->save(folder.file(name)).ok());
  return folder.file(name);
}

}  // namespace

TEST_CASE("compare panel: alone it says what to open, and with another session it shows figures and costs of both") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.open(saved_simulation(folder, "first.accel", 0));
  viewer.app.layout().show("compare");
  viewer.shell.frame(3);
  CHECK(viewer.shell.find("compare.rows.row.0") == nullptr);
  viewer.open(saved_simulation(folder, "second.accel", 0.1));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("compare.rows.row.0") != nullptr; }));
  CHECK(viewer.shell.find("compare.other.0") != nullptr);
  for (const char* page : {"compare.page.2", "compare.page.3", "compare.page.4", "compare.page.5", "compare.page.6"}) {
    CAPTURE(page);
    REQUIRE(viewer.shell.click(page));
    REQUIRE(viewer.shell.settle());
    CHECK(viewer.wait_for([&] { return viewer.shell.find("compare.rows.row.0") != nullptr; }));
  }
}

TEST_CASE("compare panel: a click on a row of costs lights its events in A and in B, and one on a figure chooses it") {
  const TemporaryFolder folder;
  const std::string first = saved_simulation(folder, "first.accel", 0);
  Viewer viewer(frame::AppOptions{.compared = {saved_simulation(folder, "second.accel", 0.3)}});
  viewer.open(first);
  viewer.app.layout().show("compare");
  const auto click_row = [&](const char* page) {
    REQUIRE(viewer.shell.click(page));
    REQUIRE(viewer.wait_for([&] { return viewer.shell.find("compare.rows.row.1") != nullptr; }));
    REQUIRE(viewer.shell.settle());
    REQUIRE(viewer.shell.click("compare.rows.row.1"));
    REQUIRE(viewer.shell.settle());
  };
  REQUIRE(viewer.tab().beside.size() == 1);
  const session::SessionTab& other = *viewer.tab().beside.front().session;
  for (const char* page : {"compare.page.2", "compare.page.3", "compare.page.4", "compare.page.5"}) {
    CAPTURE(page);
    viewer.tab().region.reset();
    click_row(page);
    for (const session::SessionTab* each : {&std::as_const(viewer.tab()), &other}) {
      REQUIRE(each->region.has_value());
      TaskControl control;
      const auto lit = search::event_mask({*each->store, each->snapshot, *each->pool, control}, *each->region, nullptr);
      REQUIRE(lit.ok());
      CHECK((*lit)->total() > 0);
    }
  }
  click_row("compare.page.0");
  CHECK(viewer.tab().region.has_value());  // a figure is of no events: those stay
}

TEST_CASE("compare panel: what was opened first is A, a click swaps, and one on the results selects where they part") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.open(saved_simulation(folder, "first.accel", 0));
  viewer.open(saved_simulation(folder, "second.accel", 0.1, 70));
  viewer.app.layout().show("compare");
  const auto verdict = [&](const std::string& text) {
    return viewer.wait_for([&] { return viewer.shell.shows(text); });
  };
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("compare.results") != nullptr; }));
  CHECK(verdict("slower"));
  REQUIRE(viewer.shell.click("compare.swap"));
  CHECK(verdict("faster"));
  REQUIRE(viewer.shell.click("compare.swap"));
  CHECK(verdict("slower"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("compare.results") != nullptr; }));
  REQUIRE(viewer.shell.click("compare.results"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().selected.has_value());
}
