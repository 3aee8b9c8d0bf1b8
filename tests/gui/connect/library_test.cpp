// The library on the start page, with real input events.
#include <algorithm>
#include <filesystem>

#include "app/library/library.h"
#include "app/session/retained_beside.h"
#include "capture/sim/output/simulator.h"
#include "core/store/overlay.h"
#include "tests/gui/viewer.h"
#include "tests/support/files.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

struct LibraryViewer {
  LibraryViewer() : viewer({.state_directory = state.path()}) {
    for (const char* name : {"alpha.accel", "beta.accel"}) {
      const std::shared_ptr<Store> store = std::move(Store::create()).value();
      StoreSink sink(*store);
      REQUIRE(capture::sim::simulate({.seed = 5, .kernels = 1}, sink).ok());
      REQUIRE(store->save(folder.file(name)).ok());
    }
    REQUIRE(viewer.shell.click("start.list.1"));
    viewer.shell.frame(2);
    CHECK(viewer.shell.shows("Name the folders that hold your sessions"));
    REQUIRE(viewer.shell.click("library.empty.0"));
    viewer.shell.frame(2);
    CHECK(viewer.shell.shows("Folder of sessions"));
    viewer.shell.type(folder.path());
    viewer.shell.key(Key::enter);
    REQUIRE(viewer.shell.settle());
    REQUIRE(viewer.shell.click("file_dialog.done"));
    REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("2 of 2"); }));
  }
  void choose_in_menu(const std::string& row, const std::string& item) {
    REQUIRE(viewer.shell.click(row, render::MouseButton::right));
    viewer.shell.frame(3);
    REQUIRE(viewer.shell.click("library.menu." + item));
    viewer.shell.frame(3);
  }
  TemporaryFolder state, folder;
  Viewer viewer;
};

}  // namespace

TEST_CASE("library: a folder is listed, searched and put in order, and is remembered") {
  LibraryViewer library;
  auto& shell = library.viewer.shell;
  CHECK(shell.shows("alpha"));
  CHECK(shell.shows("beta"));
  REQUIRE(shell.click("library.head.0"));
  shell.frame(2);
  const auto* alpha = shell.find("library.row.0");
  REQUIRE(alpha != nullptr);
  CHECK(shell.shows_in(*alpha, "alpha"));
  REQUIRE(shell.click("library.head.0"));
  shell.frame(2);
  CHECK(shell.shows_in(*shell.find("library.row.0"), "beta"));
  REQUIRE(shell.click("library.search"));
  shell.type("alph");
  shell.frame(2);
  CHECK(shell.shows("1 of 2"));
  CHECK(shell.find("library.row.1") == nullptr);
  shell.key(Key::a, {.ctrl = true});
  shell.type("zzz");
  shell.frame(2);
  REQUIRE(shell.click("library.no_match.0"));
  shell.frame(2);
  CHECK(shell.shows("2 of 2"));
}

TEST_CASE("library: a session gets tags that filter, another name, and goes for good only when asked twice") {
  LibraryViewer library;
  auto& shell = library.viewer.shell;
  REQUIRE(shell.click("library.head.0"));
  shell.frame(2);
  library.choose_in_menu("library.row.0", "tags");
  shell.type("mlp, first");
  shell.key(Key::enter);
  REQUIRE(library.viewer.wait_for([&] { return shell.find("library.tag.mlp") != nullptr; }));
  CHECK(read_overlay(library.folder.file("alpha.accel"))->at(workspace::kTagsKey) == "mlp,first");
  REQUIRE(shell.click("library.tag.mlp"));
  shell.frame(2);
  CHECK(shell.shows("1 of 2"));
  library.choose_in_menu("library.row.0", "rename");
  shell.key(Key::a, {.ctrl = true});
  shell.type("gamma");
  shell.key(Key::enter);
  REQUIRE(library.viewer.wait_for([&] { return shell.shows("gamma"); }));
  library.choose_in_menu("library.row.0", "delete");
  CHECK(std::filesystem::exists(library.folder.file("alpha.accel")));
  REQUIRE(shell.click("library.edit.cancel"));
  shell.frame(2);
  CHECK(std::filesystem::exists(library.folder.file("alpha.accel")));
  library.choose_in_menu("library.row.0", "delete");
  REQUIRE(shell.click("library.edit.done"));
  REQUIRE(library.viewer.wait_for([&] { return !std::filesystem::exists(library.folder.file("alpha.accel")); }));
}

