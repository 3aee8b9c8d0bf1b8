// Two sessions below each other: one hand moves both, panels tell of the one that was touched, and the verdict is
// there.
#include <cmath>

#include "app/session/tab.h"
#include "capture/sim/output/simulator.h"
#include "core/base/format.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

std::string simulated_file(const TemporaryFolder& folder, const std::string& name, double slower) {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1, .slower = slower}, sink).ok());
  REQUIRE(store->save(folder.file(name)).ok());
  return folder.file(name);
}

struct SideBySide {
  TemporaryFolder folder;
  Viewer viewer;
  SideBySide() {
    viewer.open(simulated_file(folder, "first.accel", 0.3));
    viewer.open(simulated_file(folder, "second.accel", 0));
    viewer.app.layout().show("compare");
    REQUIRE(viewer.shell.settle());
    REQUIRE(viewer.shell.click("compare.side_by_side"));
    REQUIRE(viewer.shell.settle());
    REQUIRE(tab().beside.size() == 1);
  }
  session::SessionTab& tab() { return *viewer.app.workspace().active(); }
};

const session::SessionTab& below(const session::SessionTab& tab) { return *tab.beside.front().session; }

double shift(const session::SessionTab& tab) { return below(tab).view.begin_ns - tab.view.begin_ns; }

}  // namespace

TEST_CASE("side by side: a wheel over either timeline moves both, and back undoes it in both") {
  SideBySide pair;
  session::SessionTab& tab = pair.tab();
  CHECK(tab.title == "first : second");  // A is what was opened first
  CHECK(pair.viewer.shell.find("timeline.canvas") != nullptr);
  REQUIRE(pair.viewer.shell.find("timeline_below.canvas") != nullptr);
  const double apart = shift(tab);
  const session::ViewRange first = tab.view;
  for (const char* canvas : {"timeline.canvas", "timeline_below.canvas"}) {
    CAPTURE(canvas);
    const session::ViewRange before = tab.view;
    pair.viewer.shell.move(pair.viewer.shell.find(canvas)->centre());
    pair.viewer.shell.wheel({0, 2});
    REQUIRE(pair.viewer.shell.settle());
    CHECK(tab.view.span_ns() < before.span_ns() * 0.8);
    CHECK(below(tab).view.span_ns() == doctest::Approx(tab.view.span_ns()));
    CHECK(shift(tab) == doctest::Approx(apart));
    REQUIRE(pair.viewer.wait_for([&] { return tab.history.can_go_back(); }));
  }
  REQUIRE(pair.viewer.wait_for([&] {
    while (tab.history.can_go_back()) tab.restore(tab.history.back());
    return tab.view == first;
  }));
}

TEST_CASE("side by side: sessions are laid by their ends, or so that the work of both is as wide") {
  SideBySide pair;
  session::SessionTab& tab = pair.tab();
  REQUIRE(tab.active.has_value());
  REQUIRE(below(tab).active.has_value());
  const TimeRange here = *tab.active, there = *below(tab).active;
  CHECK(shift(tab) == doctest::Approx(static_cast<double>(there.begin_ns - here.begin_ns)));
  REQUIRE(pair.viewer.shell.click("comparison.align.2"));
  REQUIRE(pair.viewer.shell.settle());
  CHECK(shift(tab) == doctest::Approx(static_cast<double>(there.end_ns - here.end_ns)));
  REQUIRE(pair.viewer.shell.click("comparison.align.5"));
  REQUIRE(pair.viewer.shell.settle());
  CHECK(below(tab).view.span_ns() / tab.view.span_ns() ==
        doctest::Approx(static_cast<double>(there.length_ns()) / static_cast<double>(here.length_ns())));
  REQUIRE(pair.viewer.shell.click("comparison.align.3"));  // there is no marker in both
  REQUIRE(pair.viewer.shell.settle());
  CHECK(tab.alignment == session::Alignment::relative);
}

TEST_CASE(
    "side by side: turns of the loop that both run are joined, and one that is clicked begins at the same place") {
  SideBySide pair;
  session::SessionTab& tab = pair.tab();
  REQUIRE(pair.viewer.wait_for([&] { return tab.beside.front().turns != nullptr; }));
  REQUIRE(pair.viewer.shell.settle());
  const std::shared_ptr<const analysis::SharedTurns> found = tab.beside.front().turns;
  const analysis::SharedTurns& turns = *found;
  REQUIRE(turns.base.size() > 2);
  REQUIRE(turns.other.size() == turns.base.size());
  CHECK(pair.viewer.shell.find("comparison.links") != nullptr);
  const auto apart = [&](std::size_t turn) {
    return static_cast<double>(turns.other[turn].begin_ns - turns.base[turn].begin_ns);
  };
  REQUIRE(pair.viewer.shell.click("comparison.align.4"));
  REQUIRE(pair.viewer.shell.settle());
  CHECK(tab.alignment == session::Alignment::iteration);
  CHECK(shift(tab) == doctest::Approx(apart(0)));
  tab.show({static_cast<double>(turns.base[0].begin_ns), static_cast<double>(turns.base[2].begin_ns)});
  REQUIRE(pair.viewer.shell.settle());
  REQUIRE(pair.viewer.shell.click("comparison.other.turn.2"));
  REQUIRE(pair.viewer.shell.settle());
  CHECK(shift(tab) == doctest::Approx(apart(1)));
  CHECK(apart(1) != doctest::Approx(apart(0)));
}

