// The selection's summary with real clicks: exact figures of the small session, and what a click narrows.
#include <fstream>

#include "app/session/analysis.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

// Writes what was just asked for into a file through the dialog, and reads it.
std::string exported(Viewer& viewer, const std::string& path) {
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.settle());
  viewer.shell.key(Key::a, {.ctrl = true});
  viewer.shell.type(path);
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("Wrote " + path); }));
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct SelectionViewer : OpenViewer {
  SelectionViewer() {
    app.layout().show("selection");
    shell.frame(2);
  }
  // Until the summary of what is selected now has so many events.
  [[nodiscard]] bool summarises(std::uint64_t events) {
    shell.frame(2);  // what stood there before the selection changed is gone
    return wait_for([&] {
      const std::string text = shell.visible_text();
      const std::string count = std::to_string(events);
      const bool shown = text.find("Events\n" + count + "\n") != std::string::npos ||
                         text.find(" " + count + " events; nothing is selected") != std::string::npos;
      return shown && !shell.shows("updating ...");
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
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("650 ns"); }));  // active: 500 + 150
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("120 ns"); }));  // in WAIT; the first MATMUL waited before
  CHECK(viewer.shell.shows("kernel.py:3"));
  CHECK(viewer.shell.shows("y = nl"));
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
  REQUIRE(viewer.shell.click("selection.durations.0"));  // 50 ns: ACTIVATE; 100 ns: the rest; allocations do not work
  CHECK(viewer.tab().region->terms[0].search == "duration>=50 duration<100");
  CHECK(viewer.summarises(10));
}

TEST_CASE("selection: without one the visible range is summed up, and the filter is followed") {
  SelectionViewer viewer;
  viewer.tab().show({1'000, 2'000});
  REQUIRE(viewer.summarises(12));
  CHECK(viewer.shell.shows("Visible range"));
  CHECK(viewer.shell.shows("nothing is selected"));
  viewer.tab().change(
      [](session::ViewChoices& choices) { choices.filter.terms.push_back({.search = "name=ACTIVATE"}); });
  CHECK(viewer.summarises(3));
  viewer.tab().change([](session::ViewChoices& choices) { choices.filter.terms[0].search = "/(/"; });
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("is not a regular expression"); }));
}

TEST_CASE("selection: with nothing selected five columns tell work, transfers, waits, lines and memory apart") {
  SelectionViewer viewer;
  viewer.tab().show({1'000, 2'000});
  REQUIRE(viewer.summarises(12));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("65.0 %"); }));  // 500 + 150 ns of 1 µs
  for (int column = 0; column < 5; ++column) CHECK(viewer.shell.find("visible." + std::to_string(column)) != nullptr);
  const std::string text = viewer.shell.visible_text();
  const std::size_t at = text.find("Device work, union");
  REQUIRE(at != std::string::npos);
  const std::string shown = text.substr(at);
  CHECK(shown.find("MATMUL\n500 ns") != std::string::npos);
  CHECK(shown.find("Waits, not busy") < shown.find("120 ns"));
  CHECK(shown.find("Lines, self") != std::string::npos);
  CHECK(shown.find("No transfers were recorded.") != std::string::npos);
  REQUIRE(viewer.shell.click("visible.0.row.0"));
  REQUIRE(viewer.tab().region.has_value());
  CHECK(viewer.tab().region->terms[0].search == "name=\"MATMUL\"");
}

TEST_CASE("selection: on a small screen no figure of the visible range is cut") {
  SelectionViewer viewer;
  viewer.shell.resize(1280, 720, 1);
  viewer.tab().show({1'000, 2'000});
  REQUIRE(viewer.summarises(12));
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("65.0 %"); }));
  for (const char* figure : {"500 ns", "150 ns", "120 ns", "65.0 %"}) CHECK_MESSAGE(viewer.shell.shows(figure), figure);
  REQUIRE(viewer.shell.find("visible.4") != nullptr);
  CHECK(viewer.shell.find("visible.4")->x1 <= 1280);
}

