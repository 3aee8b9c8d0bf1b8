// A session whose events cannot be read: every panel that adds them up says so, in place of nothing.
#include <sqlite3.h>

#include <algorithm>

#include "capture/sim/output/simulator.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

// Tables without time can be read, nothing else.
std::string save_damaged(const TemporaryFolder& folder) {
  const std::string path = folder.file("damaged.accel");
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1}, sink).ok());
  REQUIRE(store->save(path).ok());
  sqlite3* file = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &file) == SQLITE_OK);
  for (const LaneSnapshot& lane : store->snapshot()->lanes) {
    if (lane.data->kind == EventKind::table) continue;
    const std::string sql =
        "UPDATE chunk SET payload = zeroblob(length(payload)) WHERE lane = " + std::to_string(lane.number());
    REQUIRE(sqlite3_exec(file, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  sqlite3_close(file);
  return path;
}

// Some text in the panel, not in a bar above or below it, speaks of what cannot be read.
bool tells(render::NullShell& shell) {
  const std::vector<render::VisibleText>& texts = shell.ui().texts();
  const render::Rect middle = shell.ui().window().inset(0, 130);
  return std::any_of(texts.begin(), texts.end(), [&](const render::VisibleText& each) {
    return middle.contains(each.rect.centre()) && each.text.find("chunk") != std::string::npos;
  });
}

}  // namespace

TEST_CASE("panels: work that fails is told where its answer would stand") {
  const TemporaryFolder folder;
  const std::string path = save_damaged(folder);
  Viewer viewer;
  viewer.app.open(path);
  REQUIRE(viewer.wait_for([&] { return viewer.app.workspace().tab_count() == 1; }));
  for (const char* panel : {"statistics", "roofline", "core-grid", "warnings", "memory"}) {
    CAPTURE(panel);
    viewer.app.layout().show(panel);
    viewer.app.layout().maximise(panel);
    CHECK(viewer.wait_for([&] { return tells(viewer.shell); }));
  }
  viewer.app.layout().show("tables");
  viewer.app.layout().maximise("tables");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("tables.list.neff_node") != nullptr; }));
  REQUIRE(viewer.shell.click("tables.list.neff_node"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("tables.rows.row.1") != nullptr; }));
  REQUIRE(viewer.shell.click("tables.rows.row.1"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("tables.life_error") != nullptr; }));
  CHECK(viewer.shell.shows_in(*viewer.shell.find("tables.life_error"), "is not known"));
}