TEST_CASE("side by side: flags say where the work of each ends, and how much later that of the other") {
  SideBySide pair;
  CHECK(pair.viewer.shell.find("comparison.base.end") != nullptr);
  CHECK(pair.viewer.shell.find("comparison.other.end") != nullptr);
  const double more = static_cast<double>(below(pair.tab()).active->length_ns() - pair.tab().active->length_ns());
  REQUIRE(more != 0);
  CHECK(pair.viewer.shell.shows((more < 0 ? "(\u2212" : "(+") + format_duration(std::abs(more)) + ")"));
}

TEST_CASE("side by side: an event that is clicked below is told of, and one above again") {
  SideBySide pair;
  session::SessionTab& tab = pair.tab();
  pair.viewer.app.layout().show("details");
  const auto click_in = [&](const char* canvas, session::SessionTab& side) {
    const render::Rect rect = *pair.viewer.shell.find(canvas);
    for (float y = rect.y0 + 6; y < rect.y1 && !side.selected; y += 9) {
      pair.viewer.shell.click(render::Point{rect.x0 + rect.width() * 0.4F, y});
      REQUIRE(pair.viewer.shell.settle());
    }
    REQUIRE(side.selected.has_value());
  };
  click_in("timeline_below.canvas", *tab.beside.front().session);
  CHECK(tab.touched == 1);
  CHECK_FALSE(tab.selected.has_value());
  click_in("timeline.canvas", tab);
  CHECK(tab.touched == 0);
}

TEST_CASE("side by side: the difference is explained as a waterfall, and a term leads to its events in both") {
  SideBySide pair;
  pair.viewer.app.layout().show("compare");
  REQUIRE(pair.viewer.shell.settle());
  REQUIRE(pair.viewer.shell.click("compare.page.1"));
  REQUIRE(pair.viewer.wait_for([&] { return pair.viewer.shell.find("compare.term.0") != nullptr; }));
  CHECK(pair.viewer.shell.shows("Nothing left over."));
  REQUIRE(pair.viewer.shell.click("compare.explained.2"));
  REQUIRE(pair.viewer.shell.settle());
  REQUIRE(pair.viewer.shell.click("compare.term.0"));
  REQUIRE(pair.viewer.shell.settle());
  CHECK((pair.tab().selected.has_value() || below(pair.tab()).selected.has_value()));
}

TEST_CASE("side by side: swap exchanges A and B everywhere, and the command swaps them back") {
  SideBySide pair;
  session::SessionTab& tab = pair.tab();
  const auto top_of = [&](const char* name) { return pair.viewer.shell.find(name)->y0; };
  const auto verdict = [&](const std::string& text) {
    return pair.viewer.wait_for([&] { return pair.viewer.shell.shows(text); });
  };
  REQUIRE(session::sessions_of(tab).front()->path.ends_with("first.accel"));
  CHECK(verdict("faster"));
  REQUIRE(pair.viewer.shell.click("compare.swap"));
  REQUIRE(pair.viewer.shell.settle());
  CHECK(session::sessions_of(tab).front()->path.ends_with("second.accel"));
  CHECK(tab.title == "second : first");
  CHECK(top_of("comparison.base") < top_of("comparison.other"));
  CHECK(verdict("slower"));
  CHECK_FALSE(pair.viewer.shell.shows("faster"));
  pair.viewer.run("swap_compared");
  CHECK(tab.title == "first : second");
  CHECK(verdict("faster"));
}

