// The memory panel in small places and at 200 %: everything can be reached, and nothing lies outside of the panel.
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

// At the bottom of a small window, with the rest of the window above it.
struct SmallMemory : OpenViewer {
  SmallMemory(int width, int height, float scale) {
    shell.resize(width, height, scale);
    app.layout().show("memory");
    REQUIRE(wait_for([&] { return shell.find("memory.pool.0") != nullptr || shell.find("memory.pool") != nullptr; }));
    tab().show({1'000, 5'000});
    REQUIRE(shell.settle());
  }
  // The controls of the panel lie within the window.
  void check_inside() {
    const render::Rect window = shell.ui().window();
    for (const auto& [name, rect] : shell.ui().widgets()) {
      if (!name.starts_with("memory.") || name.starts_with("memory.alive.")) continue;
      CAPTURE(name);
      CHECK(rect.x0 >= window.x0);
      CHECK(rect.x1 <= window.x1);
      CHECK(rect.y1 <= window.y1);
    }
  }
};

}  // namespace

TEST_CASE("memory: at 200 % in a small window usage, addresses, segments and the table are one switch away") {
  SmallMemory viewer(1280, 720, 2);
  REQUIRE(viewer.shell.find("memory.plot") != nullptr);
  CHECK(viewer.shell.find("memory.plot")->height() >= 30);  // room for the use itself
  CHECK(viewer.shell.find("memory.map") == nullptr);
  viewer.check_inside();

  REQUIRE(viewer.shell.click("memory.part.1"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("memory.plot") == nullptr);
  REQUIRE(viewer.shell.find("memory.map") != nullptr);
  viewer.check_inside();

  REQUIRE(viewer.shell.click("memory.part.2"));  // segments
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("memory.map") == nullptr);
  CHECK(viewer.shell.find("memory.alive.row.0") == nullptr);
  viewer.check_inside();

  REQUIRE(viewer.shell.click("memory.part.3"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("memory.map") == nullptr);
  CHECK(viewer.shell.shows("w1"));
  CHECK(viewer.shell.find("memory.alive.row.0") != nullptr);
}

TEST_CASE("memory: the controls that do not fit are in a menu, and work there") {
  SmallMemory viewer(1280, 720, 2);
  CHECK(viewer.shell.find("memory.follow") == nullptr);
  REQUIRE(viewer.shell.click("memory.more"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.shows("Lines"));
  CHECK(viewer.shell.shows("Smallest shown"));
  CHECK(viewer.shell.find("memory.menu.peak") != nullptr);
  viewer.check_inside();  // it opens upwards: there is no room below
  REQUIRE(viewer.shell.click("memory.menu.follow"));
  REQUIRE(viewer.shell.settle());
  viewer.shell.key(render::Key::escape);
  REQUIRE(viewer.shell.settle());
  const session::ViewRange before = viewer.tab().view;
  const render::Rect plot = *viewer.shell.find("memory.plot");
  viewer.shell.move(plot.centre());
  viewer.shell.wheel({0, 3});
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.tab().view == before);  // it no longer follows the timeline
}

TEST_CASE("memory: in a window of 1280 by 720 the card of the selected allocation shares the table's place") {
  SmallMemory viewer(1280, 720, 1);
  viewer.check_inside();
  REQUIRE(viewer.shell.find("memory.plot") != nullptr);
  CHECK(viewer.shell.find("memory.alive.row.0") != nullptr);
  REQUIRE(viewer.shell.click("memory.part.1"));  // the map
  REQUIRE(viewer.shell.settle());
  const render::Rect map = *viewer.shell.find("memory.map");
  viewer.shell.click({map.x0 + map.width() * 0.25F, map.y0 + 4});  // the highest address: x
  REQUIRE(viewer.wait_for([&] { return viewer.shell.shows("0x21000 – 0x28FFF"); }));
  viewer.check_inside();
  REQUIRE(viewer.shell.click("memory.side.0"));
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("memory.alive.row.0") != nullptr);
  CHECK_FALSE(viewer.shell.shows("0x21000 – 0x28FFF"));
}

TEST_CASE("memory: in a narrow and high place the table lies below the plots") {
  SmallMemory viewer(700, 900, 1);
  viewer.app.layout().maximise("memory");
  REQUIRE(viewer.shell.settle());
  REQUIRE(viewer.shell.find("memory.plot") != nullptr);
  REQUIRE(viewer.shell.find("memory.alive.row.0") != nullptr);
  CHECK(viewer.shell.find("memory.alive.row.0")->y0 > viewer.shell.find("memory.plot")->y1);
  viewer.check_inside();
}
