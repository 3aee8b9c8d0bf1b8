// Sets of markers in the markers' panel and as commands, and what one marker is measured against.
#include <filesystem>
#include <fstream>

#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

struct MarkersViewer : OpenViewer {
  MarkersViewer() {
    run("panel_markers");
    REQUIRE(shell.settle());
  }
  void put(std::int64_t at, const char* name, std::optional<std::int64_t> end = {}) {
    Marker marker;
    marker.ts_ns = at;
    marker.end_ns = end;
    marker.name = name;
    session::put_marker(tab(), marker);
    shell.frame(3);
  }
  void click(const char* name) {
    REQUIRE_MESSAGE(shell.click(name), name);
    shell.frame(3);
  }
  [[nodiscard]] std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const Marker& marker : tab().store->markers()) names.push_back(marker.name);
    return names;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE_FIXTURE(MarkersViewer, "marker sets: saved by name in the panel, and loaded in another run of the viewer") {
  CHECK(shell.shows("No sets yet"));
  put(1'200, "warm up");
  put(2'000, "steady", 2'600);
  click("markers.sets.name");
  shell.type("phases");
  shell.frame(3);
  click("markers.sets.save");
  CHECK(shell.shows("Saved the markers as phases"));
  CHECK(shell.shows("phases  (2)"));
  run("close");
  CHECK(app.workspace().tab_count() == 0);  // the file has them: no question
  open(path);
  while (!tab().markers.empty()) session::remove_marker(tab(), tab().markers.front().id);
  shell.frame(3);
  CHECK(shell.shows("phases  (2)"));
  click("markers.sets.load");
  CHECK(names() == Names{"warm up", "steady"});
  CHECK(shell.shows("steady"));
}

TEST_CASE_FIXTURE(MarkersViewer, "marker sets: added beside the markers, renamed and deleted") {
  put(1'200, "one");
  click("markers.sets.name");
  shell.type("a");
  shell.key(Key::enter);
  shell.frame(3);
  click("markers.sets.add");
  CHECK(names() == Names{"one", "one"});
  click("markers.sets.name");
  shell.type("b");
  shell.frame(3);
  click("markers.sets.rename");
  CHECK(shell.shows("b  (1)"));
  CHECK_FALSE(shell.shows("a  (1)"));
  click("markers.sets.delete");
  CHECK(shell.shows("No sets yet"));
  CHECK(names() == Names{"one", "one"});
}

TEST_CASE_FIXTURE(MarkersViewer, "marker sets: the palette saves and loads them by name") {
  put(1'200, "one");
  run("save_marker_set");
  shell.type("first");
  shell.frame(3);
  shell.key(Key::enter);
  shell.frame(3);
  session::remove_marker(tab(), tab().markers.at(0).id);
  shell.frame(3);
  run("load_marker_set");
  shell.type("frist");
  shell.frame(3);
  CHECK(shell.shows("there is no such set; there are first"));
  for (int i = 0; i < 5; ++i) shell.key(Key::backspace);
  shell.type("first");
  shell.frame(3);
  shell.key(Key::enter);
  shell.frame(3);
  CHECK(names() == Names{"one"});
}

TEST_CASE_FIXTURE(MarkersViewer, "marker sets: exported to a file and imported into another session") {
  put(1'200, "one");
  click("markers.sets.name");
  shell.type("a");
  shell.key(Key::enter);
  shell.frame(3);
  click("markers.sets.export");
  shell.frame(3);
  const std::string file = folder.file("sets.txt");
  shell.key(Key::a, {.ctrl = true});
  shell.type(file);
  shell.frame(3);
  shell.key(Key::enter);
  REQUIRE(wait_for([&] { return std::filesystem::exists(file) && std::filesystem::file_size(file) > 0; }));
  run("close");
  TemporaryFolder second;
  open(save_small_session(second.path()));
  run("panel_markers");
  shell.frame(3);
  CHECK(shell.shows("No sets yet"));
  click("markers.sets.import");
  shell.frame(3);
  shell.type(file);
  shell.frame(3);
  shell.key(Key::enter);
  REQUIRE(wait_for([&] { return shell.shows("a  (1)"); }));
  click("markers.sets.load");
  CHECK(names() == Names{"one"});
}

TEST_CASE_FIXTURE(MarkersViewer, "markers: one is measured against any other") {
  put(1'000, "start");
  put(1'700, "middle");
  put(3'000, "");
  REQUIRE(shell.find("markers.diff") != nullptr);
  click("markers.diff");
  click("markers.diff.1");
  CHECK(shell.shows("From middle"));
  CHECK(shell.shows("−700 ns"));  // the chosen marker is the first
  click("markers.diff");
  CHECK(shell.shows("C"));  // a marker without a name goes by its letter
  click("markers.diff.2");
  CHECK(shell.shows("−2,000 ns"));
}
