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
  [[nodiscard]] bool seen(frame::PanelId id) { return app.layout().is_seen(id); }
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
  REQUIRE(shell.click("questions.memory"));
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
  const Point from = shell.find("questions.memory")->centre();
  const Rect right = *shell.find("right.source");
  shell.drag(from, {right.x0 + 60, right.y1 + 200});
  shell.frame(3);
  CHECK(app.layout().place("memory") == frame::Place::right);
  CHECK(seen("memory"));
  const Point back = shell.find("right.memory")->centre();
  shell.drag(back, {600, shell.find("splitter.bottom")->y1 + 100});
  shell.frame(3);
  CHECK(app.layout().place("memory") == frame::Place::bottom);
}

TEST_CASE_FIXTURE(Places, "places: a tab that is let go anywhere else stays where it was") {
  shell.drag(shell.find("questions.memory")->centre(), {300, 300});
  shell.frame(3);
  CHECK(app.layout().place("memory") == frame::Place::bottom);
}

TEST_CASE("panel layout: the bottom is a share of the window, in every window that is opened later") {
  frame::PanelLayout layout;
  const Rect large{0, 0, 1600, 784};
  layout.drag_splitter(frame::Place::bottom, -156, large, 1);
  const frame::PanelLayout again = frame::PanelLayout::from_text(layout.to_text());
  const float share = again.rects(large, 1).places[1].height() / 784;
  const Rect small{0, 0, 1280, 604};
  CHECK(again.rects(small, 1).places[1].height() / 604 == doctest::Approx(share).epsilon(0.01));
  const frame::PanelLayout old = frame::PanelLayout::from_text("bottom=236;");
  CHECK(old.rects(large, 1).places[1].height() == doctest::Approx(236).epsilon(0.02));
  CHECK(old.rects(small, 1).places[1].height() < 200);
}

TEST_CASE("places: the platform view has threads, calls, queues, streams and counters in this order, and is undone") {
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
  const frame::PanelLayout before = viewer.app.layout();
  REQUIRE(viewer.app.commands().run("platform_view"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("Queue depth"); }));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("2 ms"); }));  // all wait as long
  CHECK(viewer.shell.shows("Launch latency"));
  CHECK(viewer.app.layout().to_text() == before.to_text());  // of rows, not of panels
  const auto rows = rows::compose_rows(*viewer.tab().snapshot, nullptr, viewer.tab().choices.rows);
  std::vector<std::string> headings;
  for (const rows::TimelineRow& row : rows) {
    if (row.kind == rows::RowKind::group) headings.push_back(row.label);
  }
  REQUIRE(headings.size() >= 2);
  CHECK(headings.front().ends_with("Runtime calls"));
  CHECK(viewer.tab().choices.rows.to_text().find("platform") != std::string::npos);  // saved with the view
  viewer.shell.key(Key::left, {.alt = true});
  REQUIRE(viewer.shell.settle());
  CHECK_FALSE(viewer.tab().choices.rows.platform);
  viewer.run("platform_view");
  viewer.run("full_view");
  CHECK_FALSE(viewer.tab().choices.rows.platform);
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
  frame::PanelLayout layout;
  layout.maximise("collectives");
  layout.greet(true, {}, "metrics", [](frame::PanelId id) { return id == "metrics"; });
  CHECK(layout.maximised() == "metrics");
  layout.greet(true, {}, "selection", [](frame::PanelId id) { return id == "collectives"; });
  CHECK(layout.maximised() == "collectives");
}

