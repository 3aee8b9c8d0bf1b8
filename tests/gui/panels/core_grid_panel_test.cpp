// The Core grid panel with real clicks, drags and keys: cells select what ran on their cores, the brush is the range of
// map and table, playing moves it and ends, and what the panel says where there is nothing.
#include "app/session/analysis.h"
#include "app/timeline/frame.h"
#include "tests/gui/held_pool.h"
#include "tests/gui/viewer.h"
#include "tests/support/core_session.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

struct GridViewer : Viewer {
  TemporaryFolder folder;
  CoreSession session;
  explicit GridViewer(const std::string& lacks = "") : session(11, 100, lacks) {
    REQUIRE(session.store->save(folder.file("cores.accel")).ok());
    open(folder.file("cores.accel"));
    shell.resize(1600, 1000, 1);
    app.layout().show("core-grid");
    REQUIRE(wait_for([&] { return shell.find("grid.cell.0.3.8") != nullptr; }));
  }
  void choose(std::string_view dropdown, int item) {
    REQUIRE(shell.click(dropdown));
    shell.frame(2);
    REQUIRE(shell.click(std::string(dropdown) + "." + std::to_string(item)));
    REQUIRE(shell.settle());
  }
  [[nodiscard]] render::Rect strip() { return *shell.find("grid.strip"); }
  void drag_strip(float from, float to) {
    const render::Rect at = strip();
    shell.drag({at.x0 + at.width() * from, at.centre().y}, {at.x0 + at.width() * to, at.centre().y});
    REQUIRE(shell.settle());
  }
  [[nodiscard]] std::string cell(std::string_view name) {
    const render::Rect* at = shell.find("grid.cell." + std::string(name));
    REQUIRE(at != nullptr);
    for (const render::VisibleText& text : shell.ui().texts()) {
      if (at->contains(text.rect.centre())) return text.text;
    }
    return "";
  }
  [[nodiscard]] std::vector<TrackNumber> tracks_of(const std::string& device, const std::string& core) {
    std::vector<TrackNumber> found;
    for (const TrackSnapshot& track : tab().snapshot->tracks) {
      if (track.track->device == device && track.track->name.starts_with(core + " ") && !track.lanes.empty())
        found.push_back(track.track->number);
    }
    return found;
  }
  [[nodiscard]] static std::vector<TrackNumber> sorted(std::vector<TrackNumber> tracks) {
    std::sort(tracks.begin(), tracks.end());
    return tracks;
  }
};

}  // namespace

TEST_CASE("core grid panel: a click on a core selects what ran on it, Ctrl adds one, a second click takes it back") {
  GridViewer viewer;
  REQUIRE(viewer.shell.click("grid.cell.0.3.8"));
  viewer.shell.frame(2);
  REQUIRE(viewer.tab().region);
  CHECK(viewer.sorted(viewer.tab().region->tracks) == viewer.sorted(viewer.tracks_of("chip 0", "core 3,8")));
  viewer.shell.hold(render::Key::left_ctrl);
  REQUIRE(viewer.shell.click("grid.cell.1.1.7"));
  viewer.shell.hold(render::Key::left_ctrl, false);
  viewer.shell.frame(2);
  REQUIRE(viewer.tab().region);
  CHECK(viewer.tab().region->tracks.size() ==
        viewer.tracks_of("chip 0", "core 3,8").size() + viewer.tracks_of("chip 1", "core 1,7").size());
  viewer.shell.wait(1);  // else it would be a double click
  REQUIRE(viewer.shell.click("grid.cell.1.1.7"));
  viewer.shell.frame(2);
  CHECK(viewer.sorted(viewer.tab().region->tracks) == viewer.sorted(viewer.tracks_of("chip 1", "core 1,7")));
  viewer.shell.wait(1);
  REQUIRE(viewer.shell.click("grid.cell.1.1.7"));
  viewer.shell.frame(2);
  CHECK_FALSE(viewer.tab().region);
}

