// Markers and measured spans, on the timeline and in their panel.
#include <set>
#include <string>

#include "app/palette/command_table.h"
#include "app/timeline/frame.h"
#include "app/view/marker_sets.h"
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
  for (const timeline::DrawnRow& row : tab().timeline->drawn_rows) {
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

TEST_CASE_FIXTURE(Span, "markers: a click on a flag opens its page and says its time, and a drag does not") {
  run("drop_marker");
  tab().show({900, 2'100});
  REQUIRE(tab().markers.size() == 2);
  app.layout().show("selection");
  REQUIRE(shell.settle());
  const std::int64_t second = tab().markers[1].id;
  REQUIRE(shell.click("timeline.marker.1"));
  REQUIRE(shell.settle());
  CHECK(tab().chosen_marker == second);
  CHECK(app.layout().is_seen("markers"));
  CHECK(shell.find("markers.keep") != nullptr);
  CHECK(shell.shows("Marker " + view::marker_called(tab().markers[1]) + " at " +
                    format_time_exact(tab().markers[1].ts_ns)));
  app.layout().show("selection");
  REQUIRE(shell.settle());
  const render::Rect flag = *shell.find("timeline.marker.0");
  const render::Point from{flag.x0 + 3, flag.centre().y};
  shell.drag(from, {from.x + 90, from.y});
  shell.frame(2);
  CHECK(tab().chosen_marker != second);
  CHECK_FALSE(app.layout().is_seen("markers"));
  REQUIRE(shell.click("timeline.marker.0"));
  CHECK(app.layout().is_seen("markers"));
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

namespace {

// Markers at times, in the order in which they are dropped.
struct Flags : OpenViewer {
  Flags() {
    tab().show({900, 2'100});
    REQUIRE(shell.settle());
  }
  void drop(std::int64_t ns) {
    timeline::drop_marker(tab(), ns);
    shell.frame(3);
  }
  [[nodiscard]] render::Rect flag(std::int64_t ns) {
    for (std::size_t i = 0; i < tab().markers.size(); ++i) {
      if (tab().markers[i].ts_ns == ns) return *shell.find("timeline.marker." + std::to_string(i));
    }
    return {};
  }
  // The text of the flag of the marker at the time.
  [[nodiscard]] bool reads(std::int64_t ns, std::string_view letter) { return shell.shows_in(flag(ns), letter); }
};

bool apart(const render::Rect& a, const render::Rect& b) {
  return a.x1 <= b.x0 || b.x1 <= a.x0 || a.y1 <= b.y0 || b.y1 <= a.y0;
}

}  // namespace

TEST_CASE_FIXTURE(Flags,
                  "markers: each keeps its letter when one is dropped before it, when it is moved and when one goes") {
  drop(1'500);
  drop(1'900);
  CHECK(reads(1'500, "A"));
  CHECK(reads(1'900, "B"));
  drop(1'100);
  CHECK(reads(1'500, "A"));
  CHECK(reads(1'900, "B"));
  CHECK(reads(1'100, "C"));
  tab().markers[1].ts_ns = 2'000;  // A, beyond B
  shell.frame(3);
  CHECK(reads(2'000, "A"));
  CHECK(reads(1'900, "B"));
  session::remove_marker(tab(), tab().markers[1].id);
  shell.frame(3);
  CHECK(reads(1'900, "B"));
  CHECK(reads(1'100, "C"));
  const auto range = view::parse_marker_range("#C:#B", {0, 5'000}, tab().markers);
  REQUIRE(range.ok());
  CHECK(*range == TimeRange{1'100, 1'900});
}

TEST_CASE_FIXTURE(Flags, "markers: flags that would lie over each other stand on lines of their own") {
  const float lanes = shell.find("timeline.canvas")->y0;
  drop(1'500);
  drop(1'502);
  drop(1'504);
  drop(1'900);
  shell.frame(2);
  CHECK(apart(flag(1'500), flag(1'502)));
  CHECK(apart(flag(1'500), flag(1'504)));
  CHECK(apart(flag(1'502), flag(1'504)));
  CHECK(flag(1'900).y0 == flag(1'500).y0);  // where there is room
  (void)lanes;
  tab().show({1'490, 1'520});  // far apart
  shell.frame(3);
  CHECK(flag(1'500).y0 == flag(1'504).y0);
}

TEST_CASE_FIXTURE(Flags, "markers: the field for a name goes when the pointer is used elsewhere, with what was typed") {
  drop(1'500);
  REQUIRE(shell.click("timeline.marker.0", render::MouseButton::left, 2));
  shell.frame(2);
  REQUIRE(shell.find("timeline.marker.name") != nullptr);
  shell.type("begin");
  const render::Rect canvas = *shell.find("timeline.canvas");
  shell.click({canvas.x1 - 20, canvas.y1 - 20});
  shell.frame(3);
  CHECK(shell.find("timeline.marker.name") == nullptr);
  CHECK(tab().markers[0].name == "begin");
  CHECK(tab().store->markers().at(0).name == "begin");
  CHECK(reads(1'500, "A  begin"));
  REQUIRE(shell.click("timeline.marker.0", render::MouseButton::left, 2));
  shell.frame(2);
  shell.key(Key::escape);
  shell.frame(3);
  CHECK(shell.find("timeline.marker.name") == nullptr);
  CHECK(tab().markers[0].name == "begin");
}

TEST_CASE_FIXTURE(Flags, "markers: a name that was given on the timeline is in the panel's field too") {
  drop(1'500);
  run("panel_markers");
  REQUIRE(shell.click("timeline.marker.0", render::MouseButton::left, 2));
  shell.frame(2);
  shell.type("begin");
  shell.key(Key::enter);
  shell.frame(3);
  REQUIRE(shell.find("markers.edit.Name") != nullptr);
  CHECK(shell.shows_in(*shell.find("markers.edit.Name"), "begin"));
}

TEST_CASE("commands: each has a title of its own") {
  Viewer viewer;
  std::set<std::string> titles;
  for (const palette::Command& command : viewer.app.commands().all()) {
    const std::string before_colon = command.title.substr(0, command.title.find(':'));
    const bool is_new = titles.insert(std::string(palette::menu_title(command.menu)) + "/" + command.title).second;
    CHECK_MESSAGE(is_new, command.title);
    if (before_colon == "Minimal view") {
      const bool only = titles.insert("Minimal view").second;
      CHECK_MESSAGE(only, command.id);
    }
  }
}
