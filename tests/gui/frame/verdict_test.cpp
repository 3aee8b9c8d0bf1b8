// The line above the timeline that says what bounds a session, with real input events.
#include "tests/gui/viewer.h"
#include "tests/support/files.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

TEST_CASE("verdict: the first view says what bounds the session, its worst line and what its data lack") {
  OpenViewer viewer;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("verdict.line") != nullptr; }));
  CHECK(viewer.shell.shows("of the work"));
  CHECK(viewer.shell.shows("kernel.py:3 waits 40 ns"));
  CHECK(viewer.shell.shows("missing dge notifications"));
}

TEST_CASE("verdict: a click on the worst line opens its source, one on what is missing the quality report") {
  OpenViewer viewer;
  viewer.app.layout().close("source");
  viewer.shell.frame(2);
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("verdict.line") != nullptr; }));
  REQUIRE(viewer.shell.click("verdict.line"));
  CHECK(viewer.app.layout().is_seen("source"));
  CHECK(viewer.tab().selected_source == "kernel.py:3");
  REQUIRE(viewer.shell.click("verdict.missing"));
  CHECK(viewer.app.layout().is_seen("quality"));
}

TEST_CASE("verdict: it can be closed and comes back from the View menu, and nothing moves when the answer comes") {
  OpenViewer viewer;
  REQUIRE(viewer.shell.find("verdict.close") != nullptr);
  const float before = viewer.shell.find("verdict.close")->y0;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("verdict.line") != nullptr; }));
  CHECK(viewer.shell.find("verdict.close")->y0 == before);
  REQUIRE(viewer.shell.click("verdict.close"));
  viewer.shell.frame(2);
  CHECK(viewer.shell.find("verdict.line") == nullptr);
  CHECK_FALSE(viewer.app.commands().find("verdict")->checked());
  viewer.run("verdict");
  CHECK(viewer.wait_for([&] { return viewer.shell.find("verdict.line") != nullptr; }));
}

TEST_CASE("a profile of figures alone greets with them, and without an empty timeline") {
  const TemporaryFolder folder;
  const std::string path = folder.file("summary.json");
  write_file(path, R"({"n_0123456789abcdef0123456789abcdef01234567":{"total_time":0.0045,"mfu_estimated_percent":0.31,
    "tensor_engine_active_time_percent":0.5,"dma_active_time_percent":0.25}})");
  Viewer viewer;
  viewer.open(path);
  viewer.shell.frame(2);
  CHECK(viewer.app.layout().is_seen("metrics"));
  CHECK(viewer.shell.shows("mfu_estimated_percent"));
  CHECK(viewer.shell.find("timeline.filter") == nullptr);
}
