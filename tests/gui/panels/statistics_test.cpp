// The Statistics panel with real clicks: what a row selects, the choice of columns, the histogram's brush as a filter,
// outliers, presets, and what it says when there is nothing.
#include <algorithm>

#include "app/session/analysis.h"
#include "capture/sim/output/simulator.h"
#include "core/chunk/session_writer.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

struct StatisticsViewer : Viewer {
  TemporaryFolder folder;
  StatisticsViewer() {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema(
        {.name = "work", .columns = {{.name = "size", .unit = "B", .role = Role::bytes}, {.name = "batch"}}});
    for (const char* device : {"chip 0", "chip 1"}) {
      const TrackNumber track =
          writer.add_track({.name = "queue", .kind = "engine", .device = device, .schema = schema});
      std::int64_t at = 0;
      for (int i = 0; i < 100; ++i) {
        const std::int64_t duration = i == 70 ? 50'000 : 1000 + i % 10;
        Row row = writer.begin_event(track, at, duration, writer.intern(i % 4 == 0 ? "load" : "multiply"));
        row.integer(0, 1024 * (i % 4 + 1));
        row.integer(1, i % 2);
        at += duration + 100;
      }
    }
    REQUIRE(writer.finish().ok());
    REQUIRE(store->save(folder.file("work.accel")).ok());
    open(folder.file("work.accel"));
    app.layout().show("statistics");
    REQUIRE(shell.settle());
    REQUIRE(rests_with("2 rows, 200 events"));
  }
  [[nodiscard]] bool rests_with(const std::string& text) {
    shell.frame(2);
    return wait_for([&] {
      return shell.visible_text().find(text) != std::string::npos && !shell.shows("updating ...") &&
             !shell.shows("of the earlier range");
    });
  }
  void choose(const std::string& menu, const std::string& item) {
    REQUIRE(shell.click("statistics." + menu));
    shell.frame(2);
    REQUIRE(shell.click("statistics." + menu + "." + item));
    shell.frame(2);
  }
  // From the share of the histogram's width to another one.
  void brush(float from, float to) {
    const render::Rect* plot = shell.find("statistics.histogram");
    REQUIRE(plot != nullptr);
    const float y = (plot->y0 + plot->y1) / 2;
    shell.drag({plot->x0 + from * plot->width(), y}, {plot->x0 + to * plot->width(), y});
    shell.frame(2);
  }
  [[nodiscard]] const std::vector<FilterTerm>& terms() { return tab().choices.filter.terms; }
};

}  // namespace

TEST_CASE("statistics: names with their figures, and a row selects its events, and the histogram is of them") {
  StatisticsViewer viewer;
  CHECK(viewer.shell.shows("multiply"));
  CHECK(viewer.shell.shows("Median"));
  CHECK(viewer.shell.shows("All"));
  REQUIRE(viewer.shell.click("statistics.rows.row.1"));  // the smaller total
  REQUIRE(viewer.tab().region);
  REQUIRE(viewer.tab().region->terms.size() == 1);
  CHECK(viewer.tab().region->terms[0].search == "name=\"load\"");
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("50 events"); }));
  viewer.tab().region.reset();  // as Esc does
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("200 events") && viewer.shell.shows("All"); }));
}

TEST_CASE("statistics: rows by two columns, of another value, within the visible range") {
  StatisticsViewer viewer;
  viewer.choose("then", "device");
  REQUIRE(viewer.rests_with("4 rows, 200 events"));
  CHECK(viewer.shell.shows("chip 1"));
  viewer.choose("value", "bytes");
  REQUIRE(viewer.rests_with("total 500 KiB"));
  viewer.choose("then", "nothing");
  viewer.choose("value", "duration");
  REQUIRE(viewer.rests_with("2 rows, 200 events"));
  viewer.tab().show({0, 5'000});
  REQUIRE(viewer.shell.click("statistics.scope.1"));
  CHECK(viewer.rests_with("2 rows, 10 events"));
}

TEST_CASE("statistics: dragging over the histogram filters by value, and the histogram stays whole until Clear") {
  StatisticsViewer viewer;
  viewer.brush(0.5F, 0.999F);
  REQUIRE(viewer.terms().size() == 1);
  CHECK(viewer.terms()[0].search.starts_with("duration>="));
  CHECK(viewer.terms()[0].search.find(" duration<") != std::string::npos);
  REQUIRE(viewer.rests_with("1 row, 2 events"));  // the two that take long
  CHECK(viewer.wait_for([&] { return viewer.shell.visible_text().find(": 2 of 200") != std::string::npos; }));
  CHECK(viewer.shell.find("filter.chip.0") != nullptr);
  viewer.brush(0, 0.3F);
  REQUIRE(viewer.terms().size() == 1);  // in place of the earlier one
  REQUIRE(viewer.rests_with("2 rows, 198 events"));
  REQUIRE(viewer.shell.click("statistics.clear"));
  CHECK(viewer.terms().empty());
  CHECK(viewer.rests_with("2 rows, 200 events"));
  viewer.brush(0.5F, 0.999F);
  REQUIRE(viewer.terms().size() == 1);
  viewer.shell.key(Key::escape);
  viewer.shell.frame(2);
  CHECK(viewer.terms().empty());
}

TEST_CASE("statistics: the chosen row stays marked while the filter changes, and its histogram with it") {
  StatisticsViewer viewer;
  REQUIRE(viewer.shell.click("statistics.rows.row.0"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("150 events"); }));
  const EventFilter chosen = viewer.tab().region.value();
  CHECK(chosen.terms.size() == 1);
  viewer.brush(0, 0.3F);
  REQUIRE(viewer.terms().size() == 1);
  REQUIRE(viewer.rests_with("2 rows, 198 events"));
  CHECK(viewer.tab().region == chosen);
  CHECK(viewer.shell.shows("150 events"));  // it is not cut by its own brush
  // Bounds that a person would write: durations are whole ns.
  CHECK(viewer.terms()[0].search.find('.') == std::string::npos);
}

TEST_CASE("statistics: what takes far longer than its like is listed, and a click shows it") {
  StatisticsViewer viewer;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("Outliers 2"); }));
  REQUIRE(viewer.shell.click("statistics.shown.1"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("statistics.outliers.row.0"));
  REQUIRE(viewer.tab().selected);
  CHECK(ordinal_of(*viewer.tab().selected) == 70);
}

