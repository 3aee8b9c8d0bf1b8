// The main job in one process: the demo starts a simulated accelerator behind a real agent, the viewer connects to it
// over loopback TCP, shows what comes live, stops, saves and opens again.
#include <chrono>
#include <thread>

#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

template <typename Condition>
void frames_until(Viewer& viewer, Condition condition) {
  const auto begin = std::chrono::steady_clock::now();
  while (!condition()) {
    viewer.shell.frame();
    REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
    std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE("demo: agent, TCP, live timelines, stop, save and reopen, from the start page's door") {
  const TemporaryFolder folder;
  Viewer viewer;
  REQUIRE(viewer.shell.click("start.demo"));
  REQUIRE(viewer.app.workspace().tab_count() == 1);
  frames_until(viewer, [&] { return viewer.tab().snapshot->event_count > 5'000; });
  CHECK(viewer.app.animates());
  CHECK(viewer.tab().live == LiveState::recording);
  CHECK(viewer.shell.shows("recording"));
  CHECK(viewer.shell.shows("events/s"));
  REQUIRE(viewer.shell.click("top.stop"));
  frames_until(viewer, [&] { return viewer.tab().live == LiveState::ended; });
  CHECK(viewer.app.workspace().last_error().empty());
  const std::uint64_t events = viewer.tab().snapshot->event_count;

  viewer.app.workspace().save(0, folder.file("demo.accel"));
  REQUIRE(viewer.shell.settle());
  CHECK_FALSE(viewer.tab().modified);
  viewer.app.workspace().close(0);
  viewer.open(folder.file("demo.accel"));
  CHECK(viewer.tab().snapshot->event_count == events);
  CHECK_FALSE(viewer.tab().snapshot->sources.empty());
}

TEST_CASE("connect: nobody listens, so the banner says where and what to try, and no empty tab stays behind") {
  Viewer viewer;
  viewer.app.workspace().connect("127.0.0.1:1");
  frames_until(viewer, [&] { return !viewer.app.workspace().notices().empty(); });
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("127.0.0.1:1"));
  CHECK(viewer.app.workspace().tab_count() == 0);
  CHECK(viewer.shell.shows("Connect to a device"));
}
