// The frame of the viewer with real input events: start page, tabs, menus, keys, dialogs, notices, panels' places.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>

#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

TEST_CASE("first start: the start page offers the three doors and says what the empty list is for") {
  Viewer viewer;
  CHECK(viewer.shell.shows("Open a file or folder"));
  CHECK(viewer.shell.shows("Connect to a device"));
  CHECK(viewer.shell.shows("Try the demo"));
  CHECK(viewer.shell.shows("Sessions that you open or record are listed here."));
}

TEST_CASE("open: a session becomes a tab with its counts in the status bar and its name among the recent ones") {
  const TemporaryFolder state;
  OpenViewer viewer({.state_directory = state.path()});
  CHECK(viewer.shell.shows("small"));
  CHECK(viewer.shell.shows("87 events"));
  CHECK(viewer.shell.shows("Saved  small.accel"));
  CHECK(viewer.shell.shows("1 warning on data quality"));
  REQUIRE(viewer.shell.click("tabs.add"));
  CHECK(viewer.shell.shows("Recent sessions"));
  REQUIRE(viewer.shell.find("start.recent.row.0") != nullptr);
  REQUIRE(viewer.shell.click("tabs.0"));
  CHECK(viewer.shell.shows("87 events"));
}

TEST_CASE("recent: a double click opens the session, Del takes it off the list and leaves the file") {
  const TemporaryFolder state, folder;
  const std::string path = save_small_session(folder.path());
  {
    Viewer viewer({.state_directory = state.path()});
    viewer.open(path);
  }
  Viewer viewer({.state_directory = state.path()});
  REQUIRE(viewer.shell.click("start.recent.row.0", render::MouseButton::left, 2));
  REQUIRE(viewer.wait_for([&] { return viewer.app.workspace().tab_count() == 1; }));
  viewer.run("start_page");
  REQUIRE(viewer.shell.click("start.recent.row.0"));
  viewer.shell.key(Key::del);
  CHECK(viewer.shell.shows("Sessions that you open or record are listed here."));
  CHECK(std::filesystem::exists(path));
}

TEST_CASE("drag and drop: a dropped file opens") {
  const TemporaryFolder folder;
  Viewer viewer;
  viewer.shell.drop_files({save_small_session(folder.path())});
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.app.workspace().tab_count() == 1);
}

TEST_CASE("errors: a file that cannot be opened is named in a banner that can be dismissed") {
  Viewer viewer;
  viewer.open("/nowhere/missing.accel");
  CHECK(viewer.shell.shows("there is no such file"));
  CHECK(viewer.app.dump_state().find("missing.accel") != std::string::npos);
  REQUIRE(viewer.shell.click("notice.0.close"));
  CHECK(viewer.app.workspace().notices().empty());
  CHECK(viewer.shell.find("notice.0.close") == nullptr);
}

TEST_CASE("theme: the button and the key switch it, and it is remembered") {
  const TemporaryFolder state;
  {
    Viewer viewer({.state_directory = state.path()});
    CHECK(viewer.shell.ui().theme().kind() == render::ThemeKind::dark);
    REQUIRE(viewer.shell.click("top.theme"));
    CHECK(viewer.shell.ui().theme().kind() == render::ThemeKind::light);
    viewer.shell.key(Key::l, {.ctrl = true, .shift = true});
    viewer.shell.frame(2);
    CHECK(viewer.shell.ui().theme().kind() == render::ThemeKind::dark);
    REQUIRE(viewer.shell.click("top.theme"));
  }
  Viewer again({.state_directory = state.path()});
  CHECK(again.shell.ui().theme().kind() == render::ThemeKind::light);
}

TEST_CASE("keys: ? shows every command with its key, Esc closes it") {
  OpenViewer viewer;
  viewer.shell.key(Key::slash, {.shift = true});
  CHECK(viewer.shell.shows("Open a file or folder..."));
  CHECK(viewer.shell.shows("Ctrl+O"));
  CHECK(viewer.shell.shows("zoom at the pointer"));
  viewer.shell.key(Key::escape);
  viewer.shell.frame(2);
  CHECK_FALSE(viewer.shell.shows("zoom at the pointer"));
}

