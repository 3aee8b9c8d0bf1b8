// What of the session a panel's numbers are of: the control is there at any width, in every panel that has it.
#include "app/panels/panel.h"
#include "capture/sim/output/simulator.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

TEST_CASE("scope: every panel offers it down to a width of 400, as segments or as a drop-down") {
  const TemporaryFolder folder;
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1}, sink).ok());
  REQUIRE(store->save(folder.file("simulated.accel")).ok());
  Viewer viewer;
  viewer.open(folder.file("simulated.accel"));
  const std::pair<const char*, std::string> panels[] = {
      {"statistics", "statistics.scope"}, {"roofline", "roofline.scope"}, {"core-grid", "grid.scope"},
      {"layers", "layers.scope"},         {"metrics", "metrics.range"},   {"collectives", "collectives.scope"}};
  for (const int width : {400, 640, 1000, 1600}) {
    viewer.shell.resize(width, 900, 1);
    for (const auto& [panel, scope] : panels) {
      CAPTURE(width);
      CAPTURE(panel);
      viewer.app.layout().show(panel);
      viewer.app.layout().maximise(panel);
      REQUIRE(viewer.shell.settle());
      const render::Rect window = viewer.shell.ui().window();
      const bool segments = viewer.shell.find(scope + ".0") != nullptr;
      if (!segments) {
        const render::Rect* closed = viewer.shell.find(scope);
        REQUIRE(closed != nullptr);
        CHECK(closed->x0 >= window.x0);
        CHECK(closed->x1 <= window.x1);
        REQUIRE(viewer.shell.click(scope));
      }
      if (width == 400) CHECK_FALSE(segments);
      if (width == 1600) CHECK(segments);
      REQUIRE(viewer.shell.click(scope + ".1"));
      REQUIRE(viewer.shell.settle());
      if (segments) continue;
      CHECK(viewer.shell.shows_in(*viewer.shell.find(scope), "Visible range"));
      REQUIRE(viewer.shell.click(scope));
      REQUIRE(viewer.shell.click(scope + ".0"));
    }
  }
}

TEST_CASE("scope: what the panel itself selects leaves its selection, what others select replaces it") {
  OpenViewer viewer;
  session::SessionTab& tab = viewer.tab();
  panels::PanelScope scope = panels::Scope::session;
  EventFilter box, name, other;
  box.range = TimeRange{0, 100};
  name.terms.push_back({"name=\"x\"", false});
  other.range = TimeRange{50, 80};
  const auto panel_draws = [&](std::optional<EventFilter> clicked = {}) {
    const panels::OwnSelection own(tab, scope);
    if (clicked) tab.region = *clicked;
  };
  tab.region = box;
  panel_draws();
  scope.choose(panels::Scope::selection, tab);
  CHECK(panels::scope_filter(tab, scope) == box);
  CHECK(panels::scope_text(tab, scope) == "what is selected");
  panel_draws(name);
  panel_draws();
  CHECK(tab.region == name);
  CHECK(panels::scope_filter(tab, scope) == box);
  CHECK(panels::scope_text(tab, scope) == "what was selected");
  tab.region = other;
  panel_draws();
  CHECK(panels::scope_filter(tab, scope) == other);
  panel_draws(name);
  scope.choose(panels::Scope::selection, tab);
  CHECK(panels::scope_filter(tab, scope) == name);
  tab.region.reset();
  panel_draws();
  CHECK(panels::scope_filter(tab, scope).empty());
}