TEST_CASE("statistics: a session without events says so, and a filter that nothing passes too") {
  StatisticsViewer viewer;
  viewer.tab().change([](session::ViewChoices& choices) {
    choices.filter.terms = {{"name=\"nothing is called so\"", false}};
  });
  CHECK(viewer.wait_for(
      [&] { return viewer.shell.shows("No event with such a value passes the filter in this range."); }));
}

TEST_CASE("statistics: columns of every table are offered, with those that all events have first") {
  Viewer viewer;
  TemporaryFolder folder;
  {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1}, sink).ok());
    REQUIRE(store->save(folder.file("simulated.accel")).ok());
  }
  viewer.open(folder.file("simulated.accel"));
  viewer.app.layout().show("statistics");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("statistics.rows.row.0") != nullptr; }));
  REQUIRE(viewer.shell.click("statistics.by"));
  viewer.shell.frame(2);
  for (const char* item : {"preset.by-name", "name", "track", "table", "source", "table.instruction", "table.dma"}) {
    CAPTURE(item);
    CHECK(viewer.shell.find(std::string("statistics.by.") + item) != nullptr);
  }
  REQUIRE(viewer.shell.click("statistics.by.preset.by-source-line"));
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("Source line"); }));
}

TEST_CASE("statistics: a click in the panel is no new question to it while its scope is the selection") {
  StatisticsViewer viewer;
  const auto tracks_of = [&](const char* device) {
    EventFilter filter;
    for (const TrackSnapshot& track : viewer.tab().snapshot->tracks) {
      if (track.track->device == device) filter.tracks.push_back(track.track->number);
    }
    return filter;
  };
  viewer.tab().region = tracks_of("chip 0");
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("statistics.scope.2"));
  REQUIRE(viewer.rests_with("2 rows, 100 events"));
  // A row selects its events everywhere else, and the numbers stay those of the box.
  REQUIRE(viewer.shell.click("statistics.rows.row.1"));
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.tab().region);
  CHECK(*viewer.tab().region != tracks_of("chip 0"));
  CHECK(viewer.rests_with("2 rows, 100 events"));
  // What is selected elsewhere is another question.
  EventFilter first_half = tracks_of("chip 1");
  first_half.range = TimeRange{0, 20'000};
  viewer.tab().region = first_half;
  REQUIRE(viewer.wait_for(
      [&] { return viewer.shell.shows("2 rows, 18 events") || viewer.shell.shows("2 rows, 19 events"); }));
  // And what it selected itself, once it is chosen anew.
  REQUIRE(viewer.shell.click("statistics.rows.row.0"));
  REQUIRE(viewer.shell.click("statistics.scope.0"));
  REQUIRE(viewer.rests_with("2 rows, 200 events"));
  REQUIRE(viewer.shell.click("statistics.scope.2"));
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("1 row, "); }));
  // Nothing selected any more: the session.
  viewer.tab().region.reset();
  CHECK(viewer.rests_with("2 rows, 200 events"));
}

TEST_CASE("statistics: names give way to numbers, so that all columns have their room in a usual window") {
  StatisticsViewer viewer;
  viewer.shell.resize(1600, 900, 1);
  REQUIRE(viewer.shell.settle());
  const render::Rect* last = nullptr;
  for (int column = 0; const render::Rect* head = viewer.shell.find("statistics.rows.head." + std::to_string(column));
       ++column)
    last = head;
  REQUIRE(last != nullptr);
  const render::Rect* histogram = viewer.shell.find("statistics.histogram");
  REQUIRE(histogram != nullptr);
  CHECK(last->x1 <= histogram->x0);
  CHECK(viewer.shell.find("statistics.rows.head.0")->width() >= 150);
}