TEST_CASE("library: several sessions are opened at once, and a profile is imported beside itself") {
  LibraryViewer library;
  auto& shell = library.viewer.shell;
  const std::string profile = library.folder.file("kernel.json");
  write_file(profile, R"({"traceEvents": [{"ph": "X", "name": "step", "ts": 1, "dur": 5, "pid": 1, "tid": 1}]})");
  REQUIRE(shell.click("library.refresh"));
  REQUIRE(library.viewer.wait_for([&] { return shell.shows("3 of 3"); }));
  REQUIRE(shell.click("library.search"));
  shell.type("kernel");
  shell.frame(2);
  REQUIRE(shell.click("library.row.0", render::MouseButton::left, 2));
  const std::string made = library.folder.file("kernel.accel");
  REQUIRE(library.viewer.wait_for([&] { return shell.shows("2 of 4"); }));
  CHECK(Store::open(made).ok());
  REQUIRE(shell.click("library.search"));
  shell.key(Key::a, {.ctrl = true});
  shell.key(Key::backspace);
  shell.frame(2);
  CHECK(shell.shows("4 of 4"));
  REQUIRE(shell.click("library.head.0"));
  shell.frame(2);
  REQUIRE(shell.click("library.row.0"));
  shell.hold(Key::left_ctrl);
  REQUIRE(shell.click("library.row.1"));
  shell.hold(Key::left_ctrl, false);
  REQUIRE(shell.click("library.row.1", render::MouseButton::right));
  shell.frame(3);
  CHECK(shell.shows("Open 2 sessions"));
  REQUIRE(shell.click("library.menu.open"));
  REQUIRE(library.viewer.wait_for([&] { return library.viewer.app.workspace().tab_count() == 2; }));
}

TEST_CASE("library: what is open in a tab stays where it is, and keys of the bar above the list do nothing in it") {
  LibraryViewer library;
  auto& shell = library.viewer.shell;
  auto& workspace = library.viewer.app.workspace();
  const std::string alpha = library.folder.file("alpha.accel"), beta = library.folder.file("beta.accel");
  library.viewer.open(alpha);
  workspace.show_start_page();
  shell.frame(3);
  if (shell.find("library.head.0") == nullptr) REQUIRE(shell.click("start.list.1"));
  shell.frame(2);
  REQUIRE(shell.click("library.head.0"));
  shell.frame(2);
  library.choose_in_menu("library.row.0", "delete");
  CHECK(shell.find("library.edit.done") == nullptr);
  REQUIRE_FALSE(workspace.notices().empty());
  CHECK(workspace.notices().back().text == alpha + ": is open; close its tab first");
  CHECK(std::filesystem::exists(alpha));
  library.choose_in_menu("library.row.1", "delete");
  REQUIRE(shell.find("library.edit.done") != nullptr);
  shell.key(Key::enter);
  shell.frame(3);
  CHECK(workspace.tab_count() == 1);
  shell.key(Key::escape);
  shell.frame(2);
  CHECK(shell.find("library.edit.done") == nullptr);
  CHECK(std::filesystem::exists(beta));
  const auto is_recent = [&](const std::string& path) {
    const auto& list = workspace.recent().list();
    return std::any_of(list.begin(), list.end(), [&](const persist::RecentSession& each) { return each.path == path; });
  };
  REQUIRE(workspace.recent().remember({.path = beta, .title = "beta"}).ok());
  library.choose_in_menu("library.row.1", "delete");
  REQUIRE(shell.click("library.edit.done"));
  REQUIRE(library.viewer.wait_for([&] { return !is_recent(beta); }));
  CHECK_FALSE(std::filesystem::exists(beta));
  CHECK(is_recent(alpha));
}