TEST_CASE("menus: a menu opens, shows the keys, and runs what is chosen") {
  OpenViewer viewer;
  REQUIRE(viewer.shell.click("menu.View"));
  CHECK(viewer.shell.shows("Ctrl+Shift+L"));
  REQUIRE(viewer.shell.click("menu.View.Panels"));
  REQUIRE(viewer.shell.click("menu.View.Panels.panel_metrics"));
  CHECK(viewer.app.layout().is_seen("metrics"));
  CHECK(viewer.wait_for([&] { return viewer.shell.shows("session_time"); }));
}

TEST_CASE("menus: every menu of a session fits into a window of 720 pixels") {
  OpenViewer viewer;
  viewer.shell.resize(1280, 720, 1);
  for (const std::string menu : {"File", "View", "Record", "Analyse", "Help"}) {
    CAPTURE(menu);
    REQUIRE(viewer.shell.click("menu." + menu));
    float lowest = 0;
    for (const auto& [name, rect] : viewer.shell.ui().widgets()) {
      if (name.starts_with("menu." + menu + ".")) lowest = std::max(lowest, rect.y1);
    }
    CHECK(lowest > 40);
    CHECK(lowest <= 720);
    viewer.shell.key(Key::escape);
    viewer.shell.frame(2);
  }
}

TEST_CASE("palette: Ctrl+P, some letters and Enter run a command, and Esc runs nothing") {
  OpenViewer viewer;
  viewer.shell.key(Key::p, {.ctrl = true});
  viewer.shell.type("metri");
  CHECK(viewer.shell.find("command_list.panel_metrics") != nullptr);
  viewer.shell.key(Key::enter);
  viewer.shell.frame(2);
  CHECK(viewer.app.layout().is_seen("metrics"));
  viewer.shell.key(Key::p, {.ctrl = true});
  viewer.shell.type("close the session");
  viewer.shell.key(Key::escape);
  viewer.shell.frame(2);
  CHECK(viewer.app.workspace().tab_count() == 1);
}

TEST_CASE("palette: a click on a command runs it") {
  OpenViewer viewer;
  viewer.shell.key(Key::p, {.ctrl = true});
  viewer.shell.type("metri");
  REQUIRE(viewer.shell.click("command_list.panel_metrics"));
  viewer.shell.frame(2);
  CHECK(viewer.app.layout().is_seen("metrics"));
}

TEST_CASE("search: Ctrl+F counts the hits, Enter steps forward, Shift+Enter back") {
  OpenViewer viewer;
  viewer.shell.key(Key::f, {.ctrl = true});
  viewer.shell.type("ACTIVATE");
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("10 events"));
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.tab().selected.has_value());
  const EventId first = *viewer.tab().selected;
  CHECK(read_event(viewer.tab(), first)->name_text == "ACTIVATE");
  viewer.shell.frame(2);
  viewer.shell.key(Key::enter);
  CHECK(*viewer.tab().selected == first + 1);
  viewer.shell.frame(2);
  viewer.shell.key(Key::enter, {.shift = true});
  CHECK(*viewer.tab().selected == first);
}

TEST_CASE("search: letters typed into the box run no single-key commands") {
  OpenViewer viewer;
  viewer.shell.key(Key::f, {.ctrl = true});
  viewer.shell.key(Key::m);
  viewer.shell.type("m");
  CHECK(viewer.tab().markers.empty());
}