TEST_CASE("active is one figure: in the status bar, the overview, the summary and a box around everything") {
  SelectionViewer viewer;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("active 2.5 µs of"); }));  // 20 x 100 + 10 x 50 ns, apart
  CHECK(viewer.shell.shows("2.5 µs active"));
  EventFilter all;
  viewer.tab().region = all;
  REQUIRE(viewer.wait_for([&] { return viewer.shell.visible_text().find("Active\n2.5 µs") != std::string::npos; }));
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
  REQUIRE(viewer.shell.click("selection.copy"));
  CHECK(viewer.shell.clipboard().find("name\tMATMUL\topcode\t5\t500\t0\t0\n") != std::string::npos);
  REQUIRE(viewer.shell.click("selection.zoom"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().view.span_ns() < 1'500);
  REQUIRE(viewer.shell.click("selection.filter"));
  CHECK(viewer.tab().choices.filter.range == box.range);
  REQUIRE(viewer.shell.click("selection.clear"));
  CHECK_FALSE(viewer.tab().region.has_value());
}

TEST_CASE("selection: the active time counts each moment once, and every figure says itself exactly") {
  SelectionViewer viewer;
  EventFilter box;
  box.range = TimeRange{1'000, 2'000};
  viewer.tab().region = box;
  REQUIRE(viewer.summarises(12));
  REQUIRE(viewer.wait_for([&] {
    const std::string text = viewer.shell.visible_text();
    const std::size_t at = text.find("Active\n");
    return at != std::string::npos && text.compare(at + 7, 3, "...") != 0;
  }));
  // MATMUL of the Tensor engine for 500 ns; ACTIVATE of the Scalar engine lies beside it for some of its 150 ns.
  REQUIRE(viewer.shell.hover("selection.fact.3"));
  viewer.shell.wait(0.3);
  CHECK(viewer.shell.shows("of the span"));
  REQUIRE(viewer.shell.click("selection.fact.2"));
  CHECK(viewer.shell.clipboard() == "650 ns, 65.0 % of the span");
}

TEST_CASE("selection: where there is little room one table is shown in full, and the others by their names") {
  SelectionViewer viewer;
  viewer.shell.resize(1280, 720, 1);
  EventFilter all;
  viewer.tab().region = all;
  REQUIRE(viewer.summarises(36));
  CHECK(viewer.shell.find("selection.lines.row.0") == nullptr);
  REQUIRE(viewer.shell.click("selection.part.1"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.find("selection.lines.row.0") != nullptr);
  CHECK(viewer.shell.shows("kernel.py:3"));
  CHECK_FALSE(viewer.shell.shows("Of span"));  // lines of several lanes run side by side
  REQUIRE(viewer.shell.click("selection.part.2"));
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("Of span"));
  REQUIRE(viewer.shell.click("selection.lanes.row.0"));
  CHECK(viewer.tab().region->tracks.size() == 1);
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("selection.lanes.row.1") == nullptr; }));
  REQUIRE(viewer.shell.click("selection.lanes.row.0"));
  CHECK(viewer.tab().region->tracks.empty());
}

TEST_CASE("selection: all of it and each of its tables are written to a file, exactly") {
  SelectionViewer viewer;
  EventFilter box;
  box.range = TimeRange{1'000, 2'000};
  viewer.tab().region = box;
  REQUIRE(viewer.summarises(12));
  REQUIRE(viewer.shell.click("selection.csv"));
  const std::string whole = exported(viewer, viewer.folder.file("whole.csv"));
  CHECK(whole.starts_with("table,key,kind,events,busy_ns,bytes,flops\ntotal,,,12,650,"));
  CHECK(whole.find("\nname,MATMUL,opcode,5,500,0,0\n") != std::string::npos);
  REQUIRE(viewer.shell.click("selection.lines.head.0", render::MouseButton::right));
  REQUIRE(viewer.shell.click("selection.lines.columns.csv"));
  const std::string lines = exported(viewer, viewer.folder.file("lines.csv"));
  CHECK(lines.starts_with("Line,Events,busy_ns,"));
  CHECK(lines.find("\nkernel.py:3,") != std::string::npos);
}