// An operations report and the device log of the same run, opened as one session.
TEST_CASE("core grid panel: a click on a core of a joined session brings the core's row into sight on the timeline") {
  constexpr int kColumns = 8, kRows = 8;
  const TemporaryFolder folder;
  write_file(folder.file("ops_perf_results.csv"),
             "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,ATTRIBUTES,CORE COUNT,HOST START TS,HOST END TS,"
             "HOST DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns]\n"
             "Matmul,tt_dnn_device,1024,0,{},64,1000,1500,500,90000,94000,4000\n"
             "Softmax,tt_dnn_device,2048,0,{},64,8000,8500,500,97500,98500,1000\n");
  std::string log =
      "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
      "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID,"
      "  zone name, type, source line, source file, meta data\n";
  for (int x = 1; x <= kColumns; ++x) {
    for (int y = 1; y <= kRows; ++y) {
      for (const char* part : {"BRISC", "NCRISC"}) {
        const std::string core = "0," + std::to_string(x) + "," + std::to_string(y) + "," + part + ",1,";
        log += core + "90100,0,1024,KERNEL,ZONE_START,1,k.cc,\n" + core + "93900,0,1024,KERNEL,ZONE_END,1,k.cc,\n";
      }
    }
  }
  write_file(folder.file("profile_log_device.csv"), log);
  Viewer viewer;
  viewer.open(folder.path());
  viewer.shell.resize(1600, 1000, 1);
  viewer.app.layout().show("core-grid");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("grid.cell.0.7.8") != nullptr; }));
  CHECK(viewer.shell.find("grid.cell.1.7.8") == nullptr);  // one chip, of both files
  const auto is_seen = [&](const std::string& core) {
    const timeline::TimelineState& timeline = *viewer.tab().timeline;
    return std::any_of(timeline.drawn_rows.begin(), timeline.drawn_rows.end(), [&](const timeline::DrawnRow& drawn) {
      const Track* const track = timeline.rows[drawn.row].track;
      return track != nullptr && track->name == core && drawn.clip.contains(drawn.rect.centre());
    });
  };
  for (const auto& [cell, core] : {std::pair{"grid.cell.0.7.8", "core 7,8 BRISC"},
                                   {"grid.cell.0.1.1", "core 1,1 BRISC"},
                                   {"grid.cell.0.8.4", "core 8,4 BRISC"}}) {
    CAPTURE(core);
    CHECK_FALSE(is_seen(core));
    viewer.shell.wait(1);  // else it would be a double click
    REQUIRE(viewer.shell.click(cell));
    REQUIRE(viewer.shell.settle());
    CHECK(is_seen(core));
  }
}

TEST_CASE("core grid panel: a double click pins the rows of the core on the timeline") {
  GridViewer viewer;
  REQUIRE(viewer.shell.click("grid.cell.0.2.7", render::MouseButton::left, 2));
  viewer.shell.frame(3);
  const auto& pinned = viewer.tab().choices.rows.pinned;
  REQUIRE(pinned.size() == 1);
  CHECK(pinned[0].find("core 2,7") != std::string::npos);
  REQUIRE(viewer.tab().region.has_value());
  CHECK(viewer.sorted(viewer.tab().region->tracks) == viewer.sorted(viewer.tracks_of("chip 0", "core 2,7")));
}

TEST_CASE("core grid panel: the brush is the range of map and table, is moved, and a double click has all again") {
  GridViewer viewer;
  REQUIRE(viewer.shell.settle());
  const std::string whole = viewer.cell("1.1.7");
  CHECK(whole != "0");
  viewer.drag_strip(0.1F, 0.3F);
  CHECK(viewer.shell.find("grid.whole") != nullptr);
  const std::string early = viewer.cell("1.1.7");
  CHECK(early != "0");
  // Chip 0 but for its slow core has ended long before the end of the session.
  viewer.drag_strip(0.2F, 0.9F);  // from inside: moves
  CHECK(viewer.cell("0.1.7") == "0");
  CHECK(viewer.shell.find("grid.table.row.0") != nullptr);
  const render::Rect at = viewer.strip();
  viewer.shell.click(render::Point{at.x0 + at.width() * 0.5F, at.centre().y}, render::MouseButton::left, 2);
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("grid.whole") == nullptr);
  CHECK(viewer.cell("1.1.7") == whole);
}

TEST_CASE("core grid panel: play moves the range to the end and stops, and a window at rest makes no frames") {
  GridViewer viewer;
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.idle());
  viewer.drag_strip(0.0F, 0.2F);
  const std::string before = viewer.shell.visible_text();
  viewer.shell.move({1, 1});
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.click("grid.play"));
  viewer.shell.frame(30);
  CHECK_FALSE(viewer.shell.idle());
  CHECK(viewer.shell.visible_text() != before);
  REQUIRE(viewer.shell.click("grid.play"));  // a pause
  viewer.shell.move({1, 1});
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.idle());
  REQUIRE(viewer.shell.click("grid.play"));
  REQUIRE(viewer.frames_until([&] { return viewer.cell("0.1.7") == "0"; }));
  viewer.shell.move({1, 1});
  viewer.shell.wait(12);  // all of it lasts ten seconds
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.idle());
}

TEST_CASE("core grid panel: another measure, zone and processor have other values in the cells and in the table") {
  GridViewer viewer;
  REQUIRE(viewer.shell.settle());
  const std::string busy = viewer.cell("0.1.7");
  viewer.choose("grid.part", 1);
  CHECK(viewer.shell.visible_text().find("Busy on BRISC") != std::string::npos);
  CHECK(viewer.cell("0.1.7") != busy);
  viewer.choose("grid.part", 0);
  viewer.choose("grid.measure", 2);
  CHECK(viewer.shell.shows("Events"));
  viewer.choose("grid.measure", 3);
  CHECK(viewer.shell.shows("NoC bytes"));
  CHECK(viewer.shell.visible_text().find("KiB") != std::string::npos);
}

