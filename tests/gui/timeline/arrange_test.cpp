// Layouts under a name, the dialogs of keys and of a time, tables that are filtered and exported, with real input.
#include <fstream>
#include <iterator>

#include "app/persist/persist.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

TEST_CASE("layouts: one that was saved by name comes back, and is still there with the next start") {
  TemporaryFolder state;
  {
    OpenViewer viewer({.state_directory = state.path()});
    viewer.run("layout.minimal");
    CHECK_FALSE(viewer.app.layout().is_open("source"));
    CHECK(viewer.app.layout().is_seen("details"));
    viewer.run("layout.save");
    viewer.shell.type("quiet");
    viewer.shell.key(Key::enter);
    viewer.shell.frame(3);
    viewer.run("layout.full");
    CHECK(viewer.app.layout().is_seen("source"));
  }
  OpenViewer viewer({.state_directory = state.path()});
  CHECK(viewer.app.layout().is_seen("source"));
  viewer.run("layout.restore.quiet");
  CHECK_FALSE(viewer.app.layout().is_open("source"));
  CHECK_FALSE(viewer.app.commands().matching("restore layout quiet").empty());  // the palette has it
  viewer.run("layout.delete.quiet");
  CHECK(viewer.app.commands().find("layout.restore.quiet") == nullptr);
}

TEST_CASE("layouts: as text they come back as they were, and what cannot be read is left out") {
  persist::SavedLayouts layouts;
  layouts.put("a|b", "right=300;");
  layouts.put("mine", "bottom=200;");
  layouts.put("mine", "bottom=210;");
  const persist::SavedLayouts again = persist::SavedLayouts::from_text(layouts.to_text() + "half");
  REQUIRE(again.all().size() == 2);
  REQUIRE(again.find("a/b") != nullptr);
  CHECK(again.find("a/b")->text == "right=300;");
  CHECK(again.find("mine")->text == "bottom=210;");
}

TEST_CASE("go to time: a stretch or a time moves the view, and what is wrong is said while typing") {
  OpenViewer viewer;
  viewer.shell.key(Key::g, {.ctrl = true});
  viewer.shell.frame(2);
  viewer.shell.type("12 parsecs");
  viewer.shell.frame(2);
  const auto before = viewer.tab().view;
  CHECK(viewer.shell.shows("parsecs"));
  viewer.shell.key(Key::enter);  // refused
  viewer.shell.frame(2);
  CHECK(viewer.tab().view == before);
  viewer.shell.key(Key::a, {.ctrl = true});
  viewer.shell.type("2us:3us");
  viewer.shell.key(Key::enter);
  viewer.shell.frame(3);
  CHECK(viewer.tab().view.begin_ns == 2'000);
  CHECK(viewer.tab().view.end_ns == 3'000);
  viewer.shell.key(Key::g, {.ctrl = true});
  viewer.shell.frame(2);
  viewer.shell.type("4us");
  viewer.shell.key(Key::enter);
  viewer.shell.frame(3);
  CHECK(viewer.tab().view.begin_ns == 3'500);
  CHECK(viewer.tab().view.end_ns == 4'500);
}

TEST_CASE("keys: the list is narrowed by what is typed") {
  OpenViewer viewer;
  viewer.run("keys");
  CHECK(viewer.shell.shows("Open a file or folder..."));
  REQUIRE(viewer.shell.click("keys.filter"));
  viewer.shell.type("save as");
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("Save as..."));
  CHECK_FALSE(viewer.shell.shows("Open a file or folder..."));
}

TEST_CASE("tables: the metrics are filtered in their table and exported as CSV") {
  OpenViewer viewer;
  viewer.run("panel_metrics");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("metrics.table.filter") != nullptr; }));
  REQUIRE(viewer.shell.click("metrics.table.filter"));
  viewer.shell.frame(2);
  viewer.shell.type("MFU");
  viewer.shell.frame(2);
  CHECK(viewer.shell.find("metrics.table.row.1") == nullptr);
  REQUIRE(viewer.shell.click("metrics.table.head.1", render::MouseButton::right));
  REQUIRE(viewer.shell.click("metrics.table.columns.csv"));
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.settle());
  const std::string path = viewer.folder.file("out.csv");
  viewer.shell.key(Key::a, {.ctrl = true});
  viewer.shell.type(path);
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("Wrote "); }));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.starts_with("Group,Metric,The file states,"));
  CHECK(text.find(",mfu,") != std::string::npos);
  CHECK(text.find("total_time") == std::string::npos);
}

TEST_CASE("palette: what was run last stands first") {
  OpenViewer viewer;
  const auto palette = [&] {
    viewer.shell.key(Key::p, {.ctrl = true});
    viewer.shell.frame(3);
  };
  palette();
  viewer.shell.type("dark or light");
  viewer.shell.key(Key::enter);
  viewer.shell.frame(3);
  palette();
  const auto* theme = viewer.shell.find("command_list.theme");
  REQUIRE(theme != nullptr);
  CHECK(theme->y0 < viewer.shell.find("command_list.open")->y0);
}
