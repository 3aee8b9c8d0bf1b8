// What is kept between runs: recent sessions, settings, the panel layout.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "app/frame/places.h"
#include "app/persist/persist.h"
#include "app/system/system_files.h"
#include "tests/support/small_session.h"

using namespace accelscope;
using namespace accelscope::app::persist;
using namespace accelscope::app;

namespace {

RecentSession session_named(const std::string& name) {
  return {.path = "/runs/" + name + ".accel",
          .title = name,
          .device = "trn1 nc0",
          .work_ns = 393'200,
          .events = 38'412,
          .opened_unix_s = 1'700'000'000,
          .warnings = 1};
}

}  // namespace

TEST_CASE("recent sessions: are there again after a restart, newest first, each path once") {
  const test::TemporaryFolder folder;
  RecentSessions first(folder.file("recent.txt"));
  REQUIRE(first.load().ok());
  REQUIRE(first.remember(session_named("a")).ok());
  REQUIRE(first.remember(session_named("tab\tline\nback\\slash")).ok());
  REQUIRE(first.remember(session_named("a")).ok());
  RecentSessions second(folder.file("recent.txt"));
  REQUIRE(second.load().ok());
  CHECK(second.list() == first.list());
  REQUIRE(second.list().size() == 2);
  CHECK(second.list()[0] == session_named("a"));
  CHECK(second.list()[1].title == "tab\tline\nback\\slash");
}

TEST_CASE("recent sessions: a damaged line loses that line only") {
  const test::TemporaryFolder folder;
  RecentSessions first(folder.file("recent.txt"));
  REQUIRE(first.remember(session_named("a")).ok());
  std::ofstream(folder.file("recent.txt"), std::ios::app) << "/half\tline\n\x01\x02\n/x\tt\td\tnot-a-number\t1\t2\t3\n";
  RecentSessions second(folder.file("recent.txt"));
  REQUIRE(second.load().ok());
  CHECK(second.list().size() == 1);
}

TEST_CASE("recent sessions: forgetting takes a session off the list for good") {
  const test::TemporaryFolder folder;
  RecentSessions list(folder.file("recent.txt"));
  REQUIRE(list.remember(session_named("a")).ok());
  REQUIRE(list.remember(session_named("b")).ok());
  REQUIRE(list.forget("/runs/b.accel").ok());
  RecentSessions again(folder.file("recent.txt"));
  REQUIRE(again.load().ok());
  REQUIRE(again.list().size() == 1);
  CHECK(again.list()[0].title == "a");
}

TEST_CASE("recent sessions: typed words find by name, device and path, whatever the case") {
  RecentSessions list("");
  REQUIRE(list.remember(session_named("mlp_fwd")).ok());
  REQUIRE(list.remember(session_named("softmax")).ok());
  CHECK(list.matching("").size() == 2);
  CHECK(list.matching("MLP trn1").size() == 1);
  CHECK(list.matching("runs").size() == 2);
  CHECK(list.matching("nothing").empty());
}

TEST_CASE("recent sessions: a folder that cannot be written is an error that names the file") {
  RecentSessions list("/proc/accelscope/recent.txt");
  const auto done = list.remember(session_named("a"));
  REQUIRE_FALSE(done.ok());
  CHECK(done.message().find("/proc/accelscope") != std::string::npos);
  CHECK(list.list().size() == 1);  // still usable in this run
}

