// The window by keys alone: from pane to pane, through tables, groups and menus, sessions by number, undoing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/timeline/frame.h"
#include "core/base/format.h"
#include "tests/gui/frame/sample_sessions.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

struct KeyViewer : OpenViewer {
  [[nodiscard]] const render::KeyboardFocus& focus() { return shell.ui().front_focus(); }
  [[nodiscard]] std::string pane() { return focus().place ? focus().place->pane : std::string(); }
  void go_to_pane(const std::string& name) {
    for (int i = 0; i < 12 && pane() != name; ++i) shell.key(Key::f6);
    REQUIRE(pane() == name);
  }
  void go_to(const std::string& name) {
    for (int i = 0; i < 300 && focus().at != name; ++i) shell.key(Key::tab);
    REQUIRE(focus().at == name);
  }
};

}  // namespace

TEST_CASE_FIXTURE(KeyViewer, "keyboard: F6 goes round the parts of the window, Shift+F6 back, each where it was left") {
  std::vector<std::string> panes;
  for (int i = 0; i < 6; ++i) {
    shell.key(Key::f6);
    panes.push_back(pane());
  }
  CHECK(fmt::format("{}", fmt::join(panes, " ")) == "top tabs timeline bottom right status");
  shell.key(Key::f6, {.shift = true});
  CHECK(pane() == "right");
  go_to_pane("bottom");
  shell.key(Key::tab);
  const std::string left = focus().at;
  shell.key(Key::f6);
  shell.key(Key::f6, {.shift = true});
  CHECK(focus().at == left);
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: Tab goes through every pane and comes round, Shift+Tab the other way") {
  shell.key(Key::tab);
  const std::string first = focus().at;
  std::set<std::string> panes;
  int steps = 0;
  do {
    panes.insert(pane());
    shell.key(Key::tab);
  } while (focus().at != first && ++steps < 300);
  CHECK(steps < 300);
  CHECK(panes.size() == 6);
  shell.key(Key::tab, {.shift = true});
  CHECK(pane() == "status");
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: arrows in a table move its row and leave the timeline where it is") {
  app.layout().show("statistics");
  REQUIRE(shell.settle());
  const session::ViewRange before = tab().view;
  go_to_pane("bottom");
  for (int i = 0; i < 60 && (!focus().place || focus().place->kind != render::FocusStopKind::list); ++i)
    shell.key(Key::tab);
  REQUIRE(focus().place->kind == render::FocusStopKind::list);
  shell.key(Key::down);
  const std::string first = focus().part;
  shell.key(Key::down);
  CHECK(focus().part != first);
  shell.key(Key::home);
  CHECK(focus().part == first);
  shell.key(Key::c, {.ctrl = true});
  const std::string row = shell.clipboard();
  CHECK(row.find('\t') != std::string::npos);
  shell.key(Key::a, {.ctrl = true});
  shell.key(Key::c, {.ctrl = true});
  CHECK(shell.clipboard().size() > row.size());
  shell.key(Key::f10, {.shift = true});
  CHECK(shell.shows("Copy cell"));
  shell.key(Key::escape);
  CHECK(tab().view == before);
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: letters in a table go to the row that begins with them, and run no command") {
  app.layout().show("statistics");
  REQUIRE(shell.settle());
  go_to_pane("bottom");
  for (int i = 0; i < 60 && (!focus().place || focus().place->kind != render::FocusStopKind::list); ++i)
    shell.key(Key::tab);
  shell.key(Key::m);
  shell.type("M");
  CHECK(tab().markers.empty());
  CHECK(focus().part.find(".row.") != std::string::npos);
  go_to_pane("timeline");
  shell.key(Key::m);
  CHECK(tab().markers.size() == 1);
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: arrows pan the timeline while it has the keyboard") {
  shell.key(Key::w);
  go_to_pane("timeline");
  go_to("timeline.canvas");
  const session::ViewRange before = tab().view;
  shell.key(Key::right);
  CHECK(tab().view.begin_ns > before.begin_ns);
}