TEST_CASE("save as: Ctrl+Shift+S asks for a name, warns before it replaces, and writes the file") {
  OpenViewer viewer;
  viewer.shell.key(Key::s, {.ctrl = true, .shift = true});
  REQUIRE(viewer.shell.find("file_dialog.done") != nullptr);
  REQUIRE(viewer.shell.settle());
  viewer.shell.key(Key::a, {.ctrl = true});
  viewer.shell.type("copy");
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.shell.settle());
  const std::string copy = viewer.folder.file("copy.accel");
  CHECK(std::filesystem::exists(copy));
  CHECK(viewer.tab().path == copy);

  viewer.shell.key(Key::s, {.ctrl = true, .shift = true});
  REQUIRE(viewer.shell.settle());
  viewer.shell.key(Key::enter);
  CHECK(viewer.shell.shows("Replace it?"));
  REQUIRE(viewer.shell.click("file_dialog.cancel"));
  CHECK(viewer.shell.find("file_dialog.done") == nullptr);
}

TEST_CASE("open dialog: folders are entered, typing narrows the list, Enter opens what is left") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("runs"));
  static_cast<void>(save_small_session(folder.file("runs"), "mlp.accel"));
  static_cast<void>(save_small_session(folder.file("runs"), "softmax.accel"));
  std::ofstream(folder.file("runs") + "/notes.txt") << "no trace";
  const TemporaryFolder state;
  Viewer viewer({.state_directory = state.path()});
  viewer.shell.key(Key::o, {.ctrl = true});
  REQUIRE(viewer.shell.settle());
  viewer.shell.key(Key::a, {.ctrl = true});
  viewer.shell.type(folder.file("runs"));
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("softmax.accel"));
  CHECK_FALSE(viewer.shell.shows("notes.txt"));
  REQUIRE(viewer.shell.click("file_dialog.name"));
  viewer.shell.type("soft");
  CHECK_FALSE(viewer.shell.shows("mlp.accel"));
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.wait_for([&] { return viewer.app.workspace().tab_count() == 1; }));
  CHECK(viewer.tab().title == "softmax");
}

TEST_CASE("close: unsaved work is asked about, Cancel keeps it, discarding closes it") {
  OpenViewer viewer;
  viewer.tab().modified = true;
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("tabs.0.close"));
  CHECK(viewer.shell.shows("Save before closing?"));
  REQUIRE(viewer.shell.click("unsaved.cancel"));
  CHECK(viewer.app.workspace().tab_count() == 1);
  viewer.shell.frame(2);
  CHECK_FALSE(viewer.shell.shows("Save before closing?"));
  viewer.shell.key(Key::w, {.ctrl = true});
  REQUIRE(viewer.shell.click("unsaved.discard"));
  CHECK(viewer.app.workspace().tab_count() == 0);
}

TEST_CASE("close: Save of a session that is in no file yet asks where, saves it there and closes it") {
  const test::TemporaryFolder folder;
  OpenViewer viewer;
  viewer.tab().modified = true;
  viewer.tab().path.clear();
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("tabs.0.close"));
  REQUIRE(viewer.shell.click("unsaved.save"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("file_dialog.name"));
  viewer.shell.key(Key::a, {.ctrl = true});
  viewer.shell.type(folder.file("kept.accel"));
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.wait_for([&] { return viewer.app.workspace().tab_count() == 0; }));
  CHECK(std::filesystem::exists(folder.file("kept.accel")));
}

TEST_CASE("close: a save dialog saves the session it was opened for, though another tab closes meanwhile") {
  const test::TemporaryFolder folder;
  OpenViewer viewer;
  workspace::Workspace& workspace = viewer.app.workspace();
  workspace::OpenedSession other;
  other.store = Store::create().value();
  other.title = "empty";
  (void)workspace.adopt(std::move(other));
  REQUIRE(workspace.tab_count() == 2);
  workspace.activate(1);
  REQUIRE(viewer.shell.settle());
  viewer.shell.key(Key::s, {.ctrl = true, .shift = true});
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.find("file_dialog.done") != nullptr);
  workspace.close(0, true);
  REQUIRE(viewer.shell.click("file_dialog.name"));
  viewer.shell.key(Key::a, {.ctrl = true});
  viewer.shell.type(folder.file("kept.accel"));
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.wait_for([&] { return std::filesystem::exists(folder.file("kept.accel")); }));
  const auto saved = Store::open_unchanged(folder.file("kept.accel"));
  REQUIRE(saved.ok());
  CHECK((*saved)->snapshot()->event_count == 0);
}

