// The Warnings panel with real clicks on a simulated Neuron session: what a row selects, the box on the timeline and
// its tab, the sign in the source, the verdict's link, the errors with what ran around them, and sessions without any.
#include <algorithm>

#include "app/session/analysis.h"
#include "capture/sim/output/simulator.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

struct WarningsViewer : Viewer {
  TemporaryFolder folder;
  WarningsViewer() {
    auto store = std::move(Store::create()).value();
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1}, sink).ok());
    REQUIRE(store->save(folder.file("simulated.accel")).ok());
    open(folder.file("simulated.accel"));
    app.layout().show("warnings");
    REQUIRE(wait_for([&] { return advice() != nullptr; }));
    shell.frame(3);
    REQUIRE(shell.settle());
  }
  [[nodiscard]] std::shared_ptr<const analysis::Advice> advice() { return tab().analysis->advice(); }
  void press(std::string_view name, int times = 1) {
    REQUIRE(shell.click(name, render::MouseButton::left, times));
    REQUIRE(shell.settle());
  }
};

}  // namespace

TEST_CASE("warnings: a click selects what the finding rests on and boxes it, a double click goes there") {
  WarningsViewer viewer;
  const auto advice = viewer.advice();
  REQUIRE(advice->findings.size() > 2);
  CHECK(viewer.shell.shows(std::to_string(advice->findings.size())));  // the badge
  CHECK(viewer.shell.shows(advice->findings[1].headline));
  CHECK(advice->findings[0].is_error);
  CHECK(viewer.shell.shows(std::string(advice->findings[0].rule->title)));  // the card speaks of the first
  viewer.press("warnings.table.row.1");
  CHECK(viewer.tab().chosen_warning == advice->findings[1].key);
  REQUIRE(viewer.tab().region);
  CHECK(*viewer.tab().region == advice->findings[1].events);
  CHECK(viewer.tab().analysis->error().empty());
  REQUIRE(viewer.wait_for([&] {
    const auto summary = viewer.tab().analysis->summary(*viewer.tab().region);
    return summary && summary->summary->filter == *viewer.tab().region;
  }));
  CHECK(viewer.tab().analysis->summary_error().empty());
  CHECK(viewer.tab().analysis->summary(*viewer.tab().region)->summary->event_count == advice->findings[1].count);
  CHECK(viewer.shell.find("timeline.warning.box.0") != nullptr);
  CHECK(viewer.shell.shows(advice->findings[1].tab));
  const session::ViewRange before = viewer.tab().view;
  viewer.press("warnings.table.row.1", 2);
  CHECK_FALSE(viewer.tab().view == before);
  CHECK(viewer.tab().view.begin_ns <= static_cast<double>(advice->findings[1].events.range->begin_ns));
  CHECK(viewer.tab().view.end_ns >= static_cast<double>(advice->findings[1].events.range->end_ns));
}

TEST_CASE("warnings: the largest findings are boxed unasked, and a click on a box's tab opens them in the panel") {
  WarningsViewer viewer;
  REQUIRE(viewer.shell.find("timeline.warning.0") != nullptr);
  CHECK(viewer.tab().chosen_warning.empty());
  viewer.app.layout().show("details");
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("warnings.table.row.0") == nullptr);
  viewer.press("timeline.warning.0");
  CHECK(viewer.tab().chosen_warning == analysis::costliest_finding(*viewer.advice())->key);
  CHECK(viewer.shell.find("warnings.table.row.0") != nullptr);
  CHECK_FALSE(viewer.tab().selected);  // the lanes below did not take the click
}

TEST_CASE("warnings: heads sort the rows, and the card follows the chosen one") {
  WarningsViewer viewer;
  const auto advice = viewer.advice();
  viewer.press("warnings.table.head.0");
  viewer.press("warnings.table.head.0");
  viewer.press("warnings.table.row.0");
  const std::string first = viewer.tab().chosen_warning;
  viewer.press("warnings.table.head.0");
  viewer.press("warnings.table.row.0");
  CHECK(viewer.tab().chosen_warning != first);
  const auto chosen =
      std::find_if(advice->findings.begin(), advice->findings.end(),
                   [&](const analysis::Finding& each) { return each.key == viewer.tab().chosen_warning; });
  REQUIRE(chosen != advice->findings.end());
  CHECK(viewer.shell.shows(std::string(chosen->rule->title)));
  viewer.press("warnings.show");
  CHECK(*viewer.tab().region == chosen->events);
}