TEST_CASE_FIXTURE(KeyViewer,
                  "keyboard: Ctrl+C copies the selected event, and the name of the control that has the keyboard") {
  select(kFirstMatmul);
  shell.key(Key::c, {.ctrl = true});
  CHECK(shell.clipboard().starts_with("MATMUL\t"));
  go_to("top.record");
  shell.key(Key::c, {.ctrl = true});
  CHECK(shell.clipboard() == "Record");
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: Shift+F10 opens the menu of the event that is selected in the timeline") {
  select(kFirstMatmul);
  go_to("timeline.canvas");
  shell.key(Key::f10, {.shift = true});
  shell.frame(3);
  CHECK(shell.shows("Copy the name"));
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: Alt goes to the menus, arrows and underlined letters choose in them") {
  shell.hold(Key::left_alt);
  shell.hold(Key::left_alt, false);
  shell.frame(2);
  CHECK(focus().at == "menu.File");
  shell.key(Key::right);
  CHECK(focus().at == "menu.View");
  shell.key(Key::down);
  shell.frame(2);
  REQUIRE(shell.find("menu.View.undo") != nullptr);
  shell.key(Key::right);
  shell.frame(3);
  CHECK(shell.find("menu.Record.connect") != nullptr);
  shell.key(Key::escape);
  shell.frame(2);
  shell.key(Key::h, {.alt = true});
  shell.frame(3);
  REQUIRE(shell.find("menu.Help.about") != nullptr);
  shell.key(Key::a);
  shell.frame(3);
  CHECK(shell.find("about.done") != nullptr);
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: a dialog has an order of its own, and the keyboard comes back where it was") {
  go_to_pane("bottom");
  const std::string before = focus().at;
  run("about");
  for (int i = 0; i < 3; ++i) shell.key(Key::tab);
  shell.key(Key::escape);
  shell.frame(3);
  CHECK(focus().at == before);
  run("about");
  shell.key(Key::tab);
  shell.key(Key::tab);
  shell.key(Key::enter);
  shell.frame(3);
  CHECK(shell.find("about.done") == nullptr);
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: Ctrl+1 to 9 and Ctrl+Tab go to sessions, also from the start page") {
  open(save_small_session(folder.path(), "other.accel"));
  REQUIRE(app.workspace().tab_count() == 2);
  shell.key(Key::digit1, {.ctrl = true});
  CHECK(app.workspace().active_index() == 0U);
  shell.key(Key::digit2, {.ctrl = true});
  CHECK(app.workspace().active_index() == 1U);
  run("start_page");
  shell.key(Key::tab, {.ctrl = true});
  CHECK(app.workspace().active_index() == 0U);
  run("start_page");
  shell.key(Key::tab, {.ctrl = true, .shift = true});
  CHECK(app.workspace().active_index() == 1U);
}

TEST_CASE("keyboard: on a start page without sessions Ctrl+1 opens the one that was opened last") {
  const TemporaryFolder state, folder;
  {
    Viewer viewer({.state_directory = state.path()});
    viewer.open(save_small_session(folder.path()));
  }
  Viewer viewer({.state_directory = state.path()});
  viewer.shell.key(Key::digit1, {.ctrl = true});
  CHECK(viewer.wait_for([&] { return viewer.app.workspace().tab_count() == 1; }));
}

TEST_CASE_FIXTURE(KeyViewer,
                  "undo: Ctrl+Z takes back a marker, a filter and a view one by one, Ctrl+Shift+Z does them again") {
  const session::ViewRange first = tab().view;
  shell.key(Key::w);
  const session::ViewRange zoomed = tab().view;
  shell.key(Key::m);
  REQUIRE(tab().markers.size() == 1);
  tab().change([](session::ViewChoices& choices) { choices.rows.hidden.insert("x"); });
  shell.frame(2);
  shell.key(Key::z, {.ctrl = true});
  CHECK(tab().choices.rows.hidden.empty());
  CHECK(tab().markers.size() == 1);
  shell.key(Key::z, {.ctrl = true});
  CHECK(tab().markers.empty());
  CHECK(tab().view == zoomed);
  shell.key(Key::z, {.ctrl = true});
  CHECK(tab().view == first);
  for (int i = 0; i < 3; ++i) shell.key(Key::z, {.ctrl = true, .shift = true});
  CHECK(tab().view == zoomed);
  CHECK(tab().markers.size() == 1);
  CHECK(tab().choices.rows.hidden.contains("x"));
}

