// The panels with real input events: what is shown for what is selected, and what a click in one does to the others.
#include <set>

#include "app/session/analysis.h"
#include "core/chunk/session_writer.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

TEST_CASE("details: without a selection the panel says what to do, with one it shows every group") {
  OpenViewer viewer;
  REQUIRE(viewer.shell.click("bottom.details"));
  CHECK(viewer.shell.shows("Select an event on the timeline"));
  viewer.select(kFirstMatmul);
  CHECK(viewer.shell.shows("Timing"));
  CHECK(viewer.shell.shows("1,000 ns"));
  CHECK(viewer.shell.shows("Waited before"));
  CHECK(viewer.shell.shows("Dependencies"));
  CHECK(viewer.shell.shows("kernel.py:3"));
}

TEST_CASE("details: hovering a field explains it, operands are taken apart, a click copies the value") {
  OpenViewer viewer;
  viewer.select(kFirstMatmul);
  REQUIRE(viewer.shell.hover("details.field.evt_wait_time"));
  viewer.shell.wait(0.3);
  CHECK(viewer.shell.shows("How long it waited for its"));
  REQUIRE(viewer.shell.hover("details.field.operands"));
  viewer.shell.wait(0.3);
  CHECK(viewer.shell.shows("Data type"));
  CHECK(viewer.shell.shows("fp16"));
  REQUIRE(viewer.shell.click("details.field.duration"));
  CHECK(viewer.shell.clipboard() == "100 ns");
  CHECK(viewer.shell.shows("Copied Duration"));
  REQUIRE(viewer.shell.click("details.copy"));
  CHECK(viewer.shell.clipboard().find("Waited before\t40 ns") != std::string::npos);
}

TEST_CASE("details: a click on a dependency, and ] and [, walk along the dependencies") {
  OpenViewer viewer;
  viewer.select(kFirstMatmul);
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("details.dependency.0") != nullptr; }));
  REQUIRE(viewer.shell.click("details.dependency.0"));
  REQUIRE(viewer.tab().selected.has_value());
  CHECK(read_event(viewer.tab(), *viewer.tab().selected)->name_text == "ACTIVATE");
  REQUIRE(viewer.shell.settle());
  viewer.shell.key(Key::bracket_left);
  CHECK(viewer.tab().selected == kFirstMatmul);
  viewer.shell.key(Key::bracket_right);
  CHECK(viewer.tab().selected != kFirstMatmul);
}

TEST_CASE("source: selecting an event lights its line, and clicking a line lights its events and can zoom to them") {
  OpenViewer viewer;
  viewer.select(kFirstMatmul);
  CHECK(viewer.shell.shows("Line 3"));
  REQUIRE(viewer.shell.click("source.line.4"));
  REQUIRE(viewer.wait_for([&] { return viewer.tab().lit != nullptr; }));
  CHECK(viewer.tab().lit->total() == 10);
  CHECK_FALSE(viewer.tab().selected.has_value());
  CHECK(viewer.tab().selected_source == "/kernels/kernel.py:4");
  viewer.tab().show({0, 1e6});
  REQUIRE(viewer.shell.click("source.show"));
  REQUIRE(viewer.wait_for([&] { return viewer.tab().view.span_ns() < 1e5; }));
  CHECK(viewer.tab().view.begin_ns < 1'150);
  CHECK(viewer.tab().view.end_ns > 4'800);
}

TEST_CASE("source: costs stand in the margin and follow the chosen heat") {
  OpenViewer viewer;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("500 ns"); }));
  REQUIRE(viewer.shell.click("source.heat"));
  REQUIRE(viewer.shell.click("source.heat.2"));
  CHECK(viewer.wait_for([&] { return !viewer.shell.shows("busy time") && viewer.shell.shows("events"); }));
}

TEST_CASE("stack: the frames of the selected event are listed, and a click opens the line in the source") {
  OpenViewer viewer;
  viewer.run("panel_stack");
  CHECK(viewer.shell.shows("Select an event to see the calls that led to it."));
  viewer.select(kFirstMatmul);
  CHECK(viewer.shell.shows("run"));
  CHECK(viewer.shell.shows("main.py:9"));
  REQUIRE(viewer.shell.click("stack.copy"));
  CHECK(viewer.shell.clipboard() == "kernel.py:3 in kernel\nmain.py:9 in run\n");
  REQUIRE(viewer.shell.click("stack.frame.0"));
  CHECK(viewer.app.layout().is_seen("source"));
  CHECK(viewer.tab().selected_source == "kernel.py:3");
}

TEST_CASE("memory: shows use, peak and who is alive, and a click on an allocation selects its event") {
  OpenViewer viewer;
  viewer.run("panel_memory");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("Peak 160 KiB"); }));
  CHECK(viewer.shell.shows("SBUF"));
  CHECK(viewer.shell.shows("Alive at the peak"));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("memory.alive.row.1") != nullptr; }));
  CHECK(viewer.shell.shows("3 allocations"));
  REQUIRE(viewer.shell.click("memory.alive.row.1"));
  REQUIRE(viewer.tab().selected.has_value());
  CHECK(read_event(viewer.tab(), *viewer.tab().selected)->name_text == "x");
  const render::Rect plot = *viewer.shell.find("memory.plot");
  viewer.shell.click({plot.x1 - 5, plot.centre().y});  // lets the held cursor go
  viewer.shell.move({plot.x1 - 5, plot.centre().y});
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("Alive at the cursor"));
  CHECK(viewer.shell.shows("1 allocations") == false);
  CHECK(viewer.shell.shows("64 KiB"));
  viewer.shell.drag({plot.x0 + 10, plot.centre().y}, {plot.centre().x, plot.centre().y});
  CHECK(viewer.tab().view.span_ns() < 3'000);
}

