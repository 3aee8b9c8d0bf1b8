// The selection's summary with real clicks: exact figures of the small session, and what a click narrows.
#include "app/session_analysis.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

struct SelectionViewer : OpenViewer {
  SelectionViewer() {
    app.layout().show(PanelId::selection);
    shell.frame(2);
  }
  // Until the summary of what is selected now has so many events.
  [[nodiscard]] bool summarises(std::uint64_t events) {
    return wait_for([&] {
      const std::string text = shell.visible_text();
      const std::size_t at = text.find("Events\n" + std::to_string(events) + "\n");
      return at != std::string::npos && !shell.shows("updating ...");
    });
  }
};

}  // namespace

TEST_CASE("selection: a box shows what lies in it, and a click on a row narrows it and widens it again") {
  SelectionViewer viewer;
  EventFilter box;
  box.range = TimeRange{1'000, 2'000};  // 5 of 20 MATMUL, one WAIT, 3 ACTIVATE, 3 allocations
  viewer.tab().region = box;
  REQUIRE(viewer.summarises(12));
  CHECK(viewer.shell.visible_text().find("Span\n1 µs\n") != std::string::npos);
  CHECK(viewer.shell.shows("650 ns"));  // busy: 500 + 150
  CHECK(viewer.shell.shows("160 ns"));  // 120 in WAIT, 40 before the first MATMUL
  CHECK(viewer.shell.shows("kernel.py:3  y = nl"));
  REQUIRE(viewer.shell.click("selection.names.row.0"));
  REQUIRE(viewer.tab().region->terms.size() == 1);
  CHECK(viewer.tab().region->terms[0].search == "name=\"MATMUL\"");
  CHECK(viewer.tab().region->range == box.range);
  REQUIRE(viewer.summarises(5));
  CHECK(viewer.shell.shows("every event looked at"));
  REQUIRE(viewer.shell.click("selection.names.row.0"));
  CHECK(viewer.summarises(12));
}

TEST_CASE("selection: a click on a line and on a bar of the histogram selects their events") {
  SelectionViewer viewer;
  EventFilter all;
  viewer.tab().region = all;
  REQUIRE(viewer.summarises(36));
  REQUIRE(viewer.shell.click("selection.lines.row.1"));
  CHECK(viewer.tab().region->terms[0].search == "kernel.py:4");
  REQUIRE(viewer.summarises(10));
  viewer.tab().region = all;
  REQUIRE(viewer.summarises(36));
  REQUIRE(viewer.shell.click("selection.durations.1"));  // 0 ns: allocations; 50 ns: ACTIVATE; 100 ns: the rest
  CHECK(viewer.tab().region->terms[0].search == "duration>=50 duration<100");
  CHECK(viewer.summarises(10));
}

TEST_CASE("selection: without one the visible range is summed up, and the filter is followed") {
  SelectionViewer viewer;
  viewer.tab().show({1'000, 2'000});
  REQUIRE(viewer.summarises(12));
  CHECK(viewer.shell.shows("Visible range"));
  viewer.tab().change([](ViewChoices& choices) { choices.filter.terms.push_back({.search = "name=ACTIVATE"}); });
  CHECK(viewer.summarises(3));
  viewer.tab().change([](ViewChoices& choices) { choices.filter.terms[0].search = "/(/"; });
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("is not a regular expression"); }));
}

TEST_CASE("selection: it can be made the filter, pinned, zoomed to, copied and cleared") {
  SelectionViewer viewer;
  EventFilter box;
  box.range = TimeRange{1'000, 2'000};
  viewer.tab().region = box;
  REQUIRE(viewer.summarises(12));
  REQUIRE(viewer.shell.click("selection.pin"));
  REQUIRE(viewer.tab().markers.size() == 1);
  CHECK(viewer.tab().markers[0].ts_ns == 1'000);
  CHECK(viewer.tab().markers[0].end_ns == 2'000);
  REQUIRE(viewer.shell.click("selection.csv"));
  CHECK(viewer.shell.clipboard().find("name,MATMUL,5,500,0,0\n") != std::string::npos);
  REQUIRE(viewer.shell.click("selection.zoom"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().view.span_ns() < 1'500);
  REQUIRE(viewer.shell.click("selection.filter"));
  CHECK(viewer.tab().choices.filter.range == box.range);
  REQUIRE(viewer.shell.click("selection.clear"));
  CHECK_FALSE(viewer.tab().region.has_value());
}
