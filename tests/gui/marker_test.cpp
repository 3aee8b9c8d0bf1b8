// Markers and measured spans, on the timeline and in their panel.
#include "app/timeline_state.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

// A span from 1,000 to 1,100, over the first MATMUL of Tensor.
struct Span : OpenViewer {
  Span() {
    tab().show({900, 2'100});
    shell.frame(3);
    select(kFirstMatmul);
    run("drop_marker");
    REQUIRE(shell.settle());
    REQUIRE(tab().markers.size() == 1);
    REQUIRE(tab().markers[0].end_ns == 1'100);
  }
  [[nodiscard]] float x(double ns) {
    const render::Rect& canvas = *shell.find("timeline.canvas");
    return canvas.x0 + static_cast<float>((ns - tab().view.begin_ns) / tab().view.span_ns()) * canvas.width();
  }
};

}  // namespace

TEST_CASE_FIXTURE(Span, "markers: the end of a span is dragged alone, and holds on to an edge in the lanes") {
  const render::Rect* end = shell.find("timeline.marker_end.0");
  REQUIRE(end != nullptr);
  float tensor = 0;
  for (const DrawnRow& row : tab().timeline->drawn_rows) {
    if (tab().timeline->rows[row.row].label == "Tensor") tensor = row.rect.centre().y;
  }
  shell.drag(end->centre(), {x(1'500) + 3, tensor});
  shell.frame(2);
  CHECK(tab().markers[0].ts_ns == 1'000);
  CHECK(tab().markers[0].end_ns == 1'500);
  CHECK(tab().store->markers().at(0).end_ns == 1'500);
}

TEST_CASE_FIXTURE(Span, "markers: the flag moves the whole span") {
  const render::Rect flag = *shell.find("timeline.marker.0");
  const render::Point from{flag.x0 + 3, flag.centre().y};
  shell.drag(from, {from.x + x(1'300) - x(1'000), from.y});
  shell.frame(2);
  CHECK(tab().markers[0].ts_ns == doctest::Approx(1'300).epsilon(0.005));
  CHECK(*tab().markers[0].end_ns - tab().markers[0].ts_ns == 100);
}

TEST_CASE_FIXTURE(Span, "markers: Del deletes the chosen one while the pointer is in their panel") {
  run("panel_markers");
  REQUIRE(shell.settle());
  REQUIRE(shell.find("markers.keep") != nullptr);
  const render::Rect keep = *shell.find("markers.keep");
  shell.move({900, 300});  // over the lanes
  shell.key(Key::del);
  CHECK(tab().markers.size() == 1);
  shell.move(keep.centre());
  shell.key(Key::del);
  shell.frame(2);
  CHECK(tab().markers.empty());
  CHECK(tab().store->markers().empty());
}

TEST_CASE_FIXTURE(Span, "markers: the beginning of a span is dragged alone, and not beyond its end") {
  const auto drag_to = [&](double ns) {
    const render::Rect grip = *shell.find("timeline.marker_begin.0");
    const render::Point from{grip.x0 + 2, grip.centre().y};
    shell.drag(from, {from.x + x(ns) - x(static_cast<double>(tab().markers[0].ts_ns)), from.y});
    shell.frame(2);
  };
  drag_to(950);
  CHECK(tab().markers[0].ts_ns == doctest::Approx(950).epsilon(0.005));
  CHECK(tab().markers[0].end_ns == 1'100);
  CHECK(tab().store->markers().at(0).ts_ns == tab().markers[0].ts_ns);
  drag_to(1'800);
  CHECK(tab().markers[0].ts_ns == 1'100);
  CHECK(tab().markers[0].end_ns == 1'100);
}

TEST_CASE_FIXTURE(OpenViewer, "markers: after B the pointer says that the next drag is a box, until it was drawn") {
  const render::Rect canvas = *shell.find("timeline.canvas");
  shell.move(canvas.centre());
  CHECK_FALSE(shell.shows("Drag a box"));
  shell.key(Key::b);
  shell.frame(2);
  CHECK(shell.shows("Drag a box"));
  shell.drag(canvas.centre(), {canvas.centre().x + 90, canvas.centre().y + 20});
  shell.frame(2);
  CHECK_FALSE(shell.shows("Drag a box"));
}

TEST_CASE_FIXTURE(OpenViewer, "markers: one dropped after the session was saved as a copy is in the copy's next save") {
  const std::string copy = folder.file("copy.accel");
  app.workspace().save(0, copy);
  REQUIRE(shell.settle());
  CHECK_FALSE(tab().modified);
  run("drop_marker");
  CHECK(tab().modified);
  run("save");
  REQUIRE(shell.settle());
  CHECK_FALSE(tab().modified);
  run("close");
  open(copy);
  CHECK(tab().markers.size() == 1);
}

TEST_CASE("markers: one dropped into a profile that is in no session file is asked about before it is lost") {
  Viewer viewer;
  viewer.app.workspace().adopt({.store = std::move(Store::create()).value(), .title = "imported", .device = {}});
  viewer.shell.frame(3);
  CHECK_FALSE(viewer.tab().modified);
  viewer.run("drop_marker");
  CHECK(viewer.tab().modified);
}
