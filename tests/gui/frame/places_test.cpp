// The places of panels: which of them comes forward, small windows, the slim door, tabs that are dragged.
#include "core/chunk/session_writer.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;
using render::MouseButton;
using render::Point;
using render::Rect;

namespace {

// A session whose events name no source line.
std::string save_without_lines(const TemporaryFolder& folder) {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "kernel", .kind = EventKind::slice});
  const TrackNumber track =
      writer.add_track({.name = "stream 7", .kind = "stream", .device = "gpu0", .schema = schema});
  for (int i = 0; i < 50; ++i) writer.begin_event(track, i * 1'000, 500, writer.intern("gemm"));
  REQUIRE(writer.finish().ok());
  const std::string path = folder.file("gpu.accel");
  REQUIRE((*store)->save(path, {}).ok());
  return path;
}

struct Places : OpenViewer {
  [[nodiscard]] bool seen(PanelId id) { return app.layout().is_seen(id); }
};

}  // namespace

TEST_CASE_FIXTURE(Places, "places: with nothing selected the bottom says what is visible, a selection brings Details") {
  CHECK(seen("selection"));
  select(kFirstMatmul);
  CHECK(seen("details"));
  shell.key(Key::escape);
  shell.frame(2);
  CHECK_FALSE(tab().selected);
  CHECK(seen("selection"));
}

TEST_CASE_FIXTURE(Places,
                  "places: a selection hides the memory panel only until it is cleared, and never a pinned tab") {
  REQUIRE(shell.click("bottom.memory"));
  select(kFirstMatmul);
  CHECK(seen("details"));
  shell.key(Key::escape);
  shell.frame(2);
  CHECK(seen("memory"));
  REQUIRE(shell.click("bottom.pin"));
  select(kFirstMatmul);
  CHECK(seen("memory"));
  CHECK(app.layout().is_pinned("memory"));
  REQUIRE(shell.click("bottom.pin"));
  shell.key(Key::escape);
  shell.frame(2);
  select(kFirstMatmul);
  CHECK(seen("details"));
}

TEST_CASE("places: on a laptop the timeline has half of the window, and a door stands for the source column") {
  OpenViewer viewer;
  viewer.shell.resize(1280, 720, 1);
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.settle());
  const Rect* door = viewer.shell.find("door.open");
  REQUIRE(door != nullptr);
  CHECK(viewer.shell.find("splitter.right") == nullptr);
  const Rect bottom = *viewer.shell.find("splitter.bottom");
  const Rect canvas = *viewer.shell.find("timeline.canvas");
  const float top = viewer.shell.find("verdict.close") != nullptr ? viewer.shell.find("verdict.close")->y1 + 2 : 96;
  CHECK((bottom.y0 - top) * door->x0 >= 0.49F * 1280 * 720);
  CHECK(canvas.x1 > 1200);
  REQUIRE(viewer.shell.click("door.source"));
  viewer.shell.frame(2);
  CHECK(viewer.app.layout().is_seen("source"));
  REQUIRE(viewer.shell.click("right.shut"));
  viewer.shell.frame(2);
  CHECK(viewer.shell.find("door.open") != nullptr);
  viewer.shell.resize(1600, 900, 1);  // there is room again, and no wish against it
  viewer.shell.frame(2);
  CHECK(viewer.app.layout().is_seen("source"));
}

TEST_CASE("places: the source column closes itself where no event has a line, and its door brings it back") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.open(save_without_lines(folder));
  viewer.shell.frame(3);
  CHECK_FALSE(viewer.app.layout().is_seen("source"));
  REQUIRE(viewer.shell.click("door.open"));
  viewer.shell.frame(2);
  CHECK(viewer.app.layout().is_seen("source"));
  REQUIRE(viewer.shell.click("right.shut"));
  viewer.shell.frame(2);
  CHECK(viewer.shell.find("door.open") != nullptr);
}

TEST_CASE_FIXTURE(Places, "places: a command for a panel behind the door opens the column") {
  shell.resize(1280, 720, 1);
  shell.frame(3);
  run("panel_stack");
  CHECK(seen("stack"));
}

TEST_CASE_FIXTURE(Places, "places: a tab that is dragged to the other place goes there") {
  const Point from = shell.find("bottom.memory")->centre();
  const Rect right = *shell.find("right.source");
  shell.drag(from, {right.x0 + 60, right.y1 + 200});
  shell.frame(3);
  CHECK(app.layout().place("memory") == Place::right);
  CHECK(seen("memory"));
  const Point back = shell.find("right.memory")->centre();
  shell.drag(back, {600, shell.find("splitter.bottom")->y1 + 100});
  shell.frame(3);
  CHECK(app.layout().place("memory") == Place::bottom);
}

