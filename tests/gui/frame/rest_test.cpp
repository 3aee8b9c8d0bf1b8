// A viewer that nobody touches: what it owes the user comes all the same, and then it draws nothing.
#include <sqlite3.h>

#include <algorithm>

#include "app/timeline/frame.h"
#include "tests/gui/frame/sample_sessions.h"
#include "tests/gui/held_pool.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;
using render::Point;

namespace {

// The pointer on the first MATMUL of the small session.
Point on_first_matmul(OpenViewer& viewer) {
  viewer.tab().show({900, 2'100});
  viewer.shell.frame(3);
  REQUIRE(viewer.shell.settle());
  const render::Rect canvas = *viewer.shell.find("timeline.canvas");
  for (const timeline::DrawnRow& row : viewer.tab().timeline->drawn_rows) {
    if (viewer.tab().timeline->rows[row.row].label != "Tensor") continue;
    const session::ViewRange& view = viewer.tab().view;
    const double share = (1'050 - view.begin_ns) / view.span_ns();
    return {canvas.x0 + static_cast<float>(share) * canvas.width(), row.rect.centre().y};
  }
  FAIL("no lane Tensor");
  return {};
}

}  // namespace

TEST_CASE("rest: the card of an event comes when the pointer rests on it and nothing else happens") {
  OpenViewer viewer;
  const Point at = on_first_matmul(viewer);
  const auto card_is_seen = [&] {
    const auto& texts = viewer.shell.ui().texts();
    return std::any_of(texts.begin(), texts.end(), [](const auto& shown) { return shown.text == "Duration"; });
  };
  viewer.shell.move({5, 5});
  REQUIRE(viewer.shell.rest_until([&] { return viewer.shell.rest(5) == 0; }));
  CHECK_FALSE(card_is_seen());
  viewer.shell.move(at);
  CHECK(viewer.shell.rest_until(card_is_seen));
}

TEST_CASE("rest: an open session draws no frame while nothing happens") {
  OpenViewer viewer;
  viewer.shell.move({5, 5});
  REQUIRE(viewer.shell.rest_until([&] { return viewer.shell.rest(5) == 0; }));
  CHECK(viewer.shell.rest(600) == 0);
}

// Workers end what they do before each sleep of the window, so that what their end asks for is seen.
TEST_CASE("rest: once all is known of a session no answer, no status and no clean-up draws a further frame") {
  for (const char* kind : {"kernel", "trace"}) {
    CAPTURE(kind);
    const TemporaryFolder folder;
    Viewer viewer;
    viewer.open(save_sample(folder.path(), kind));
    viewer.shell.move({5, 5});
    const auto frames_in = [&](int sleeps) {
      return viewer.shell.sleep(sleeps, [&] { meet_workers(viewer.app.workspace().pool()); });
    };
    constexpr int kFewSeconds = 16;  // sleeps of a quarter of a second
    int waited = 0;
    while (frames_in(kFewSeconds) > 0 && waited < 10) ++waited;
    CHECK(waited < 10);
    CHECK(frames_in(20 * kFewSeconds) == 0);
    // Answers that each frame replaces, as while somebody types, are freed together, and not by a frame for each.
    for (int i = 0; i < 200; ++i) {
      viewer.tab().choices.search = "E" + std::to_string(i);
      viewer.shell.frame();
      meet_workers(viewer.app.workspace().pool());
    }
    viewer.shell.rest(2);
    viewer.shell.move({6, 6});
    CHECK(frames_in(kFewSeconds) < 20);
    CHECK(frames_in(20 * kFewSeconds) == 0);
  }
}

TEST_CASE("rest: the start page draws no frame while nothing happens") {
  Viewer viewer;
  REQUIRE(viewer.shell.rest_until([&] { return viewer.shell.rest(5) == 0; }));
  CHECK(viewer.shell.rest(600) == 0);
}

TEST_CASE("rest: what a worker has found out is shown though nobody moves the mouse") {
  const TemporaryFolder folder;
  const std::string path = save_small_session(folder.path());
  Viewer viewer;
  viewer.app.open(path);
  REQUIRE(viewer.shell.rest_until([&] { return viewer.app.workspace().tab_count() == 1; }));
  CHECK(viewer.shell.rest_until([&] {
    return !viewer.shell.shows("Looking for what bounds it") && viewer.shell.find("verdict.bound") != nullptr;
  }));
}

TEST_CASE("rest: a session with a chunk that cannot be read says so, and then draws no frame") {
  const TemporaryFolder folder;
  const std::string path = save_small_session(folder.path());
  sqlite3* file = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &file) == SQLITE_OK);
  REQUIRE(sqlite3_exec(file, "UPDATE chunk SET payload = zeroblob(length(payload)) WHERE id = 1", nullptr, nullptr,
                       nullptr) == SQLITE_OK);
  sqlite3_close(file);
  Viewer viewer;
  viewer.app.open(path);
  REQUIRE(viewer.shell.rest_until([&] { return viewer.app.workspace().tab_count() == 1; }));
  viewer.app.layout().show("selection");
  CHECK(viewer.shell.rest_until(
      [&] { return viewer.shell.shows("chunk") && !viewer.shell.shows("Adding up the session's events"); }));
  CHECK(viewer.shell.rest_until([&] { return viewer.shell.rest(5) == 0; }));
}

TEST_CASE("menus: the keys that are typed into an open menu do nothing to what lies below") {
  OpenViewer viewer;
  REQUIRE(viewer.shell.click("bottom.menu"));
  REQUIRE(viewer.shell.shows("Move to the right"));
  const session::ViewRange before = viewer.tab().view;
  for (const Key key : {Key::l, Key::a, Key::y, Key::e, Key::r, Key::w, Key::m}) viewer.shell.key(key);
  CHECK(viewer.tab().view == before);
  CHECK(viewer.tab().markers.empty());
  CHECK_FALSE(viewer.shell.ui().typing());  // no field was opened
  CHECK(viewer.shell.shows("Move to the right"));
  viewer.shell.key(Key::escape);
  CHECK_FALSE(viewer.shell.shows("Move to the right"));
}

TEST_CASE("dialogs: Esc closes one at once, also out of its field") {
  OpenViewer viewer;
  for (const std::string name : {"go_to_time", "keys", "connect", "go_to_link"}) {
    CAPTURE(name);
    viewer.run(name.c_str());
    REQUIRE(viewer.shell.find(name + ".close") != nullptr);
    if (name == "keys") REQUIRE(viewer.shell.click("keys.filter"));
    viewer.shell.type("1");
    viewer.shell.key(Key::escape);
    viewer.shell.frame(2);
    CHECK(viewer.shell.find(name + ".close") == nullptr);
  }
}

TEST_CASE("start page: on a laptop its doors have whole names") {
  Viewer viewer;
  viewer.shell.resize(1280, 720, 1);
  viewer.shell.frame(3);
  for (const char* whole : {"Open a file or folder", "Connect to a device", "Try the demo",
                            "Simulated; needs no hardware", "A session, or any known trace"}) {
    CAPTURE(whole);
    CHECK(viewer.shell.shows(whole));
  }
}
