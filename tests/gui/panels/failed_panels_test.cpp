// A session of which a chunk cannot be read: every panel that adds up its events says so, in place of nothing.
#include <sqlite3.h>

#include "capture/sim/output/simulator.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

TEST_CASE("panels: work that fails is told where its answer would stand") {
  const TemporaryFolder folder;
  const std::string path = folder.file("damaged.accel");
  {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1}, sink).ok());
    REQUIRE(store->save(path).ok());
  }
  sqlite3* file = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &file) == SQLITE_OK);
  REQUIRE(sqlite3_exec(file, "UPDATE chunk SET payload = zeroblob(length(payload))", nullptr, nullptr, nullptr) ==
          SQLITE_OK);
  sqlite3_close(file);
  Viewer viewer;
  viewer.app.open(path);
  REQUIRE(viewer.wait_for([&] { return viewer.app.workspace().tab_count() == 1; }));
  const std::pair<std::string, std::string> panels[] = {
      {"statistics", "statistics.wrong"}, {"roofline", "roofline.error"}, {"core-grid", "grid.error"}};
  for (const auto& [panel, said] : panels) {
    CAPTURE(panel);
    viewer.app.layout().show(panel);
    viewer.app.layout().maximise(panel);
    CHECK(viewer.wait_for([&] { return viewer.shell.find(said) != nullptr && viewer.shell.shows("chunk"); }));
  }
}