TEST_CASE("quit: without unsaved work at once, with it only after the question") {
  OpenViewer viewer;
  viewer.tab().modified = true;
  viewer.shell.key(Key::q, {.ctrl = true});
  viewer.shell.frame(2);
  CHECK_FALSE(viewer.app.wants_to_quit());
  CHECK(viewer.shell.shows("Save before closing?"));
  viewer.shell.key(Key::escape);
  viewer.shell.frame(3);
  CHECK_FALSE(viewer.app.wants_to_quit());
  CHECK_FALSE(viewer.shell.shows("Save before closing?"));
  viewer.tab().modified = false;
  viewer.shell.key(Key::q, {.ctrl = true});
  viewer.shell.frame(2);
  CHECK(viewer.app.wants_to_quit());
}

TEST_CASE("quit: a session in two tabs is asked about once, by its own name, and Cancel leaves both") {
  OpenViewer viewer;
  workspace::Workspace& workspace = viewer.app.workspace();
  (void)workspace.open_part(0, "rank 7", "nc0", {viewer.tab().snapshot->tracks.front().track->number});
  REQUIRE(viewer.shell.settle());
  workspace.tab(0).modified = true;
  viewer.shell.key(Key::q, {.ctrl = true});
  viewer.shell.frame(3);
  CHECK_FALSE(viewer.app.wants_to_quit());
  CHECK(workspace.tab_count() == 2);
  CHECK(viewer.shell.shows("small has changes that are in no file yet"));
  REQUIRE(viewer.shell.click("unsaved.cancel"));
  viewer.shell.frame(3);
  CHECK(workspace.tab_count() == 2);
  CHECK_FALSE(viewer.shell.shows("Save before closing?"));
  // With the part alone it is the session that is asked about as well.
  workspace.close(0);
  REQUIRE(workspace.tab_count() == 1);
  viewer.shell.key(Key::q, {.ctrl = true});
  viewer.shell.frame(3);
  CHECK(viewer.shell.shows("small has changes that are in no file yet"));
  REQUIRE(viewer.shell.click("unsaved.discard"));
  viewer.shell.frame(3);
  CHECK(viewer.app.wants_to_quit());
}

TEST_CASE("panels: the splitter resizes, maximise fills, Esc restores, close gives the room away, all remembered") {
  const TemporaryFolder state;
  std::string layout;
  {
    OpenViewer viewer({.state_directory = state.path()});
    const render::Rect bar = *viewer.shell.find("splitter.right");
    viewer.shell.drag(bar.centre(), {bar.centre().x - 100, bar.centre().y});
    CHECK(viewer.shell.find("splitter.right")->x0 == doctest::Approx(bar.x0 - 100).epsilon(0.01));
    REQUIRE(viewer.shell.click("questions.memory"));
    REQUIRE(viewer.shell.click("bottom.maximise"));
    CHECK(viewer.app.layout().maximised() == "memory");
    CHECK(viewer.shell.find("splitter.right") == nullptr);
    viewer.shell.key(Key::escape);
    CHECK_FALSE(viewer.app.layout().maximised().has_value());
    REQUIRE(viewer.shell.click("bottom.close"));
    CHECK_FALSE(viewer.app.layout().is_open("memory"));
    layout = viewer.app.layout().to_text();
  }
  Viewer again({.state_directory = state.path()});
  CHECK(again.app.layout().to_text() == layout);
}