TEST_CASE_FIXTURE(KeyViewer, "undo: in a text field Ctrl+Z takes back what was typed and not what was done before") {
  shell.key(Key::m);
  REQUIRE(tab().markers.size() == 1);
  shell.key(Key::f, {.ctrl = true});
  shell.type("abc");
  shell.key(Key::z, {.ctrl = true});
  CHECK(tab().markers.size() == 1);
}

TEST_CASE_FIXTURE(KeyViewer, "keys: ? begins with what holds where the keyboard is") {
  app.layout().show("statistics");
  REQUIRE(shell.settle());
  go_to_pane("bottom");
  for (int i = 0; i < 60 && (!focus().place || focus().place->kind != render::FocusStopKind::list); ++i)
    shell.key(Key::tab);
  shell.key(Key::slash, {.shift = true});
  shell.frame(2);
  CHECK(shell.shows("Here, in the panels below the timeline"));
  CHECK(shell.shows("go to the row that begins with them"));
}

TEST_CASE_FIXTURE(KeyViewer, "palette: other words find a command, and a column opens the table at it") {
  const auto first = [&](const char* words) { return app.commands().matching(words).front()->id; };
  CHECK(first("diverg") == "compare_with");
  CHECK(app.commands().matching("diverg")[1]->id == "panel_compare");
  const auto arranging = app.commands().matching("panel layout");
  CHECK(std::ranges::any_of(arranging, [](const auto* command) { return command->id == "layout.save"; }));
  CHECK(first("shortcuts") == "keys");
  CHECK(first("table hotspots") == "listing_hotspots");
  const auto columns = app.commands().matching("column busy_ns");
  REQUIRE_FALSE(columns.empty());
  CHECK(columns.front()->id.starts_with("column_"));
  columns.front()->run();
  REQUIRE(shell.settle());
  CHECK(app.layout().is_seen("sql"));
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: what is cut from the right of the top bar comes from its left to its right") {
  go_to_pane("top");
  shell.key(Key::tab);
  float last = 0;
  for (int i = 0; i < 40 && pane() == "top"; ++i) {
    const float x = focus().place->rect.centre().x;
    CHECK_MESSAGE((x > last || i == 0), focus().at);
    last = x;
    shell.key(Key::tab);
  }
}

TEST_CASE_FIXTURE(KeyViewer,
                  "keyboard: Ctrl+A and Ctrl+C copy a list as they copy a table, an arrow chooses one again") {
  app.layout().show("selection");
  REQUIRE(shell.settle());
  go_to_pane("bottom");
  for (int i = 0; i < 60 && focus().at.find(".row.") == std::string::npos; ++i) shell.key(Key::tab);
  REQUIRE(focus().place->group.ends_with(".rows"));
  shell.key(Key::home);
  shell.key(Key::c, {.ctrl = true});
  const std::string one = shell.clipboard();
  CHECK(one.find('\n') == std::string::npos);
  shell.key(Key::a, {.ctrl = true});
  shell.key(Key::c, {.ctrl = true});
  CHECK(shell.clipboard().starts_with(one));
  CHECK(std::ranges::count(shell.clipboard(), '\n') > 1);
  shell.key(Key::down);
  shell.key(Key::up);
  shell.key(Key::c, {.ctrl = true});
  CHECK(shell.clipboard() == one);
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: Escape in a menu that lies beside a menu closes that one alone") {
  select(kFirstMatmul);
  const auto labels = shell.ui().controls();
  const auto label =
      std::ranges::find_if(labels, [](const auto& each) { return each.name.starts_with("timeline.label."); });
  REQUIRE(label != labels.end());
  REQUIRE(shell.click(label->name, render::MouseButton::right));
  REQUIRE(shell.click("timeline.row_menu.size"));
  REQUIRE(shell.find("timeline.row_menu.size.size:tall") != nullptr);
  shell.key(Key::escape);
  shell.frame(2);
  CHECK(shell.find("timeline.row_menu.size.size:tall") == nullptr);
  CHECK(shell.find("timeline.row_menu.size") != nullptr);
  shell.key(Key::escape);
  shell.frame(2);
  CHECK(shell.find("timeline.row_menu.size") == nullptr);
  CHECK(tab().selected == kFirstMatmul);
}

