// The hand on the timeline: boxes of lanes and time, edges that hold, measuring, and the menu of an event.
#include <cmath>

#include "app/timeline/frame.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;
using render::Point;

namespace {

// MATMUL on Tensor for 100 of every 200 ns from 1,000 on; on Scalar a wait from 1,000 to 1,120, then ACTIVATE for 50 of
// every 400 ns from 1,150 on.
struct Response : OpenViewer {
  Response() {
    tab().show({900, 2'100});
    shell.frame(3);
    REQUIRE(shell.settle());
  }
  [[nodiscard]] const render::Rect& canvas() {
    const render::Rect* canvas = shell.find("timeline.canvas");
    REQUIRE(canvas != nullptr);
    return *canvas;
  }
  [[nodiscard]] float x(double ns) {
    const session::ViewRange& view = tab().view;
    return canvas().x0 + static_cast<float>((ns - view.begin_ns) / view.span_ns()) * canvas().width();
  }
  [[nodiscard]] Point at(const std::string& lane, double ns) {
    for (const timeline::DrawnRow& row : tab().timeline->drawn_rows) {
      if (tab().timeline->rows[row.row].label == lane) return {x(ns), row.rect.centre().y};
    }
    FAIL("no lane " << lane);
    return {};
  }
  [[nodiscard]] TrackNumber track(const std::string& name) {
    for (const TrackSnapshot& each : tab().snapshot->tracks) {
      if (each.track->name == name) return each.track->number;
    }
    FAIL("no track " << name);
    return 0;
  }
  void drag_with(Key modifier, Point from, Point to) {
    shell.hold(modifier);
    shell.drag(from, to);
    shell.hold(modifier, false);
    shell.frame(2);
  }
  // From 1,300 to 1,700 over both engines, with B.
  void draw_box() {
    shell.key(Key::b);
    shell.drag(at("Tensor", 1'300), at("Scalar", 1'700));
    shell.frame(2);
    REQUIRE(tab().region);
    REQUIRE(tab().region->range);
  }
  void choose(const char* verb, const char* item) {
    shell.click(at("Tensor", 1'050), render::MouseButton::right);
    shell.frame(2);
    const std::string menu = std::string("timeline.menu.") + verb;
    REQUIRE(shell.click(menu));
    shell.frame(3);
    REQUIRE(shell.click(menu + "." + verb + ":" + item));
    shell.frame(3);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Response,
                  "hand: B and a drag select the lanes and the time between, and bring their summary to the front") {
  draw_box();
  CHECK(tab().region->tracks == std::vector<TrackNumber>{track("Tensor"), track("Scalar")});
  // The press held on to the end of a MATMUL at 1,300. At 1,700 is an edge of Tensor, but not of Scalar below it.
  CHECK(tab().region->range->begin_ns == 1'300);
  CHECK(tab().region->range->end_ns == doctest::Approx(1'700).epsilon(0.002));
  CHECK(tab().view == session::ViewRange{900, 2'100});  // no zoom
  CHECK(shell.find("timeline.box") != nullptr);
  CHECK(shell.shows("400 ns"));
  CHECK(shell.find("bottom.selection") != nullptr);
  // The next drag is a zoom again.
  shell.key(Key::escape);
  shell.frame(2);
  CHECK_FALSE(tab().region);
  CHECK(shell.find("timeline.box") == nullptr);
  shell.drag(at("Tensor", 1'250), at("Tensor", 1'750));
  shell.frame(2);
  CHECK_FALSE(tab().region);
  CHECK(tab().view.span_ns() < 600);
}

TEST_CASE_FIXTURE(Response,
                  "hand: Ctrl and a drag select a box of one lane, and Ctrl and a click still adds an event") {
  drag_with(Key::left_ctrl, at("Scalar", 1'200), at("Scalar", 1'550));
  REQUIRE(tab().region);
  CHECK(tab().region->tracks == std::vector<TrackNumber>{track("Scalar")});
  CHECK(tab().region->range == TimeRange{1'200, 1'550});  // the end of one ACTIVATE to the begin of the next
  shell.click(at("Tensor", 1'050));
  CHECK_FALSE(tab().region);  // a click outside
  shell.hold(Key::left_ctrl);
  shell.click(at("Tensor", 1'450));
  shell.hold(Key::left_ctrl, false);
  CHECK(tab().selected == kFirstMatmul);
  CHECK(tab().also_selected == std::vector<EventId>{kFirstMatmul + 2});
  CHECK_FALSE(tab().region);
}

TEST_CASE_FIXTURE(
    Response, "hand: a click inside the box keeps it, a side of it can be dragged, F fits it, M makes a span of it") {
  draw_box();
  shell.click(at("Tensor", 1'450));
  REQUIRE(tab().region);
  CHECK(tab().selected == kFirstMatmul + 2);
  const std::vector<TrackNumber> tracks = tab().region->tracks;
  const std::int64_t begin = tab().region->range->begin_ns;
  shell.drag({x(static_cast<double>(tab().region->range->end_ns)), at("Tensor", 0).y}, at("Tensor", 1'900));
  REQUIRE(tab().region);
  CHECK(tab().region->range == TimeRange{begin, 1'900});
  CHECK(tab().region->tracks == tracks);
  shell.key(Key::m);
  REQUIRE(tab().markers.size() == 1);
  CHECK(tab().markers[0].ts_ns == begin);
  CHECK(tab().markers[0].end_ns == 1'900);
  shell.key(Key::f);
  shell.frame(2);
  CHECK(tab().view.begin_ns > 1'100);
  CHECK(tab().view.end_ns < 2'000);
}

TEST_CASE_FIXTURE(Response, "hand: Shift and a drag along the ruler select a stretch of time over all lanes") {
  const render::Rect ruler = *shell.find("timeline.ruler");
  drag_with(Key::left_shift, {x(1'250), ruler.centre().y}, {x(1'750), ruler.centre().y});
  REQUIRE(tab().region);
  CHECK(tab().region->tracks.empty());
  CHECK(tab().region->range->length_ns() == doctest::Approx(500).epsilon(0.01));
  CHECK(tab().view == session::ViewRange{900, 2'100});
}

TEST_CASE_FIXTURE(Response, "hand: an edge within six pixels holds, one further away does not, and Alt lets go") {
  const double pixel = tab().view.span_ns() / static_cast<double>(canvas().width());
  const auto end_of_box = [&](double end) {
    shell.wait(1);  // a second press at the same place would be a double click
    drag_with(Key::left_ctrl, at("Tensor", 1'250), at("Tensor", end));
    REQUIRE(tab().region);
    return tab().region->range->end_ns;
  };
  CHECK(end_of_box(1'600 + 5 * pixel) == 1'600);
  CHECK(end_of_box(1'600 - 5 * pixel) == 1'600);
  CHECK(end_of_box(1'600 - 9 * pixel) == doctest::Approx(1'600 - 9 * pixel).epsilon(0.001));
  shell.hold(Key::left_alt);
  CHECK(end_of_box(1'600 + 5 * pixel) != 1'600);
  shell.hold(Key::left_alt, false);
}

TEST_CASE_FIXTURE(Response, "hand: while an edge holds, a line says so") {
  shell.move(at("Tensor", 1'250));
  shell.press();
  shell.move({x(1'500) + 4, at("Tensor", 0).y});
  shell.frame(2);
  const render::Rect* line = shell.find("timeline.snap");
  REQUIRE(line != nullptr);
  CHECK(line->x0 == doctest::Approx(std::floor(x(1'500))).epsilon(0.002));
  shell.release();
  shell.frame(2);
  CHECK(shell.find("timeline.snap") == nullptr);
}

TEST_CASE_FIXTURE(Response, "hand: two selected events are measured to the nanosecond, and M makes a span of the gap") {
  shell.click(at("Scalar", 1'175));
  shell.hold(Key::left_ctrl);
  shell.click(at("Tensor", 1'450));
  shell.hold(Key::left_ctrl, false);
  shell.frame(2);
  CHECK(shell.shows("200 ns"));  // from 1,200, where ACTIVATE ends, to 1,400
  shell.key(Key::m);
  REQUIRE(tab().markers.size() == 1);
  CHECK(tab().markers[0].ts_ns == 1'200);
  CHECK(tab().markers[0].end_ns == 1'400);
}

TEST_CASE_FIXTURE(Response, "hand: events that overlap say by how much") {
  shell.click(at("Tensor", 1'050));
  shell.hold(Key::left_ctrl);
  shell.click(at("Scalar", 1'060));
  shell.hold(Key::left_ctrl, false);
  shell.frame(2);
  CHECK(shell.shows("overlap 100 ns"));
}

TEST_CASE_FIXTURE(Response, "hand: the menu of an event selects all of its name, its line, its lane") {
  choose("select", "name");
  REQUIRE(tab().region);
  CHECK(tab().region->terms == std::vector<FilterTerm>{{"name=\"MATMUL\"", false}});
  CHECK_FALSE(tab().region->range);
  choose("select", "line");
  CHECK(tab().region->terms == std::vector<FilterTerm>{{"source=\"kernel.py:3\"", false}});
  choose("select", "lane");
  CHECK(tab().region->terms.empty());
  CHECK(tab().region->tracks == std::vector<TrackNumber>{track("Tensor")});
}

TEST_CASE_FIXTURE(Response, "hand: the menu shows only these or hides these, and each is undone in one step") {
  choose("only", "name");
  CHECK(tab().choices.filter.terms == std::vector<FilterTerm>{{"name=\"MATMUL\"", false}});
  run("view_back");
  CHECK(tab().choices.filter.empty());
  choose("hide", "line");
  CHECK(tab().choices.filter.terms == std::vector<FilterTerm>{{"source=\"kernel.py:3\"", true}});
  run("view_back");
  choose("hide", "lane");
  CHECK_FALSE(tab().choices.filter.has_track(track("Tensor")));
  CHECK(tab().choices.filter.has_track(track("Scalar")));
  run("view_back");
  CHECK(tab().choices.filter.empty());
}

TEST_CASE_FIXTURE(Response, "hand: zoom in and filter in by selection takes the box as view and filter, in one step") {
  draw_box();
  const EventFilter box = *tab().region;
  run("filter_by_region");
  CHECK(tab().choices.filter == box);
  CHECK_FALSE(tab().region);
  CHECK(tab().view ==
        session::ViewRange{static_cast<double>(box.range->begin_ns), static_cast<double>(box.range->end_ns)});
  run("view_back");
  CHECK(tab().choices.filter.empty());
  CHECK(tab().view == session::ViewRange{900, 2'100});
}

TEST_CASE_FIXTURE(Response, "hand: a box over a pinned lane takes that lane and lies on it") {
  for (const rows::TimelineRow& row : tab().timeline->rows) {
    if (row.label == "Scalar") tab().choices.rows.pinned.push_back(row.key);
  }
  shell.frame(3);
  REQUIRE(tab().timeline->pinned_rows == 1);
  drag_with(Key::left_ctrl, at("Scalar", 1'200), at("Scalar", 1'550));
  REQUIRE(tab().region);
  CHECK(tab().region->tracks == std::vector<TrackNumber>{track("Scalar")});
  const render::Rect* box = shell.find("timeline.box");
  REQUIRE(box != nullptr);
  CHECK(box->y0 <= at("Scalar", 0).y);
  CHECK(box->y1 >= at("Scalar", 0).y);
  CHECK(box->y1 < at("Tensor", 0).y);
}

TEST_CASE("hand: a drag that follows the wheel at once leaves the wheel's view a step of its own") {
  OpenViewer viewer;
  const render::Rect* canvas = viewer.shell.find("timeline.canvas");
  REQUIRE(canvas != nullptr);
  const render::Point middle = canvas->centre();
  viewer.shell.move(middle);
  viewer.shell.wheel({0, 2});
  const double by_wheel = viewer.tab().view.span_ns();
  viewer.shell.drag({middle.x - 60, middle.y}, {middle.x + 60, middle.y});
  REQUIRE(viewer.tab().view.span_ns() < by_wheel / 2);
  viewer.run("view_back");
  CHECK(viewer.tab().view.span_ns() == doctest::Approx(by_wheel));
}
