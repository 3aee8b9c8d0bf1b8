// The timeline and the panels, together: what is clicked in one shows in the others.
#include <cmath>

#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

// Where an instant of the lane lies on the screen; the lane is found by its label.
render::Point place_of(OpenViewer& viewer, const std::string& lane, double ns) {
  const render::Rect* canvas = viewer.shell.find("timeline.canvas");
  REQUIRE(canvas != nullptr);
  const session::ViewRange& view = viewer.tab().view;
  const double share = (ns - view.begin_ns) / view.span_ns();
  for (const render::VisibleText& text : viewer.shell.ui().texts()) {
    if (text.text == lane && text.rect.x1 <= canvas->x0 + 1) {
      return {canvas->x0 + static_cast<float>(share) * canvas->width(), text.rect.centre().y};
    }
  }
  FAIL("no lane " << lane);
  return {};
}

}  // namespace

TEST_CASE("timeline: a click on an event shows its details and lights its source line, and Esc clears") {
  OpenViewer viewer;
  viewer.shell.click(place_of(viewer, "Tensor", 1'050));
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.tab().selected == kFirstMatmul);
  CHECK(viewer.shell.shows("Waited before"));
  CHECK(viewer.shell.shows("Line 3"));
  viewer.shell.key(Key::escape);
  viewer.shell.frame(2);
  CHECK_FALSE(viewer.tab().selected.has_value());
  CHECK_FALSE(viewer.shell.shows("Waited before"));
  CHECK(viewer.app.layout().is_seen("selection"));
}

TEST_CASE("timeline: Next and Previous in Details step along the lane, Fit zooms to the event, back returns") {
  OpenViewer viewer;
  viewer.shell.click(place_of(viewer, "Tensor", 1'050));
  REQUIRE(viewer.shell.click("details.next"));
  viewer.shell.frame(2);
  CHECK(viewer.tab().selected == kFirstMatmul + 1);
  REQUIRE(viewer.shell.click("details.previous"));
  viewer.shell.frame(2);
  CHECK(viewer.tab().selected == kFirstMatmul);
  const session::ViewRange before = viewer.tab().view;
  REQUIRE(viewer.shell.click("details.fit"));
  viewer.shell.wait(1);
  CHECK(viewer.tab().view.span_ns() < 1'000);
  REQUIRE(viewer.shell.click("top.back"));
  viewer.shell.wait(1);
  CHECK(viewer.tab().view.span_ns() == doctest::Approx(before.span_ns()));
  REQUIRE(viewer.shell.click("top.forward"));
  viewer.shell.wait(1);
  CHECK(viewer.tab().view.span_ns() < 1'000);
}

TEST_CASE("timeline: W zooms in, 0 shows all, and the range in the top bar follows") {
  OpenViewer viewer;
  const render::Rect canvas = *viewer.shell.find("timeline.canvas");
  viewer.shell.move(canvas.centre());
  const double before = viewer.tab().view.span_ns();
  viewer.shell.key(Key::w);
  viewer.shell.wait(1);
  CHECK(viewer.tab().view.span_ns() < before);
  viewer.shell.key(Key::digit0);
  viewer.shell.wait(1);
  CHECK(viewer.tab().view.begin_ns <= 1'000);
  CHECK(viewer.tab().view.end_ns >= 4'900);
}

TEST_CASE("timeline: M drops a marker at the pointer, which the markers panel lists and the session keeps") {
  OpenViewer viewer;
  viewer.shell.move(place_of(viewer, "Tensor", 2'000));
  viewer.shell.frame();
  viewer.shell.key(Key::m);
  REQUIRE(viewer.tab().markers.size() == 1);
  CHECK(std::abs(viewer.tab().markers[0].ts_ns - 2'000) < 50);
  viewer.shell.key(Key::escape);  // the name that is asked for
  viewer.run("panel_markers");
  CHECK(viewer.shell.shows("From "));
  CHECK(viewer.tab().store->markers().size() == 1);
}

TEST_CASE("no frame is asked for while the pointer rests on an event, on an empty part or on a panel") {
  OpenViewer viewer;
  const render::Rect canvas = *viewer.shell.find("timeline.canvas");
  const render::Point below_all{canvas.centre().x, canvas.y1 - 4};
  for (const render::Point at : {place_of(viewer, "Tensor", 1'050), below_all, render::Point{1'300, 300}}) {
    viewer.shell.move(at);
    viewer.shell.wait(0.5);
    // An answer of a busy machine may still ask for one; what rests asks for none at last.
    for (int round = 0; round < 100 && !viewer.shell.idle(); ++round) REQUIRE(viewer.shell.settle());
    CHECK_MESSAGE(viewer.shell.idle(), "the pointer is at ", at.x, ", ", at.y);
  }
}
