// High contrast, every scale, reduced motion, and the card of frame times.
#include <doctest/doctest.h>

#include <fstream>

#include "app/system/system_files.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

TEST_CASE("high contrast: a command of its own, remembered, and left by the same or for the light theme") {
  const TemporaryFolder state;
  {
    Viewer viewer({.state_directory = state.path()});
    viewer.run("high_contrast");
    CHECK(viewer.shell.ui().theme().kind() == render::ThemeKind::high_contrast);
    CHECK(viewer.app.dump_state().find("\"high-contrast\"") != std::string::npos);
  }
  Viewer again({.state_directory = state.path()});
  CHECK(again.shell.ui().theme().kind() == render::ThemeKind::high_contrast);
  again.run("theme");
  CHECK(again.shell.ui().theme().kind() == render::ThemeKind::light);
  again.run("high_contrast");
  again.run("high_contrast");
  CHECK(again.shell.ui().theme().kind() == render::ThemeKind::dark);
}

TEST_CASE("scale: from 75 to 300 % the bars stay and nothing is dead, in a small window and a large one") {
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(3840, 2160)}) {
    OpenViewer viewer;
    viewer.shell.resize(width, height, 1);
    viewer.shell.ui().record_text(true);
    for (int i = 0; i < 10; ++i) viewer.run("smaller");
    CHECK(viewer.shell.ui().zoom() == doctest::Approx(0.75));
    for (int i = 0; i < 8; ++i) {
      CAPTURE(width);
      CAPTURE(viewer.shell.ui().zoom());
      const render::Rect window{0, 0, static_cast<float>(width), static_cast<float>(height)};
      for (const char* name : {"top.settings", "status.events"}) {
        const render::Rect* place = viewer.shell.find(name);
        REQUIRE(place != nullptr);
        CHECK(place->x0 >= window.x0);
        CHECK(place->x1 <= window.x1);
        CHECK(place->y1 <= window.y1);
      }
      CHECK(viewer.shell.ui().doubled_names().empty());
      viewer.run("larger");
    }
    CHECK(viewer.shell.ui().zoom() == doctest::Approx(3.0));
  }
}

TEST_CASE("frame times: off at first, tells of the last frames, and makes none itself") {
  OpenViewer viewer;
  CHECK(viewer.shell.find("frame_times") == nullptr);
  viewer.run("frame_times");
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.find("frame_times") != nullptr);
  for (const char* row : {"p50", "p99", "Draw calls", "Vertices"})
    CHECK(viewer.shell.shows_in(*viewer.shell.find("frame_times"), row));
  viewer.shell.rest(1);  // what the command asked for is drawn
  CHECK(viewer.shell.rest(5) == 0);
  viewer.run("frame_times");
  CHECK(viewer.shell.find("frame_times") == nullptr);
}

TEST_CASE("reduced motion: remembered once it was chosen") {
  const TemporaryFolder state;
  {
    Viewer viewer({.state_directory = state.path()});
    const bool before = viewer.shell.ui().reduced_motion();
    viewer.run("reduced_motion");
    CHECK(viewer.shell.ui().reduced_motion() != before);
    viewer.run("reduced_motion");
    viewer.run("reduced_motion");
  }
  Viewer again({.state_directory = state.path()});
  again.run("reduced_motion");
  Viewer other;
  CHECK(again.shell.ui().reduced_motion() == other.shell.ui().reduced_motion());
}

TEST_CASE("reduced motion: the desktop's wish is read from the files of GTK and KDE") {
  const TemporaryFolder home;
  const system::Environment environment = [&](std::string_view name) {
    return name == "HOME" ? home.path() : std::string();
  };
  CHECK_FALSE(system::desktop_reduces_motion(environment));
  std::filesystem::create_directories(home.file(".config/gtk-3.0"));
  write_file(home.file(".config/gtk-3.0/settings.ini"), "[Settings]\ngtk-enable-animations = 1\n");
  CHECK_FALSE(system::desktop_reduces_motion(environment));
  write_file(home.file(".config/gtk-3.0/settings.ini"), "[Settings]\ngtk-enable-animations = 0\n");
  CHECK(system::desktop_reduces_motion(environment));
  std::filesystem::remove(home.file(".config/gtk-3.0/settings.ini"));
  write_file(home.file(".config/kdeglobals"), "[KDE]\nAnimationDurationFactor=0\n");
  CHECK(system::desktop_reduces_motion(environment));
}

TEST_CASE(
    "desktop: GNOME's reduced motion and high contrast hold for what the user has not chosen, and no frame waits") {
  const TemporaryFolder state, folder;
  const std::string gsettings = folder.file("gsettings"), asked = folder.file("answers");
  write_file(gsettings, "#!/bin/sh\nwhile [ ! -e " + asked +
                            " ]; do sleep 0.01; done\n"
                            "case \"$2 $3\" in\n"
                            "  'org.gnome.desktop.interface enable-animations') echo false ;;\n"
                            "  'org.gnome.desktop.a11y.interface high-contrast') echo true ;;\n"
                            "  *) exit 1 ;;\nesac\n");
  std::filesystem::permissions(gsettings, std::filesystem::perms::owner_all);
  const bool before = system::desktop_reduces_motion(system::process_environment());
  {
    Viewer viewer({.state_directory = state.path(), .gsettings = gsettings});  // draws frames while nobody answers
    CHECK(viewer.shell.ui().reduced_motion() == before);
    CHECK(viewer.shell.ui().theme().kind() == render::ThemeKind::dark);
    write_file(asked, "");
    CHECK(viewer.frames_until([&] { return viewer.shell.ui().theme().kind() == render::ThemeKind::high_contrast; }));
    CHECK(viewer.shell.ui().reduced_motion());
  }
  {
    Viewer again({.state_directory = state.path()});  // the desktop's choice is none of the user's
    CHECK(again.shell.ui().theme().kind() == render::ThemeKind::dark);
    again.run("theme");
  }
  Viewer chosen({.state_directory = state.path(), .gsettings = gsettings});
  CHECK(chosen.frames_until([&] { return chosen.shell.ui().reduced_motion(); }));
  chosen.shell.frame(2);
  CHECK(chosen.shell.ui().theme().kind() == render::ThemeKind::light);
}

TEST_CASE("desktop: where gsettings knows no such setting, or is not there, all stays as it was") {
  const system::DesktopSettings none = system::desktop_settings("/no/such/gsettings", {});
  CHECK_FALSE(none.reduces_motion);
  CHECK_FALSE(none.high_contrast);
  const TemporaryFolder folder;
  write_file(folder.file("gsettings"), "#!/bin/sh\necho 'No such schema' >&2\nexit 1\n");
  std::filesystem::permissions(folder.file("gsettings"), std::filesystem::perms::owner_all);
  CHECK_FALSE(system::desktop_settings(folder.file("gsettings"), {}).high_contrast);
}
