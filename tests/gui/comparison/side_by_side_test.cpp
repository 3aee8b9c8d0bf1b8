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
    REQUIRE(tab().beside != nullptr);
  }
  SessionTab& tab() { return *viewer.app.workspace().active(); }
};

double shift(const SessionTab& tab) { return tab.beside->view.begin_ns - tab.view.begin_ns; }

}  // namespace

TEST_CASE("side by side: a wheel over either timeline moves both, and back undoes it in both") {
  SideBySide pair;
  SessionTab& tab = pair.tab();
  CHECK(tab.title == "first : second");  // A is what was opened first
  CHECK(pair.viewer.shell.find("timeline.canvas") != nullptr);
  REQUIRE(pair.viewer.shell.find("timeline_below.canvas") != nullptr);
  const double apart = shift(tab);
  const ViewRange first = tab.view;
  for (const char* canvas : {"timeline.canvas", "timeline_below.canvas"}) {
    CAPTURE(canvas);
    const ViewRange before = tab.view;
    pair.viewer.shell.move(pair.viewer.shell.find(canvas)->centre());
    pair.viewer.shell.wheel({0, 2});
    REQUIRE(pair.viewer.shell.settle());
    CHECK(tab.view.span_ns() < before.span_ns() * 0.8);
    CHECK(tab.beside->view.span_ns() == doctest::Approx(tab.view.span_ns()));
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
  SessionTab& tab = pair.tab();
  REQUIRE(tab.active.has_value());
  REQUIRE(tab.beside->active.has_value());
  const TimeRange here = *tab.active, there = *tab.beside->active;
  CHECK(shift(tab) == doctest::Approx(static_cast<double>(there.begin_ns - here.begin_ns)));
  REQUIRE(pair.viewer.shell.click("comparison.align.2"));
  REQUIRE(pair.viewer.shell.settle());
  CHECK(shift(tab) == doctest::Approx(static_cast<double>(there.end_ns - here.end_ns)));
  REQUIRE(pair.viewer.shell.click("comparison.align.5"));
  REQUIRE(pair.viewer.shell.settle());
  CHECK(tab.beside->view.span_ns() / tab.view.span_ns() ==
        doctest::Approx(static_cast<double>(there.length_ns()) / static_cast<double>(here.length_ns())));
  REQUIRE(pair.viewer.shell.click("comparison.align.3"));  // there is no marker in both
  REQUIRE(pair.viewer.shell.settle());
  CHECK(tab.alignment == Alignment::relative);
}

TEST_CASE(
    "side by side: turns of the loop that both run are joined, and one that is clicked begins at the same place") {
  SideBySide pair;
  SessionTab& tab = pair.tab();
  REQUIRE(pair.viewer.wait_for([&] { return tab.turns != nullptr; }));
  REQUIRE(pair.viewer.shell.settle());
  REQUIRE(tab.turns->base.size() > 2);
  REQUIRE(tab.turns->other.size() == tab.turns->base.size());
  CHECK(pair.viewer.shell.find("comparison.links") != nullptr);
  const auto apart = [&](std::size_t turn) {
    return static_cast<double>(tab.turns->other[turn].begin_ns - tab.turns->base[turn].begin_ns);
  };
  REQUIRE(pair.viewer.shell.click("comparison.align.4"));
  REQUIRE(pair.viewer.shell.settle());
  CHECK(tab.alignment == Alignment::iteration);
  CHECK(shift(tab) == doctest::Approx(apart(0)));
  tab.show({static_cast<double>(tab.turns->base[0].begin_ns), static_cast<double>(tab.turns->base[2].begin_ns)});
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
  const double more = static_cast<double>(pair.tab().beside->active->length_ns() - pair.tab().active->length_ns());
  REQUIRE(more != 0);
  CHECK(pair.viewer.shell.shows((more < 0 ? "(\u2212" : "(+") + format_duration(std::abs(more)) + ")"));
}

TEST_CASE("side by side: an event that is clicked below is told of, and one above again") {
  SideBySide pair;
  SessionTab& tab = pair.tab();
  pair.viewer.app.layout().show("details");
  const auto click_in = [&](const char* canvas, SessionTab& side) {
    const render::Rect rect = *pair.viewer.shell.find(canvas);
    for (float y = rect.y0 + 6; y < rect.y1 && !side.selected; y += 9) {
      pair.viewer.shell.click(render::Point{rect.x0 + rect.width() * 0.4F, y});
      REQUIRE(pair.viewer.shell.settle());
    }
    REQUIRE(side.selected.has_value());
  };
  click_in("timeline_below.canvas", *tab.beside);
  CHECK(tab.beside_in_progress);
  CHECK_FALSE(tab.selected.has_value());
  click_in("timeline.canvas", tab);
  CHECK_FALSE(tab.beside_in_progress);
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
  CHECK((pair.tab().selected.has_value() || pair.tab().beside->selected.has_value()));
}