TEST_CASE("recent sessions: the time of opening reads as people say it") {
  const std::int64_t noon = 1'763'726'400;  // some day, whatever the zone
  CHECK(format_when(noon, noon + 60).starts_with("today"));
  CHECK(format_when(noon - 86'400, noon) == "yesterday");
  CHECK(format_when(noon - 400LL * 86'400, noon).ends_with("2024"));
}

TEST_CASE("settings: theme, scale and unknown names of a newer version survive a restart") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("settings.txt")) << "from_the_future\tkeep me\n";
  Settings settings(folder.file("settings.txt"));
  REQUIRE(settings.load().ok());
  settings.set("theme", std::string("light"));
  settings.set("zoom", 1.25);
  REQUIRE(settings.write_if_changed().ok());
  Settings again(folder.file("settings.txt"));
  REQUIRE(again.load().ok());
  CHECK(again.value("theme") == "light");
  CHECK(again.number("zoom", 1) == 1.25);
  CHECK(again.value("from_the_future") == "keep me");
  CHECK(again.number("theme", 7) == 7);  // not a number
}

TEST_CASE("state folder: XDG_STATE_HOME first, then the home folder, and none without a home") {
  const auto with = [](std::string xdg, std::string home) {
    return system::state_directory([=](std::string_view name) {
      return name == "XDG_STATE_HOME" ? xdg : name == "HOME" ? home : std::string();
    });
  };
  CHECK(with("/state", "/home/u") == "/state/accelscope");
  CHECK(with("", "/home/u") == "/home/u/.local/state/accelscope");
  CHECK(with("relative/is/ignored", "/home/u") == "/home/u/.local/state/accelscope");
  CHECK(with("", "").empty());
  CHECK(system::shorten_home("/home/u/runs/a", "/home/u") == "~/runs/a");
  CHECK(system::shorten_home("/home/user2/a", "/home/u") == "/home/user2/a");
}

TEST_CASE("text records: any text comes back as it was written") {
  const TextRecord fields = {"", "a\tb", "\n", "\\", "\\t", "µs"};
  CHECK(decode_record(encode_record(fields)) == fields);
}

TEST_CASE("panel layout: what the user arranged is there again") {
  frame::PanelLayout layout;
  layout.move("memory", frame::Place::right);
  layout.close("metrics");
  layout.show("quality");
  layout.drag_splitter(frame::Place::right, -60, {0, 0, 1600, 800}, 1);
  const frame::PanelLayout again = frame::PanelLayout::from_text(layout.to_text());
  CHECK(again.to_text() == layout.to_text());
  CHECK(again.place("memory") == frame::Place::right);
  CHECK_FALSE(again.is_open("metrics"));
  CHECK(again.front(frame::Place::bottom) == "quality");
  CHECK(again.rects({0, 0, 1600, 800}, 1).places[0].width() == 552);
}

TEST_CASE("panel layout: nonsense in the settings leaves a usable window") {
  for (const char* text : {"", ";;=;", "right=-5;bottom=99999999999;", "source=nowhere;memory=right,front,closed"}) {
    const frame::PanelLayout layout = frame::PanelLayout::from_text(text);
    const auto rects = layout.rects({0, 0, 1600, 800}, 1);
    CHECK(rects.centre.width() > 400);
    CHECK(rects.centre.height() > 200);
  }
}

TEST_CASE("panel layout: closing the panel in front shows the next, and closing all gives the place to the timeline") {
  frame::PanelLayout layout;
  layout.close("selection");
  layout.close("details");
  CHECK(layout.front(frame::Place::bottom) == "search");
  for (const frame::PanelId id : layout.panels_in(frame::Place::bottom)) layout.close(id);
  const auto rects = layout.rects({0, 0, 1600, 800}, 1);
  CHECK(rects.places[1].empty());
  CHECK(rects.centre.height() == 800);
}

TEST_CASE("panel layout: a maximised panel fills everything, and restoring brings the timeline back") {
  frame::PanelLayout layout;
  layout.maximise("memory");
  CHECK(layout.is_seen("memory"));
  CHECK_FALSE(layout.is_seen("source"));
  CHECK(layout.rects({0, 0, 1600, 800}, 1).centre.empty());
  layout.restore();
  CHECK_FALSE(layout.rects({0, 0, 1600, 800}, 1).centre.empty());
}

TEST_CASE("panel layout: no window is so small, nor scale so large, that a splitter eats the timeline") {
  for (const float scale : {1.0F, 2.0F, 3.0F}) {
    for (const float width : {200.0F, 640.0F, 1600.0F}) {
      frame::PanelLayout layout;
      const render::Rect area{0, 0, width, width / 2};
      layout.drag_splitter(frame::Place::right, -5'000, area, scale);
      layout.drag_splitter(frame::Place::bottom, -5'000, area, scale);
      const auto rects = layout.rects(area, scale);
      CHECK(rects.centre.width() >= std::min(416 * scale, width / 2 - 4 * scale) - 1);
      CHECK(rects.centre.height() >= std::min(196 * scale, width / 4 - 4 * scale) - 1);
    }
  }
}
