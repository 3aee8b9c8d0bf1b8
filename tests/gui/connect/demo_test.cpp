// The main job in one process: the demo starts a simulated accelerator behind a real agent, the viewer connects to it
// over loopback TCP, shows what comes live, stops, saves and opens again.
#include <algorithm>

#include "app/timeline/frame.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

TEST_CASE("demo: agent, TCP, live timelines, stop, save and reopen, from the start page's door") {
  const TemporaryFolder folder;
  Viewer viewer;
  REQUIRE(viewer.shell.click("start.demo"));
  REQUIRE(viewer.frames_until([&] { return viewer.app.workspace().tab_count() == 1; }));
  REQUIRE(viewer.frames_until([&] { return viewer.tab().snapshot->event_count > 5'000; }));
  CHECK(viewer.app.animates());
  CHECK(viewer.tab().live == session::LiveState::recording);
  CHECK(viewer.shell.shows("recording"));
  CHECK(viewer.shell.shows("events/s"));
  REQUIRE(viewer.shell.click("top.stop"));
  REQUIRE(viewer.frames_until([&] { return viewer.tab().live == session::LiveState::ended; }));
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

TEST_CASE("demo: a pause stops the device's time, renames nothing, and what comes after it is followed") {
  Viewer viewer;
  REQUIRE(viewer.shell.click("start.demo"));
  REQUIRE(viewer.frames_until([&] { return viewer.app.workspace().tab_count() == 1; }));
  REQUIRE(viewer.frames_until([&] { return viewer.tab().snapshot->event_count > 5'000; }));
  const auto groups = [&] {
    std::vector<std::string> names;
    for (const rows::TimelineRow& row : viewer.tab().timeline->rows) {
      if (row.kind == rows::RowKind::group && row.label != "Capture") names.push_back(row.label);
    }
    return names;
  };
  const auto paused = [&] { return viewer.tab().capture.phase == capture::client::CapturePhase::paused; };
  REQUIRE(viewer.shell.click("top.pause"));
  REQUIRE(viewer.frames_until(paused));
  const std::vector<std::string> before = groups();
  const std::uint64_t events = viewer.tab().snapshot->event_count;
  viewer.shell.key(render::Key::e, {.ctrl = true, .shift = true});
  REQUIRE(viewer.frames_until([&] { return !paused() && viewer.tab().snapshot->event_count > events + 5'000; }));

  const Snapshot& snapshot = *viewer.tab().snapshot;
  std::int64_t device_end = 0;
  std::int64_t pause_at = -1;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    const TrackSnapshot* track = snapshot.find_track(lane.track);
    if (track == nullptr || lane.event_count == 0) continue;
    const std::int64_t end = lane.clock ? lane.clock->to_ns(lane.end_ticks) : lane.end_ticks;
    if (track->track->kind == "capture") pause_at = end;
    if (track->track->kind != "capture") device_end = std::max(device_end, end);
  }
  CHECK(pause_at > 0);
  CHECK(pause_at <= device_end);
  CHECK(snapshot.end_ns < 1'000'000'000);  // the device has been at work for milliseconds
  CHECK(groups() == before);
  CHECK(viewer.tab().follow);
  CHECK(viewer.tab().view.end_ns <= static_cast<double>(snapshot.end_ns) + 1);
  viewer.shell.key(render::Key::e, {.ctrl = true});
  REQUIRE(viewer.frames_until([&] { return viewer.tab().live == session::LiveState::ended; }));
  REQUIRE(viewer.shell.settle());
  CHECK_FALSE(viewer.tab().follow);
}

TEST_CASE("connect: nobody listens, so the banner says where and what to try, and no empty tab stays behind") {
  Viewer viewer;
  viewer.app.workspace().connect("127.0.0.1:1");
  REQUIRE(viewer.frames_until([&] { return !viewer.app.workspace().notices().empty(); }));
  viewer.shell.frame(2);
  CHECK(viewer.shell.shows("127.0.0.1:1"));
  CHECK(viewer.app.workspace().tab_count() == 0);
  CHECK(viewer.shell.shows("Connect to a device"));
}