TEST_CASE("panel layout: what is set aside for a session stays the user's choice, and comes back with another one") {
  frame::PanelLayout layout;
  layout.show("collectives");
  layout.greet(true, {}, "selection", [](frame::PanelId id) { return id != "collectives"; });
  CHECK(layout.front(frame::Place::bottom) == "selection");
  CHECK(frame::PanelLayout::from_text(layout.to_text()).front(frame::Place::bottom) == "collectives");
  layout.greet(false, {}, "selection", [](frame::PanelId) { return true; });
  CHECK(layout.front(frame::Place::bottom) == "selection");  // nothing jumps while one works
  layout.greet(true, {}, "selection", [](frame::PanelId) { return true; });
  CHECK(layout.front(frame::Place::bottom) == "collectives");
  layout.pin("collectives", true);
  layout.greet(true, {}, "selection", [](frame::PanelId id) { return id != "collectives"; });
  CHECK(layout.front(frame::Place::bottom) == "collectives");
}

// The questions.

TEST_CASE_FIXTURE(Places, "questions: each has its pages as segments, and opens at the one that was seen last") {
  CHECK(shell.find("bottom.details") != nullptr);
  CHECK(shell.find("bottom.layers") == nullptr);
  REQUIRE(shell.click("questions.time"));
  shell.frame(2);
  CHECK(seen("layers"));
  CHECK(shell.find("bottom.details") == nullptr);
  REQUIRE(shell.click("bottom.statistics"));
  shell.frame(2);
  CHECK(seen("statistics"));
  REQUIRE(shell.click("questions.why"));
  shell.frame(2);
  CHECK(seen("warnings"));
  REQUIRE(shell.click("questions.time"));
  shell.frame(2);
  CHECK(seen("statistics"));
  run("question_why");
  shell.frame(2);
  CHECK(seen("warnings"));
  const auto again = frame::PanelLayout::from_text(app.layout().to_text());
  CHECK(again.page_of(frame::Question::time, [](frame::PanelId) { return true; }) == "statistics");
}

TEST_CASE_FIXTURE(Places, "questions: a panel that any place asks for is there with its question") {
  run("panel_sql");
  CHECK(seen("sql"));
  CHECK(shell.find("bottom.tables") != nullptr);
  CHECK(shell.find("bottom.layers") == nullptr);
  select(kFirstMatmul);
  CHECK(seen("details"));
  CHECK(shell.find("bottom.selection") != nullptr);
}

TEST_CASE("questions: a page that has nothing to say of the session is none, and the palette says why") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.open(save_without_lines(folder));
  CHECK(viewer.wait_for([&] { return viewer.shell.find("questions.memory") == nullptr; }));
  CHECK(viewer.shell.find("questions.time") != nullptr);
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.click("questions.time"));
  viewer.shell.frame(2);
  CHECK(viewer.wait_for([&] { return viewer.shell.find("bottom.compilation") == nullptr; }));  // before it is opened
  CHECK(viewer.shell.find("bottom.statistics") != nullptr);
  viewer.shell.key(Key::p, {.ctrl = true});
  viewer.shell.frame(2);
  viewer.shell.type("memory");
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("Memory: no memory was recorded in this session"));
  viewer.shell.key(Key::escape);
  viewer.shell.key(Key::escape);
  viewer.run("panel_memory");  // for who asks for it
  CHECK(viewer.app.layout().is_seen("memory"));
  CHECK(viewer.shell.find("questions.memory") != nullptr);
}

TEST_CASE_FIXTURE(Places, "questions: every page is in reach in a small window and at any scale") {
  for (const auto& [width, height, scale] : {std::tuple{1280, 720, 1.0F}, {1280, 720, 2.0F}, {900, 600, 1.5F}}) {
    CAPTURE(width);
    CAPTURE(scale);
    shell.resize(width, height, scale);
    shell.frame(2);
    for (const char* page : {"bottom.layers", "bottom.hotspots", "bottom.statistics"}) {
      CAPTURE(page);
      REQUIRE(shell.click("questions.time"));
      shell.frame(2);
      const Rect* place = shell.find(page);
      REQUIRE(place != nullptr);
      CHECK(place->x1 <= static_cast<float>(width));
      REQUIRE(shell.click(page));
      shell.frame(2);
      CHECK(seen(std::string_view(page).substr(7)));
    }
  }
}