TEST_CASE("side by side: a third session gets a timeline, a verdict and a column, and any letter becomes A") {
  SideBySide pair;
  session::SessionTab& tab = pair.tab();
  const std::size_t here = *pair.viewer.app.workspace().active_index();
  pair.viewer.open(simulated_file(pair.folder, "third.accel", 0.6));
  pair.viewer.app.workspace().activate(here);
  REQUIRE(pair.viewer.shell.settle());
  REQUIRE(pair.viewer.shell.click("compare.add"));
  REQUIRE(pair.viewer.shell.settle());
  REQUIRE(pair.viewer.shell.click("compare.add.menu.0"));
  REQUIRE(pair.viewer.shell.settle());
  REQUIRE(tab.beside.size() == 2);
  CHECK(tab.title == "first : second : third");
  REQUIRE(pair.viewer.shell.find("timeline_below.2.canvas") != nullptr);
  CHECK(pair.viewer.wait_for([&] { return pair.viewer.shell.shows("C : A"); }));
  const session::ViewRange before = tab.view;
  pair.viewer.shell.move(pair.viewer.shell.find("timeline_below.2.canvas")->centre());
  pair.viewer.shell.wheel({0, 2});
  REQUIRE(pair.viewer.shell.settle());
  CHECK(tab.view.span_ns() < before.span_ns() * 0.8);
  CHECK(tab.cursor_ns.has_value());  // the pointer over C is marked in A and B
  CHECK(below(tab).cursor_ns.has_value());
  for (const session::ComparedSession& each : tab.beside)
    CHECK(each.session->view.span_ns() == doctest::Approx(tab.view.span_ns()));
  REQUIRE(pair.viewer.shell.click("comparison.other.2.letter"));
  REQUIRE(pair.viewer.shell.settle());
  CHECK(tab.title == "third : second : first");
}

TEST_CASE("side by side: the x beside a letter takes a session out, and of two what is left stands in its own tab") {
  SideBySide pair;
  Viewer& viewer = pair.viewer;
  const std::size_t here = *viewer.app.workspace().active_index();
  viewer.open(simulated_file(pair.folder, "third.accel", 0.6));
  viewer.app.workspace().activate(here);
  REQUIRE(viewer.shell.settle());
  const auto add_third = [&] {
    REQUIRE(viewer.shell.click("compare.add"));
    REQUIRE(viewer.shell.settle());
    REQUIRE(viewer.shell.click("compare.add.menu.0"));
    REQUIRE(viewer.shell.settle());
  };
  add_third();
  REQUIRE(pair.tab().title == "first : second : third");
  REQUIRE(viewer.shell.click("comparison.other.remove"));  // B
  REQUIRE(viewer.shell.settle());
  CHECK(pair.tab().title == "first : third");
  CHECK(viewer.shell.find("timeline_below.2.canvas") == nullptr);
  CHECK(session::own_title(below(pair.tab())) == "third");
  CHECK(viewer.app.workspace().tab_count() == 4);
  add_third();
  REQUIRE(pair.tab().title == "first : third : second");
  for (int i = 0; i < 300 && viewer.shell.ui().front_focus().at != "comparison.base.remove"; ++i)
    viewer.shell.key(render::Key::tab);
  viewer.shell.key(render::Key::enter);  // A, whose tab it was: B and C go on in one of their own
  REQUIRE(viewer.shell.settle());
  CHECK(pair.tab().beside.size() == 1);
  CHECK(pair.tab().title == "second : third");
  CHECK(viewer.app.workspace().tab_count() == 4);
  REQUIRE(viewer.shell.click("comparison.other.remove"));
  REQUIRE(viewer.shell.settle());
  CHECK(pair.tab().beside.empty());
  CHECK(pair.tab().title == "second");
  CHECK(viewer.app.workspace().tab_count() == 3);
}

TEST_CASE("side by side: the flame graph of the difference has a box for each layer, by the widths of either") {
  SideBySide pair;
  REQUIRE(pair.viewer.shell.click("compare.page.7"));
  const auto is_there = [&] { return pair.viewer.shell.find("compare.flame.box.1") != nullptr; };
  REQUIRE(pair.viewer.wait_for(is_there));
  REQUIRE(pair.viewer.shell.settle());
  CHECK(pair.viewer.shell.shows("B takes less"));
  const render::Rect of_b = *pair.viewer.shell.find("compare.flame.box.1");
  REQUIRE(pair.viewer.shell.click("compare.flame.widths.0"));
  REQUIRE(pair.viewer.shell.settle());
  const render::Rect of_a = *pair.viewer.shell.find("compare.flame.box.1");
  CHECK(of_a.y0 == of_b.y0);
  pair.viewer.shell.move(of_a.centre());
  pair.viewer.shell.wait(0.3);
  CHECK(pair.viewer.wait_for([&] { return pair.viewer.shell.shows("Events of A"); }));
  pair.viewer.shell.click(of_a.centre());
  REQUIRE(pair.viewer.shell.settle());
  CHECK(pair.tab().selected.has_value());
  CHECK(below(pair.tab()).selected.has_value());
}

TEST_CASE("side by side: of the sessions that a command line names, the first is A, in the order in which they stand") {
  const TemporaryFolder folder;
  Viewer viewer({.compared = {simulated_file(folder, "b.accel", 0.3), simulated_file(folder, "a.accel", 0.6)}});
  viewer.app.open(simulated_file(folder, "first.accel", 0));
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.tab().beside.size() == 2);
  CHECK(viewer.tab().title == "first : b : a");
}
