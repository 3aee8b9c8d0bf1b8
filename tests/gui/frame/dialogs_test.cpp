// What lies over the window, with real input events: what Esc closes, the palette, the open dialog; and what panels say
// where there is nothing to show.
#include <filesystem>

#include "app/content/advice_words.h"
#include "core/chunk/session_writer.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

void open_palette(Viewer& viewer) {
  viewer.shell.key(Key::p, {.ctrl = true});
  viewer.shell.frame(3);
}

// One event of a track of this kind; saved.
std::string save_lone_event(const std::string& folder, const char* kind, Role role) {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber schema =
      writer.add_schema({.name = "work", .columns = {{.name = "x", .type = ColumnType::text, .role = role}}});
  const TrackNumber track = writer.add_track({.name = "lane", .kind = kind, .device = "d0", .schema = schema});
  writer.begin_event(track, 100, 50, writer.intern("ZONE"));
  REQUIRE(writer.finish().ok());
  const std::string path = folder + "/lone.accel";
  REQUIRE((*store)->save(path).ok());
  return path;
}

}  // namespace

TEST_CASE("Esc closes an open menu and leaves the selection as it is") {
  OpenViewer viewer;
  viewer.select(kFirstMatmul);
  REQUIRE(viewer.shell.click("top.settings"));
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.shows("Larger"));
  viewer.shell.key(Key::escape);
  viewer.shell.frame(3);
  CHECK_FALSE(viewer.shell.shows("Larger"));
  CHECK(viewer.tab().selected == kFirstMatmul);
  viewer.shell.key(Key::escape);
  viewer.shell.frame(2);
  CHECK_FALSE(viewer.tab().selected.has_value());
}

TEST_CASE("palette: every command is reached by scrolling and by keys") {
  OpenViewer viewer;
  open_palette(viewer);
  const std::string last = "command_list." + viewer.app.commands().matching("").back()->id;
  CHECK(viewer.shell.find(last) == nullptr);
  for (int i = 0; i < 40; ++i) viewer.shell.key(Key::page_down);
  viewer.shell.frame(3);
  CHECK(viewer.shell.find(last) != nullptr);
  const render::Rect* list = viewer.shell.find("command_list.rows");
  REQUIRE(list != nullptr);
  viewer.shell.move(list->centre());
  for (int i = 0; i < 100; ++i) viewer.shell.wheel({0, 5});
  viewer.shell.frame(3);
  CHECK(viewer.shell.find(last) == nullptr);
  CHECK(viewer.shell.find("command_list.open") != nullptr);
}

TEST_CASE("palette: what was run is first after a new start too") {
  const TemporaryFolder state, folder;
  const std::string path = save_small_session(folder.path());
  {
    Viewer viewer({.state_directory = state.path()});
    viewer.open(path);
    open_palette(viewer);
    viewer.shell.type("reset the panels");
    viewer.shell.key(Key::enter);
    viewer.shell.frame(3);
  }
  Viewer viewer({.state_directory = state.path()});
  viewer.open(path);
  open_palette(viewer);
  const render::Rect* used = viewer.shell.find("command_list.reset_layout");
  REQUIRE(used != nullptr);
  CHECK(used->y0 < viewer.shell.find("command_list.open")->y0);
}

TEST_CASE("open dialog: with nothing named the folder itself is opened, and its button says so") {
  const TemporaryFolder folder, state;
  std::filesystem::create_directory(folder.file("runs"));
  Viewer viewer({.state_directory = state.path()});
  viewer.shell.key(Key::o, {.ctrl = true});
  REQUIRE(viewer.shell.settle());
  viewer.shell.key(Key::a, {.ctrl = true});
  viewer.shell.type(folder.file("runs"));
  viewer.shell.key(Key::enter);
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("Open this folder"));
  REQUIRE(viewer.shell.click("file_dialog.done"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("file_dialog.done") == nullptr);
  CHECK(viewer.app.workspace().last_error().find("runs") != std::string::npos);  // there is nothing in it
}

TEST_CASE("stack: where none was recorded the panel names what helps for this source") {
  const TemporaryFolder folder;
  const auto advice = [&](const char* kind, Role role) {
    Viewer viewer;
    viewer.open(save_lone_event(folder.path(), kind, role));
    viewer.run("panel_stack");
    viewer.tab().selected = kFirstMatmul;
    viewer.shell.frame(3);
    REQUIRE(viewer.shell.settle());
    return viewer.shell.visible_text();
  };
  CHECK(advice("engine", Role::operands).find("XLA_IR_DEBUG=1") != std::string::npos);
  const std::string stream = advice("stream", Role::none);
  CHECK(stream.find("alone") != std::string::npos);
  CHECK(stream.find("with_stack=True") == std::string::npos);  // nothing tells of Python
  const std::string other = advice("core", Role::none);
  CHECK(other.find("records no call stacks") != std::string::npos);
  CHECK(other.find("XLA") == std::string::npos);
}

TEST_CASE("advice: a program of C is not told how to record Python, and one of Python is") {
  const auto tells = [](const char* command) {
    auto store = std::move(Store::create()).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    writer.set_meta("program.command", command);
    REQUIRE(writer.finish().ok());
    return content::tells_of_python(*store->snapshot());
  };
  CHECK_FALSE(tells("./solve --size 512"));
  CHECK(tells("/usr/bin/python3.11 bench.py"));
}

TEST_CASE("palette: a window that is too narrow for the box shows it in place of the bar while it is in use") {
  OpenViewer viewer;
  viewer.shell.resize(1600, 900, 2.5F);
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.find("top.search") == nullptr);
  open_palette(viewer);
  REQUIRE(viewer.shell.find("top.search") != nullptr);
  viewer.shell.type("dark or light");
  viewer.shell.key(Key::enter);
  viewer.shell.frame(3);
  CHECK(viewer.shell.ui().theme().kind() == render::ThemeKind::light);
  CHECK(viewer.shell.find("top.search") == nullptr);
  CHECK(viewer.shell.find("top.settings") != nullptr);
}

TEST_CASE("keys: titles are whole at 200 percent too") {
  OpenViewer viewer;
  viewer.shell.resize(1600, 900, 2);
  viewer.run("keys");
  REQUIRE(viewer.shell.click("keys.filter"));
  viewer.shell.type("Ctrl+");
  CHECK(viewer.shell.shows("Open a file or folder..."));
  CHECK(viewer.shell.shows("Close the session"));
}