TEST_CASE("warnings: the source has a sign at the line that a finding costs most, and the verdict names the largest") {
  WarningsViewer viewer;
  const auto advice = viewer.advice();
  const analysis::Finding& first = *analysis::costliest_finding(*advice);
  REQUIRE_FALSE(first.source.empty());
  viewer.app.layout().show("source");
  viewer.tab().selected_source = first.source;
  REQUIRE(viewer.shell.settle());
  const std::string line = first.source.substr(first.source.rfind(':') + 1);
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("source.warning." + line) != nullptr; }));
  // It stands beside the text of its line, never on it.
  const render::Rect sign = *viewer.shell.find("source.warning." + line);
  for (const render::VisibleText& text : viewer.shell.ui().texts()) {
    const bool of_line = text.rect.y0 < sign.y1 && text.rect.y1 > sign.y0 && text.rect.x0 >= sign.x0 - 400;
    if (of_line && text.text != first.tab) CHECK_FALSE(text.rect.overlaps(sign));
  }
  viewer.press("source.warning." + line);
  const auto chosen =
      std::find_if(advice->findings.begin(), advice->findings.end(),
                   [&](const analysis::Finding& each) { return each.key == viewer.tab().chosen_warning; });
  REQUIRE(chosen != advice->findings.end());
  CHECK(chosen->source == first.source);
  viewer.tab().chosen_warning.clear();
  viewer.app.layout().show("details");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("verdict.advice") != nullptr; }));
  viewer.press("verdict.advice");
  CHECK(viewer.tab().chosen_warning == first.key);
  CHECK(viewer.shell.find("warnings.table.row.0") != nullptr);
}

TEST_CASE("warnings: an error of the hardware stands first in verdict, status bar and panel, and a click opens it") {
  WarningsViewer viewer;
  const analysis::Finding* const error = analysis::reported_error(*viewer.advice());
  REQUIRE(error != nullptr);
  for (const char* name : {"verdict.error", "status.hardware_error"}) {
    CAPTURE(name);
    viewer.tab().chosen_warning.clear();
    viewer.app.layout().show("details");
    REQUIRE(viewer.wait_for([&] { return viewer.shell.find(name) != nullptr; }));
    viewer.press(name);
    CHECK(viewer.tab().chosen_warning == error->key);
    CHECK(viewer.shell.find("warnings.table.row.0") != nullptr);
  }
}

TEST_CASE("warnings: errors are told with what ran on every engine, and a click selects that event") {
  WarningsViewer viewer;
  viewer.press("why.page.1");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("warnings.errors.row.0") != nullptr; }));
  CHECK(viewer.shell.shows("DMA2D access out of bounds"));
  CHECK(viewer.shell.shows("under way"));
  viewer.press("warnings.around.row.1");
  REQUIRE(viewer.tab().selected);
  const auto event = read_event(viewer.tab(), *viewer.tab().selected);
  REQUIRE(event.ok());
  CHECK(event->lane->schema->kind == EventKind::slice);
  const auto row = viewer.tab().selected;
  viewer.press("warnings.errors.row.0");
  REQUIRE(viewer.tab().selected);
  CHECK(viewer.tab().selected != row);
  CHECK(read_event(viewer.tab(), *viewer.tab().selected)->lane->schema->name == "error");
}

TEST_CASE("warnings: the filter leaves out what does not pass it, and nothing found says so") {
  WarningsViewer viewer;
  viewer.tab().change([](session::ViewChoices& choices) { choices.filter.terms.push_back({"no such event"}); });
  REQUIRE(viewer.wait_for([&] {
    const auto advice = viewer.advice();
    return advice && advice->findings.empty() && viewer.shell.shows("Nothing that passes the filter");
  }));
  CHECK(viewer.shell.find("timeline.warning.0") == nullptr);
}

TEST_CASE("warnings: a filter that cannot be read is an error on both pages, not an empty answer") {
  WarningsViewer viewer;
  viewer.tab().change([](session::ViewChoices& choices) { choices.filter.terms = {{"no_such_field>3", false}}; });
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("no_such_field"); }));
  viewer.press("why.page.1");
  CHECK(viewer.shell.shows("no_such_field"));
}

TEST_CASE("warnings: behind a filter of tracks the line says what was not judged") {
  WarningsViewer viewer;
  const auto advice = viewer.advice();
  viewer.tab().change(
      [&](session::ViewChoices& choices) { choices.filter.tracks = {advice->findings[0].tracks.front()}; });
  REQUIRE(viewer.wait_for([&] { return viewer.advice() != advice && viewer.advice() != nullptr; }));
  viewer.shell.frame(3);
  CHECK(viewer.shell.shows("not judged: "));
}