TEST_CASE_FIXTURE(KeyViewer, "undo: a filter is taken back by Ctrl+Z and done again by Ctrl+Shift+Z") {
  tab().change([](session::ViewChoices& choices) { choices.filter.terms = {{"MATMUL", false}}; });
  REQUIRE(shell.settle());
  REQUIRE(shell.shows("Clear all"));
  shell.key(Key::z, {.ctrl = true});
  CHECK(shell.shows("Undid: the filter"));
  CHECK_FALSE(shell.shows("Clear all"));
  shell.key(Key::z, {.ctrl = true, .shift = true});
  REQUIRE(shell.settle());
  CHECK(shell.shows("Clear all"));
  REQUIRE(shell.click("filter.clear"));
  CHECK_FALSE(shell.shows("Clear all"));
  shell.key(Key::z, {.ctrl = true});
  REQUIRE(shell.settle());
  CHECK(shell.shows("Clear all"));
}

TEST_CASE_FIXTURE(KeyViewer, "undo: sets of markers that were saved, loaded and deleted come back by Ctrl+Z") {
  const auto click = [&](const char* name) {
    REQUIRE_MESSAGE(shell.click(name), name);
    shell.frame(3);
  };
  app.layout().show("markers");
  shell.key(Key::m);
  REQUIRE(tab().markers.size() == 1);
  click("markers.sets.name");
  shell.type("mine");
  click("markers.sets.save");
  REQUIRE(shell.shows("mine  (1)"));
  shell.key(Key::z, {.ctrl = true});
  CHECK(shell.shows("Undid: the sets of markers"));
  CHECK(shell.shows("No sets yet"));
  shell.key(Key::z, {.ctrl = true, .shift = true});
  shell.frame(2);
  REQUIRE(shell.shows("mine  (1)"));
  session::remove_marker(tab(), tab().markers.front().id);
  shell.frame(3);
  click("markers.sets.load");
  REQUIRE(tab().markers.size() == 1);
  shell.key(Key::z, {.ctrl = true});
  CHECK(tab().markers.empty());
  click("markers.sets.delete");
  CHECK(shell.shows("No sets yet"));
  shell.key(Key::z, {.ctrl = true});
  shell.frame(2);
  CHECK(shell.shows("mine  (1)"));
}

TEST_CASE_FIXTURE(KeyViewer,
                  "keyboard: arrows move a splitter, Home and End take it to its ends, Enter and a double click set it "
                  "back") {
  const auto top = [&] {
    shell.frame(2);
    return shell.find("splitter.bottom")->y0;
  };
  const float first = top();
  go_to("splitter.bottom");
  shell.key(Key::up);
  const float higher = top();
  CHECK(higher < first);
  shell.key(Key::down, {.shift = true});
  CHECK(top() - higher > first - higher);  // Shift goes further
  shell.key(Key::home);
  const float highest = top();
  CHECK(highest < higher);
  shell.key(Key::end);
  const float lowest = top();
  CHECK(lowest > first);
  shell.key(Key::down);
  CHECK(top() == lowest);  // no further
  shell.key(Key::enter);
  CHECK(top() == first);
  shell.key(Key::home);
  REQUIRE(top() == highest);
  shell.click(shell.find("splitter.bottom")->centre(), render::MouseButton::left, 2);
  CHECK(top() == first);
  const session::ViewRange view = tab().view;
  shell.key(Key::slash, {.shift = true});
  shell.frame(2);
  CHECK(shell.shows("sets the size back"));
  CHECK(tab().view == view);
}