TEST_CASE_FIXTURE(Places, "places: a tab that is let go anywhere else stays where it was") {
  shell.drag(shell.find("bottom.memory")->centre(), {300, 300});
  shell.frame(3);
  CHECK(app.layout().place("memory") == Place::bottom);
}

TEST_CASE("panel layout: the bottom is a share of the window, in every window that is opened later") {
  PanelLayout layout;
  const Rect large{0, 0, 1600, 784};
  layout.drag_splitter(Place::bottom, -156, large, 1);
  const PanelLayout again = PanelLayout::from_text(layout.to_text());
  const float share = again.rects(large, 1).places[1].height() / 784;
  const Rect small{0, 0, 1280, 604};
  CHECK(again.rects(small, 1).places[1].height() / 604 == doctest::Approx(share).epsilon(0.01));
  const PanelLayout old = PanelLayout::from_text("bottom=236;");
  CHECK(old.rects(large, 1).places[1].height() == doctest::Approx(236).epsilon(0.02));
  CHECK(old.rects(small, 1).places[1].height() < 200);
}

TEST_CASE("places: the platform view shows host calls, devices and how long launches wait, and the calls beside them") {
  const TemporaryFolder folder;
  const std::string trace = folder.file("trace.json");
  std::string events;
  for (int i = 0; i < 20; ++i) {
    const std::string id = std::to_string(i + 1), at = std::to_string(i * 100), later = std::to_string(2'000 + i * 100);
    const auto add = [&](const std::string& event) { events += (events.empty() ? "{" : ",\n{") + event + "}"; };
    add(R"("ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": )" + at +
        R"(, "dur": 10, "args": {"correlation": )" + id + "}");
    add(R"("ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": )" + later +
        R"(, "dur": 90, "args": {"device": 0, "stream": 7, "correlation": )" + id + "}");
    add(R"("ph": "s", "cat": "ac2g", "name": "ac2g", "id": )" + id + R"(, "pid": 7, "tid": 7, "ts": )" + at);
    add(R"("ph": "f", "bp": "e", "cat": "ac2g", "name": "ac2g", "id": )" + id + R"(, "pid": 0, "tid": 7, "ts": )" +
        later);
  }
  write_file(trace, R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}");
  Viewer viewer;
  viewer.open(trace);
  REQUIRE(viewer.app.commands().run("layout.platform"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.app.layout().is_seen("stack"));
  CHECK_FALSE(viewer.app.layout().is_open("sql"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("Queue depth"); }));
  CHECK(viewer.shell.shows("Launch latency"));
  CHECK(viewer.shell.shows("stream 7"));
  CHECK(viewer.shell.shows("Main thread"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("2 ms"); }));  // all wait as long
}

TEST_CASE("places: the panel that was used last does not greet a session that it has nothing to say of") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  {
    Viewer first({.state_directory = state});
    first.open(save_small_session(folder.path()));
    first.run("panel_compare");
    first.run("panel_core-grid");
    first.shell.frame(3);
    CHECK(first.app.layout().is_seen("compare"));  // for who asks for it
  }
  Viewer second({.state_directory = state});
  second.open(save_without_lines(folder));
  CHECK(second.app.layout().is_seen("selection"));
  second.run("panel_markers");
  second.shell.frame(3);
  CHECK(second.app.layout().is_seen("markers"));
}

TEST_CASE("panel layout: a maximised panel that a session has nothing for makes room for one that tells of it") {
  PanelLayout layout;
  layout.maximise("collectives");
  layout.greet(true, "metrics", [](PanelId id) { return id == "metrics"; });
  CHECK(layout.maximised() == "metrics");
  layout.greet(true, "selection", [](PanelId id) { return id == "collectives"; });
  CHECK(layout.maximised() == "collectives");
}

TEST_CASE("panel layout: what is set aside for a session stays the user's choice, and comes back with another one") {
  PanelLayout layout;
  layout.show("collectives");
  layout.greet(true, "selection", [](PanelId id) { return id != "collectives"; });
  CHECK(layout.front(Place::bottom) == "selection");
  CHECK(PanelLayout::from_text(layout.to_text()).front(Place::bottom) == "collectives");
  layout.greet(false, "selection", [](PanelId) { return true; });
  CHECK(layout.front(Place::bottom) == "selection");  // nothing jumps while one works
  layout.greet(true, "selection", [](PanelId) { return true; });
  CHECK(layout.front(Place::bottom) == "collectives");
  layout.pin("collectives", true);
  layout.greet(true, "selection", [](PanelId id) { return id != "collectives"; });
  CHECK(layout.front(Place::bottom) == "collectives");
}