TEST_CASE_FIXTURE(
    Places,
    "places: at any scale lanes are seen in a small window, and where panels have no room a page gets the window") {
  const auto height = [&](const char* widget) {
    const Rect* const place = shell.find(widget);
    return place == nullptr ? 0.0F : place->height() / shell.ui().scale();
  };
  for (const float scale : {0.75F, 1.0F, 2.0F, 3.0F}) {
    CAPTURE(scale);
    shell.resize(1280, 720, scale);
    REQUIRE(shell.settle());
    CHECK(height("timeline.canvas") >= (scale < 3 ? 80 : 44));  // four lanes, or two
    CHECK((height("timeline.overview") > 0) == (scale < 2));
  }
  REQUIRE(shell.click("questions.time"));
  REQUIRE(shell.settle());
  REQUIRE(app.layout().maximised().has_value());
  CHECK(shell.find("timeline.canvas") == nullptr);
  CHECK(shell.shows("Layers"));
  shell.key(Key::escape);
  REQUIRE(shell.settle());
  CHECK(height("timeline.canvas") >= 44);
}

TEST_CASE_FIXTURE(Places, "questions: the scope that is chosen in one page is that of all") {
  run("panel_hotspots");
  REQUIRE(shell.click("hotspots.scope.1"));
  run("panel_metrics");
  CHECK(wait_for([&] { return shell.shows("in view, computed from the events"); }));
  CHECK(tab().scope == session::Scope::visible);
  REQUIRE(shell.click("metrics.range.0"));
  run("panel_hotspots");
  CHECK(wait_for([&] { return shell.shows("the session"); }));
}

// The page that a session opens with.

TEST_CASE("opening: what a session consists of says which panel it asks for") {
  CHECK(frame::opening_panel({.grows = true, .errors = true}) == "selection");
  CHECK(frame::opening_panel({.figures = true}) == "metrics");
  CHECK(frame::opening_panel({}) == "tables");
  CHECK(frame::opening_panel({.timeline = true, .memory = true}) == "memory");
  CHECK(frame::opening_panel({.timeline = true, .work = true, .memory = true, .errors = true}) == "warnings");
  CHECK_FALSE(frame::opening_panel({.timeline = true, .work = true, .memory = true}));
}

TEST_CASE("opening: a session brings the panel that it asks for, until the user has chosen one in this run") {
  const auto all = [](frame::PanelId) { return true; };
  frame::PanelLayout layout = frame::PanelLayout::from_text("markers=bottom,front;");  // of an earlier run
  layout.greet(true, "memory", "selection", all);
  CHECK(layout.front(frame::Place::bottom) == "memory");
  CHECK(frame::PanelLayout::from_text(layout.to_text()).front(frame::Place::bottom) == "markers");
  layout.greet(true, {}, "selection", all);
  CHECK(layout.front(frame::Place::bottom) == "markers");
  layout.show("sql");
  layout.greet(true, "memory", "selection", all);
  CHECK(layout.front(frame::Place::bottom) == "sql");
}

TEST_CASE("panel layout: findings and path were two panels, whose names in commands and settings go on working") {
  const frame::PanelLayout old =
      frame::PanelLayout::from_text("warnings=bottom;why=bottom,front,page,pinned;sql=bottom,closed;");
  CHECK(old.front(frame::Place::bottom) == "warnings");
  CHECK(old.is_pinned("why"));
  CHECK(old.is_seen("why"));
  CHECK(frame::PanelLayout::from_text("warnings=bottom,front;why=bottom,closed;").is_seen("warnings"));
  CHECK(frame::PanelLayout::from_text("warnings=bottom,closed;why=right;").place("warnings") == frame::Place::right);
  frame::PanelLayout layout;
  layout.show(*frame::find_panel("Path and what-if"));
  CHECK(layout.is_seen("warnings"));
  CHECK(layout.take_opened() == "why");
  CHECK_FALSE(layout.take_opened());
}