TEST_CASE("core grid panel: the core of the selected event and the row of a core are the same selection") {
  GridViewer viewer;
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.click("grid.table.row.0"));
  viewer.shell.frame(2);
  REQUIRE(viewer.tab().region);
  CHECK(viewer.shell.find("grid.selected") == nullptr);
  const TrackSnapshot* track = viewer.tab().snapshot->find_track(viewer.tracks_of("chip 1", "core 2,8").front());
  REQUIRE(track != nullptr);
  viewer.tab().selected = make_event_id(viewer.tab().snapshot->lanes[track->lanes.front()].number(), 3);
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.find("grid.selected") != nullptr);
  CHECK(viewer.shell.find("grid.selected")->x0 == viewer.shell.find("grid.cell.1.2.8")->x0);
  CHECK(viewer.shell.find("grid.selected")->y0 == viewer.shell.find("grid.cell.1.2.8")->y0);
  viewer.tab().selected.reset();
  viewer.shell.frame(3);
  CHECK(viewer.tab().region->tracks.size() >= 3);
  CHECK(viewer.shell.hover("grid.cell.0.3.8"));
  viewer.shell.wait(0.3);
  CHECK(viewer.shell.shows("To the mean"));
  CHECK(viewer.shell.shows("TRISC_0"));
}

TEST_CASE("core grid panel: a session without cores says what has them, and a range without events how to go on") {
  Viewer viewer;
  TemporaryFolder folder;
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "call"});
  const TrackNumber track =
      writer.add_track({.name = "11 python", .kind = "host_thread", .host = "python3 (7)", .schema = schema});
  writer.begin_event(track, 0, 10, writer.intern("main"));
  REQUIRE(writer.finish().ok());
  REQUIRE(store->save(folder.file("host.accel")).ok());
  viewer.open(folder.file("host.accel"));
  viewer.app.layout().show("core-grid");
  REQUIRE(
      viewer.wait_for([&] { return viewer.shell.visible_text().find("profile_log_device.csv") != std::string::npos; }));
}

TEST_CASE("core grid panel: engines by devices are a grid, too, at any size of the window") {
  OpenViewer viewer;
  viewer.app.layout().show("core-grid");
  REQUIRE(viewer.wait_for([&] { return viewer.shell.find("grid.cell.0.0.0") != nullptr; }));
  CHECK(viewer.shell.shows("Tensor"));
  viewer.shell.resize(1000, 500, 1);
  REQUIRE(viewer.shell.settle());
  viewer.shell.resize(3200, 1800, 2);
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("grid.cell.0.0.0") != nullptr);
}

TEST_CASE("core grid panel: a core without the chosen processor shows a dash, and no number") {
  GridViewer viewer("TRISC_1");
  viewer.choose("grid.part", 3);  // BRISC, TRISC_0, TRISC_1
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("of TRISC_1") || viewer.cell("0.3.8") == "–"; }));
  CHECK(viewer.cell("0.3.8") == "–");
  CHECK(viewer.cell("0.1.7") != "–");
}

TEST_CASE("core grid panel: asked for when the program starts, it is there in a small window, too") {
  const TemporaryFolder folder;
  const CoreSession session(11, 100);
  REQUIRE(session.store->save(folder.file("cores.accel")).ok());
  for (const int width : {1280, 1600}) {
    CAPTURE(width);
    frame::AppOptions options;
    options.panels = {"core-grid"};
    Viewer viewer(options);
    viewer.shell.resize(width, 900, 1);
    viewer.open(folder.file("cores.accel"));
    CHECK(viewer.wait_for([&] { return viewer.shell.find("grid.measure") != nullptr; }));
  }
}

TEST_CASE(
    "core grid panel: while the brush is dragged the cells follow at once, and the table when a worker has made it") {
  GridViewer viewer;
  const auto cells = [&] {
    std::string all;
    for (const char* name : {"0.1.7", "0.2.7", "0.3.7", "0.1.8", "0.2.8", "0.3.8"}) all += viewer.cell(name) + " ";
    return all;
  };
  const auto table = [&] {
    const render::Rect* row = viewer.shell.find("grid.table.row.2");
    REQUIRE(row != nullptr);
    std::string all;
    for (const render::VisibleText& text : viewer.shell.ui().texts()) {
      if (row->contains(text.rect.centre())) all += text.text + " ";
    }
    return all;
  };
  REQUIRE(viewer.shell.settle());
  const std::string cells_before = cells(), table_before = table();
  {
    const HeldPool held(viewer.app.workspace().pool());
    const render::Rect at = viewer.strip();
    viewer.shell.drag({at.x0 + at.width() * 0.02F, at.centre().y}, {at.x0 + at.width() * 0.06F, at.centre().y});
    viewer.shell.frame(3);
    CHECK(cells() != cells_before);
    CHECK(table() == table_before);
  }
  CHECK(viewer.wait_for([&] { return table() != table_before; }));
}