TEST_CASE("memory: maximised, a click on a block of the address map selects its allocation") {
  OpenViewer viewer;
  viewer.app.layout().maximise("memory");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("memory.map") != nullptr; }));
  const render::Rect map = *viewer.shell.find("memory.map");
  viewer.tab().show({1'000, 5'000});
  REQUIRE(viewer.shell.settle());
  viewer.shell.click({map.x0 + map.width() * 0.25F, map.y0 + 10});  // 2,000 ns, the highest address: x
  REQUIRE(viewer.tab().selected.has_value());
  CHECK(read_event(viewer.tab(), *viewer.tab().selected)->name_text == "x");
}

TEST_CASE("markers: an empty panel says how to make one, and names and notes are kept, deleting removes") {
  OpenViewer viewer;
  viewer.run("panel_markers");
  CHECK(viewer.shell.shows("No markers yet."));
  for (const std::int64_t at : {1'500, 2'250}) {
    Marker marker;
    marker.ts_ns = at;
    marker.name = "m" + std::to_string(at);
    session::put_marker(viewer.tab(), marker);
  }
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("m1500"));
  CHECK(viewer.shell.shows("750 ns"));  // from the first to the second
  REQUIRE(viewer.shell.click("markers.edit.Name"));
  viewer.shell.key(Key::a, {.ctrl = true});
  viewer.shell.type("weights arrive");
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.tab().store->markers().size() == 2);
  CHECK(viewer.tab().store->markers()[0].name == "weights arrive");
  REQUIRE(viewer.shell.click("markers.delete"));
  CHECK(viewer.tab().store->markers().size() == 1);
}

TEST_CASE("data quality: the chip in the status bar leads to the entries, with what to try") {
  OpenViewer viewer;
  REQUIRE(viewer.shell.click("status.quality"));
  CHECK(viewer.app.layout().is_seen("quality"));
  CHECK(viewer.shell.shows("missing dge notifications"));
  CHECK(viewer.shell.shows("--enable-dge-notifs"));
}

TEST_CASE("metrics: what the file states and what we compute, narrowed by typing") {
  OpenViewer viewer;
  viewer.run("panel_metrics");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("session_event_count"); }));
  CHECK(viewer.shell.shows("We compute"));
  REQUIRE(viewer.shell.click("metrics.filter"));
  viewer.shell.type("utilisation");
  CHECK(viewer.shell.shows("23.8 %"));
  CHECK_FALSE(viewer.shell.shows("session_event_count"));
  viewer.shell.type("xyz");
  CHECK(viewer.shell.shows("No metric matches"));
}

TEST_CASE("metrics: of the visible range only ours are shown, and they follow it, and hovering explains") {
  OpenViewer viewer;
  viewer.run("panel_metrics");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("session_time"); }));
  REQUIRE(viewer.shell.click("metrics.filter"));
  viewer.shell.type("session_time");
  viewer.tab().show({0, 2'000});
  REQUIRE(viewer.shell.click("metrics.range.1"));
  const auto shows = [&](const char* text) {
    viewer.shell.wait(0.3);
    return viewer.shell.shows(text);
  };
  REQUIRE(viewer.wait_for([&] { return shows("of 2 µs in view"); }));
  viewer.tab().show({1'000, 1'500});
  REQUIRE(viewer.wait_for([&] { return shows("500 ns"); }));
  REQUIRE(viewer.shell.hover("metrics.table.row.0"));
  viewer.shell.wait(0.3);
  CHECK(viewer.shell.shows("Computed:"));
}

TEST_CASE("metrics: of two figures of one name the card tells of the one under the pointer, sorted and filtered, too") {
  const TemporaryFolder folder;
  {
    auto store = std::move(Store::create()).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema({.name = "instruction", .kind = EventKind::slice});
    for (const char* device : {"nc0", "nc1"}) {
      const TrackNumber track =
          writer.add_track({.name = "Tensor", .kind = "engine", .device = device, .schema = schema});
      (void)writer.begin_event(track, 1'000, 100, writer.intern("MATMUL"));
    }
    writer.add_metric({.name = "moved_bytes", .group = "hbm", .value = 1'234'567, .unit = "B", .device = "nc0"});
    writer.add_metric({.name = "moved_bytes", .group = "hbm", .value = 7'654'321, .unit = "B", .device = "nc1"});
    REQUIRE(writer.finish());
    REQUIRE(store->save(folder.file("m.accel")).ok());
  }
  Viewer viewer;
  viewer.open(folder.file("m.accel"));
  viewer.run("panel_metrics");
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.click("metrics.filter"));
  viewer.shell.type("moved_bytes");
  viewer.shell.frame(3);
  REQUIRE_MESSAGE(viewer.shell.find("metrics.table.row.1") != nullptr, viewer.shell.visible_text());
  const auto check_cards = [&] {
    std::set<std::string> devices;
    for (const char* row : {"metrics.table.row.0", "metrics.table.row.1"}) {
      CAPTURE(row);
      viewer.shell.move({5, 5});
      viewer.shell.wait(0.3);
      REQUIRE(viewer.shell.hover(row));
      const std::string device = viewer.shell.shows_in(*viewer.shell.find(row), "nc0") ? "nc0" : "nc1";
      devices.insert(device);
      viewer.shell.wait(0.5);
      CHECK(viewer.shell.shows("1234567 B") == (device == "nc0"));
      CHECK(viewer.shell.shows("7654321 B") == (device == "nc1"));
    }
    CHECK(devices.size() == 2);
  };
  check_cards();
  REQUIRE(viewer.shell.click("metrics.table.head.2"));
  viewer.shell.frame(2);
  check_cards();
  REQUIRE(viewer.shell.click("metrics.table.head.2"));
  viewer.shell.frame(2);
  check_cards();
}