TEST_CASE_FIXTURE(KeyViewer,
                  "keyboard: a marker that has the keyboard moves by a pixel, with Shift by ten, and Del deletes it") {
  tab().show({0, 1'000'000});
  shell.frame(2);
  session::put_marker(tab(), {.ts_ns = 400'000, .end_ns = 500'000});
  session::put_marker(tab(), {.ts_ns = 402'000});
  shell.frame(2);
  const std::int64_t span = tab().markers[0].id;
  const auto at = [&] { return std::ranges::find(tab().markers, span, &Marker::id); };
  go_to("timeline.marker.0");
  const session::ViewRange view = tab().view;
  const double pixel = view.span_ns() / static_cast<double>(shell.find("timeline.canvas")->width());
  shell.key(Key::right);
  shell.frame(2);
  CHECK(static_cast<double>(at()->ts_ns) == doctest::Approx(400'000 + pixel).epsilon(1e-5));
  CHECK(*at()->end_ns - at()->ts_ns == 100'000);  // all of a span moves
  shell.key(Key::right, {.shift = true});         // past the other one, and the keyboard goes with it
  shell.frame(2);
  CHECK(static_cast<double>(at()->ts_ns) == doctest::Approx(400'000 + 11 * pixel).epsilon(1e-5));
  CHECK(focus().at == "timeline.marker.1");
  shell.key(Key::left, {.shift = true});
  shell.key(Key::left);
  shell.frame(2);
  CHECK(std::abs(at()->ts_ns - 400'000) <= 2);
  CHECK(tab().view == view);  // nothing else moves
  CHECK_FALSE(tab().region.has_value());
  shell.key(Key::enter);
  shell.frame(2);
  CHECK(shell.find("timeline.marker.name") != nullptr);
  shell.key(Key::escape);
  shell.frame(2);
  REQUIRE(shell.click("timeline.marker.0"));  // a click chooses one, too
  shell.key(Key::del);
  shell.frame(2);
  REQUIRE(tab().markers.size() == 1);
  CHECK(tab().markers[0].id != span);
  wait_for_answers(tab());
  CHECK(tab().store->markers().size() == 1);
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: Shift and arrows draw a box over time and lanes, and say what it measures") {
  tab().show({900, 2'100});
  select(kFirstMatmul);
  go_to("timeline.canvas");
  shell.key(Key::right, {.shift = true});
  REQUIRE(shell.settle());
  REQUIRE(tab().region.has_value());
  const EventFilter one = *tab().region;
  CHECK(one.range->begin_ns == 1'000);
  CHECK(one.range->end_ns > 1'100);
  CHECK(one.tracks.size() == 1);
  CHECK(app.layout().is_seen("selection"));
  CHECK(shell.shows(format_duration(one.range->length_ns())));
  shell.key(Key::down, {.shift = true});
  shell.frame(2);
  CHECK(tab().region->tracks.size() > 1);
  CHECK(tab().region->range == one.range);
  CHECK(tab().selected == kFirstMatmul);
  shell.key(Key::up, {.shift = true});
  shell.frame(2);
  CHECK(tab().region->tracks == one.tracks);
  shell.key(Key::right, {.shift = true});
  shell.frame(2);
  CHECK(tab().region->range->end_ns > one.range->end_ns);
  for (int i = 0; i < 40; ++i) shell.key(Key::left, {.shift = true});  // over the corner that stays
  shell.frame(2);
  CHECK(tab().region->range->end_ns == 1'000);
  CHECK(tab().region->range->begin_ns < 1'000);
  shell.key(Key::escape);
  shell.frame(2);
  CHECK_FALSE(tab().region.has_value());
}

TEST_CASE_FIXTURE(
    KeyViewer, "keyboard: Alt+Down and Alt+Up move the lane of the selection, or that whose label has the keyboard") {
  const auto place_of = [&](std::string_view label) {
    const auto& rows = tab().timeline->rows;
    const auto found = std::ranges::find(rows, label, &rows::TimelineRow::label);
    REQUIRE(found != rows.end());
    return found - rows.begin();
  };
  select(kFirstMatmul);
  const auto first = place_of("Tensor");
  shell.key(Key::down, {.alt = true});
  shell.frame(3);
  CHECK(place_of("Tensor") > first);
  shell.key(Key::up, {.alt = true});
  shell.frame(3);
  CHECK(place_of("Tensor") == first);
  const std::string other = tab().timeline->rows[static_cast<std::size_t>(first) + 1].label;
  const std::string label = "timeline.label." + tab().timeline->rows[static_cast<std::size_t>(first) + 1].key;
  go_to_pane("timeline");
  for (int i = 0; i < 300 && !focus().at.starts_with("timeline.label."); ++i) shell.key(Key::tab);
  for (int i = 0; i < 50 && focus().at != label; ++i) shell.key(Key::down);
  REQUIRE(focus().at == label);
  const auto before = place_of(other);
  shell.key(Key::up, {.alt = true});
  shell.frame(3);
  CHECK(place_of(other) < before);
  CHECK(focus().at == label);
  shell.key(Key::z, {.ctrl = true});
  shell.frame(3);
  CHECK(place_of(other) == before);
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: the menu of a table's head makes a column wider, fits, moves and hides it") {
  app.layout().show("statistics");
  REQUIRE(shell.settle());
  go_to_pane("bottom");
  for (int i = 0; i < 60 && (!focus().place || !focus().place->group.ends_with(".head")); ++i) shell.key(Key::tab);
  REQUIRE(focus().place->group.ends_with(".head"));
  const std::string head = focus().at;
  const std::string table = head.substr(0, head.find(".head."));
  const auto choose = [&](const char* item) {
    shell.key(Key::f10, {.shift = true});
    shell.frame(2);
    REQUIRE_MESSAGE(shell.click(table + ".columns." + item), item);
    shell.frame(3);
  };
  const auto width = [&] { return shell.find(head)->width(); };
  const float first = width();
  choose("wider");
  CHECK(width() > first);
  choose("narrower");
  CHECK(width() == doctest::Approx(first));
  choose("fit");
  const float fitted = width();
  choose("wider");
  choose("fit");
  CHECK(width() == doctest::Approx(fitted));
  const std::string next = table + ".head.1";
  REQUIRE(shell.find(head)->x0 < shell.find(next)->x0);
  choose("right");
  CHECK(shell.find(head)->x0 > shell.find(next)->x0);
  shell.key(Key::left);  // in the order in which they stand
  CHECK(focus().at == next);
  shell.key(Key::right);
  choose("left");
  CHECK(shell.find(head)->x0 < shell.find(next)->x0);
  choose("hide");
  CHECK(shell.find(head) == nullptr);
  for (int i = 0; i < 60 && (!focus().place || !focus().place->group.ends_with(".head")); ++i) shell.key(Key::tab);
  choose("all");
  CHECK(shell.find(head) != nullptr);
}

TEST_CASE_FIXTURE(KeyViewer, "keyboard: Shift and arrows drag over a plot: a stretch of durations becomes the filter") {
  app.layout().show("statistics");
  REQUIRE(shell.settle());
  go_to_pane("bottom");
  go_to("statistics.histogram");
  shell.key(Key::home);
  REQUIRE(tab().choices.filter.empty());
  shell.hold(Key::left_shift);
  for (int i = 0; i < 6; ++i) shell.key(Key::right);
  shell.hold(Key::left_shift, false);
  shell.frame(3);
  CHECK_FALSE(tab().choices.filter.terms.empty());
  CHECK_FALSE(tab().region.has_value());  // the arrows were the plot's
}