TEST_CASE("connect: a wrong address is explained while it is typed and cannot be started") {
  Viewer viewer;
  const auto type_wrong_address = [&] {
    viewer.shell.key(Key::k, {.ctrl = true});
    viewer.shell.frame(3);
    REQUIRE(viewer.shell.click("connect.where.1"));
    viewer.shell.frame(3);
    REQUIRE(viewer.shell.find("connect.address") != nullptr);
    viewer.shell.key(Key::a, {.ctrl = true});
    viewer.shell.type("10.0.0.9:nowhere");
    viewer.shell.frame(2);
    REQUIRE(viewer.shell.click("connect.start"));
    CHECK(viewer.app.workspace().tab_count() == 0);
    CHECK(viewer.shell.shows("10.0.0.9:nowhere"));
  };
  type_wrong_address();  // on the start page
  viewer.shell.resize(900, 700, 1);
  viewer.shell.frame(2);
  CHECK(viewer.shell.find("connect.start") == nullptr);  // no room for it there
  type_wrong_address();                                  // as a dialog
  CHECK(viewer.shell.find("connect.start") != nullptr);  // still open
  viewer.shell.key(Key::escape);                         // out of the field too
  viewer.shell.frame(2);
  CHECK(viewer.shell.find("connect.start") == nullptr);
}

TEST_CASE("any size: no window or scale breaks the frame, and the text keeps its place") {
  OpenViewer viewer;
  viewer.select(kFirstMatmul);
  for (const auto& [width, height, scale] :
       {std::tuple{320, 200, 1.0F}, {640, 400, 1.0F}, {3200, 1800, 2.0F}, {800, 600, 3.0F}, {1600, 900, 1.5F}}) {
    viewer.shell.resize(width, height, scale);
    for (const frame::PanelInfo& panel : frame::all_panels()) {
      viewer.app.layout().show(panel.name);
      viewer.shell.frame(2);
      viewer.app.layout().maximise(panel.name);
      viewer.shell.frame(2);
      viewer.app.layout().restore();
    }
    viewer.app.workspace().show_start_page();
    viewer.shell.frame(2);
    viewer.app.workspace().activate(0);
    viewer.shell.frame(2);
    CHECK(viewer.shell.find("status.events") != nullptr);
  }
}

TEST_CASE("controls: no two that can be clicked have one name, or the later one would be dead") {
  OpenViewer viewer;
  viewer.select(kFirstMatmul);
  for (const frame::PanelInfo& panel : frame::all_panels()) {
    viewer.app.layout().show(panel.name);
    REQUIRE(viewer.shell.settle());
  }
  for (const char* dialog : {"keys", "about", "view_settings", "go_to_time", "go_to_link", "editor_command"}) {
    viewer.run(dialog);
    viewer.shell.key(Key::escape);
    viewer.shell.key(Key::escape);
    viewer.shell.frame(2);
  }
  viewer.app.workspace().show_start_page();
  REQUIRE(viewer.shell.settle());
  CHECK(fmt::format("{}", fmt::join(viewer.shell.ui().doubled_names(), " ")) == "");
}

TEST_CASE_FIXTURE(OpenViewer, "controls: the buttons that close a dialog close it") {
  for (const char* dialog : {"about", "view_settings"}) {
    CAPTURE(dialog);
    run(dialog);
    const std::string button = std::string(dialog) + ".done";
    REQUIRE(shell.find(button) != nullptr);
    REQUIRE(shell.click(button));
    shell.frame(2);
    CHECK(shell.find(button) == nullptr);
  }
}

TEST_CASE("any size: a window that is too small for the timeline says so and comes to rest") {
  OpenViewer viewer;
  for (const auto& [width, height] : {std::pair{400, 300}, {300, 200}, {64, 64}}) {
    viewer.shell.resize(width, height, 1.0F);
    CHECK(viewer.shell.settle());
    CHECK(viewer.app.settled());
  }
}

TEST_CASE("state dump: tells tabs, view, selection and the last error as JSON") {
  OpenViewer viewer;
  viewer.select(kFirstMatmul);
  const std::string json = viewer.app.dump_state();
  CHECK(json.find("\"title\":\"small\"") != std::string::npos);
  CHECK(json.find("\"events\":87") != std::string::npos);
  CHECK(json.find("\"selected\":0") != std::string::npos);
  CHECK(json.find("\"last_error\":\"\"") != std::string::npos);
}
