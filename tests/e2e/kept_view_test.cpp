// A session that is saved in the real window opens in it again as it was left.
#include <doctest/doctest.h>

#include "tests/e2e/desk.h"

using namespace accelscope;
using test::Desk;
using test::Screen;

TEST_CASE("a view that is zoomed, marked, searched and saved is found again when the real window opens the file") {
  Desk desk;
  desk.run_program({"simulate", "-o", desk.file("s.accel"), "--quiet"});
  desk.open_viewer(desk.file("s.accel"));
  const Screen untouched = desk.settle();
  REQUIRE(untouched.has("timeline.canvas"));
  desk.wheel(*untouched.find("timeline.canvas"), 3);
  desk.settle();
  desk.key("m");
  desk.settle();
  desk.key("ctrl+f");
  desk.type("dma");
  desk.key("Return");
  desk.wait_until("a hit is selected", [](const Screen& screen) {
    return screen.settled() && screen.tab("link").find(";selected=") != std::string::npos;
  });
  desk.key("ctrl+s");
  desk.wait_until("the view is saved", [](const Screen& screen) { return screen.shows("Saved the view"); });
  const Screen saved = desk.close_by_key();
  desk.open_viewer(desk.file("s.accel"));
  const Screen reopened = desk.close_by_key();
  CHECK(saved.tab("link").find(";search=dma") != std::string::npos);
  CHECK(reopened.tab("link") == saved.tab("link"));
  CHECK(untouched.tab("link") != saved.tab("link"));
  CHECK(reopened.tab("markers") == "1");
  CHECK(reopened.tab("modified") == "false");
}
