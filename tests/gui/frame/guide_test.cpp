// F1 and Help: the guide in the user's browser, at the page of the part of the window that is in use.
#include <filesystem>

#include "app/frame/places.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

// A guide of empty pages, and in place of xdg-open a program that notes what it was to open.
struct InstalledGuide {
  InstalledGuide() {
    for (const char* page :
         {"index", "timeline", "panels/memory", "panels/selection", "panels/source", "hosts", "formats"}) {
      write_file(folder.file("guide/" + std::string(page) + ".html"), "");
    }
    write_file(opener, "#!/bin/sh\nprintf '%s' \"$1\" > '" + folder.file("writing") + "'\nmv '" +
                           folder.file("writing") + "' '" + opened + "'\n");
    std::filesystem::permissions(opener, std::filesystem::perms::owner_all);
  }
  [[nodiscard]] frame::AppOptions options() const {
    return {.guide_folder = folder.file("guide"), .page_opener = opener};
  }

  TemporaryFolder folder;
  std::string opener = folder.file("opener"), opened = folder.file("opened");
};

struct GuideViewer : InstalledGuide, OpenViewer {
  GuideViewer() : OpenViewer(InstalledGuide::options()) {}

  // What F1 opens, below the guide's folder.
  [[nodiscard]] std::string opened_by_f1() {
    std::filesystem::remove(opened);
    shell.key(Key::f1);
    REQUIRE(wait_for([&] { return std::filesystem::exists(opened); }));
    std::string page = std::filesystem::relative(read_file(opened), InstalledGuide::folder.file("guide")).string();
    REQUIRE(wait_for([&] { return shell.shows("Opened " + page + " of the guide"); }));
    return page;
  }
};

}  // namespace

TEST_CASE("guide: F1 opens the page of the panel that the user is in, and the timeline's where that is in use") {
  GuideViewer viewer;
  CHECK(viewer.opened_by_f1() == "timeline.html");
  viewer.run("panel_memory");
  CHECK(viewer.opened_by_f1() == "panels/memory.html");
  REQUIRE(viewer.shell.click("questions.memory"));
  viewer.shell.frame(2);
  CHECK(viewer.opened_by_f1() == "panels/memory.html");
  REQUIRE(viewer.shell.click("questions.what"));
  viewer.shell.frame(2);
  CHECK(viewer.opened_by_f1() == "panels/selection.html");
  REQUIRE(viewer.shell.click("timeline.canvas"));
  viewer.shell.frame(2);
  CHECK(viewer.opened_by_f1() == "timeline.html");
  viewer.app.layout().maximise("source");
  viewer.shell.frame(2);
  CHECK(viewer.opened_by_f1() == "panels/source.html");
}

TEST_CASE("guide: in a dialog F1 opens the page of what it does, and leaves it open") {
  GuideViewer viewer;
  viewer.run("connect");
  CHECK(viewer.opened_by_f1() == "hosts.html");
  CHECK(viewer.shell.shows("Connect and record"));
  CHECK(viewer.shell.find("told") != nullptr);  // over the dialog, which covers what is told below it
  viewer.shell.key(Key::escape);
  viewer.shell.frame(2);
  viewer.run("open");
  CHECK(viewer.opened_by_f1() == "formats.html");
}

TEST_CASE("guide: without a session F1 opens its first page, and without a guide it says how to get one") {
  const InstalledGuide guide;
  Viewer viewer(guide.options());
  viewer.shell.key(Key::f1);
  REQUIRE(viewer.wait_for([&] { return std::filesystem::exists(guide.opened); }));
  CHECK(read_file(guide.opened).ends_with("/guide/index.html"));

  Viewer bare({.guide_folder = guide.folder.file("none"), .page_opener = guide.opener});
  std::filesystem::remove(guide.opened);
  bare.shell.key(Key::f1);
  REQUIRE(bare.wait_for([&] { return !bare.app.workspace().notices().empty(); }));
  bare.shell.frame(2);
  CHECK(bare.shell.shows("No guide is installed beside this program"));
  CHECK(bare.app.workspace().notices().front().text.find("third_party/install.sh --packages") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(guide.opened));
}

TEST_CASE("guide: every panel has a page of its name, which the list of panels leads to") {
  const std::string guide = ACCELSCOPE_GUIDE;
  const std::string list = read_file(guide + "/panels/index.md");
  for (const frame::PanelInfo& panel : frame::all_panels()) {
    INFO(panel.name);
    CHECK(read_file(guide + "/panels/" + std::string(panel.name) + ".md")
              .starts_with("# " + std::string(panel.title) + "\n"));
    CHECK(list.find("(" + std::string(panel.name) + ".md)") != std::string::npos);
  }
}
