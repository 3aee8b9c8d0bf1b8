// A store that does not answer: whatever the user does, no frame waits for it, and what was asked for comes when it
// answers again. No machine waits for its own UI thread here, so that what a frame asks of the database is seen at
// once.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/palette/command_table.h"
#include "app/timeline/frame.h"
#include "app/timeline/panel.h"
#include "core/base/format.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;
using render::Point;
using render::Rect;

namespace {

// Before the database of a store: shut, it lets nobody pass but the UI thread, whose every use is counted.
class Gate {
 public:
  void pass() {
    if (std::this_thread::get_id() == ui_) {
      ++on_ui_thread_;
      return;
    }
    std::unique_lock lock(mutex_);
    open_.wait(lock, [this] { return !shut_; });
  }
  void shut(bool shut) {
    {
      const std::scoped_lock lock(mutex_);
      shut_ = shut;
    }
    open_.notify_all();
  }
  [[nodiscard]] int uses_on_ui_thread() const { return on_ui_thread_; }

 private:
  const std::thread::id ui_ = std::this_thread::get_id();
  int on_ui_thread_ = 0;
  std::mutex mutex_;
  std::condition_variable open_;
  bool shut_ = false;
};

struct SlowStore {
  TemporaryFolder folder;
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  std::string path = save_small_session(folder.path());
  frame::App app;
  render::NullShell shell{app};

  SlowStore() {
    workspace::OpenedSession opened;
    opened.store = std::move(Store::open(path)).value();
    opened.path = path;
    opened.title = "small";
    opened.retained = session::read_retained(*opened.store);
    opened.store->on_database_use([gate = gate] { gate->pass(); });
    (void)app.workspace().adopt(std::move(opened));
    shell.frame(3);
  }
  ~SlowStore() { gate->shut(false); }
  [[nodiscard]] session::SessionTab& tab() { return *app.workspace().active(); }
  void select(EventId id) {
    tab().selected = id;
    shell.frame(2);
  }
  void escape() {
    for (int i = 0; i < 3; ++i) shell.key(Key::escape);
  }
  [[nodiscard]] bool until(const std::function<bool()>& condition) { return shell.rest_until(condition); }

  // All of a lane: its slices one by one, and so narrow that they are looked for.
  void touch_timeline() {
    for (const session::ViewRange view : {session::ViewRange{900, 2'100}, session::ViewRange{-4e7, 6e7}}) {
      for (const auto& [button, times] :
           {std::pair(render::MouseButton::left, 1), {render::MouseButton::left, 2}, {render::MouseButton::right, 1}}) {
        tab().show(view);
        shell.frame(2);
        const Rect canvas = *shell.find("timeline.canvas");
        const double x = (1'050 - view.begin_ns) / view.span_ns() * static_cast<double>(canvas.width());
        for (std::size_t row = 0; row < tab().timeline->drawn_rows.size(); ++row) {
          const Point at{canvas.x0 + static_cast<float>(x), tab().timeline->drawn_rows[row].rect.centre().y};
          shell.move(at);
          shell.wait(0.5);  // the card
          shell.click(at, button, times);
          for (const char* item : {"fit", "span", "copy_event", "filter_selection"}) {
            if (button != render::MouseButton::right || !shell.click("timeline.menu." + std::string(item))) break;
            shell.click(at, button, times);
          }
          escape();
        }
      }
    }
    tab().change([](session::ViewChoices& choices) { choices = {}; });
    tab().show({900, 5'000});
  }
  void touch_panels() {
    for (const frame::PanelInfo& panel : frame::all_panels()) {
      const auto bring = [&] {
        app.layout().maximise(panel.name);
        select(kFirstMatmul);
      };
      bring();
      shell.wait(0.3);
      std::vector<std::string> widgets;
      for (const auto& [name, rect] : shell.ui().widgets()) {
        if (name.starts_with(panel.name) || (panel.name == "details" && name.starts_with("details"))) {
          widgets.push_back(name);
        }
      }
      std::sort(widgets.begin(), widgets.end());
      for (const std::string& name : widgets) {
        bring();
        if (shell.click(name)) shell.frame(2);
        escape();
      }
      app.layout().restore();
    }
  }
  void run_commands() {
    for (const timeline::TimelineCommand& info : timeline::timeline_commands()) {
      for (const char* key : {info.key, info.second_key}) {
        if (const auto chord = palette::parse_chord(key)) {
          select(kFirstMatmul + 3);
          tab().also_selected = {kFirstMatmul};
          shell.key(chord->key, chord->modifiers);
          shell.frame(2);
        }
      }
    }
    std::vector<std::string> ids;
    for (const palette::Command& command : app.commands().all()) ids.push_back(command.id);
    for (const std::string& id : ids) {
      if (id == "quit" || id == "close" || id == "demo") continue;  // the end is below, a capture is elsewhere
      select(kFirstMatmul + 3);
      tab().choices.search = "MATMUL";
      (void)app.commands().run(id);
      shell.frame(3);
      escape();
      app.workspace().activate(0);  // from the start page
    }
    app.layout().reset();
  }
  void search() {
    select(kFirstMatmul);
    shell.key(Key::f, {.ctrl = true});
    shell.type("MATMUL");
    shell.key(Key::enter);
    for (int i = 0; i < 3; ++i) shell.key(Key::f3);
    escape();
    (void)app.dump_state();
  }
  void touch_all() {
    touch_timeline();
    touch_panels();
    run_commands();
    search();
  }
};

}  // namespace

TEST_CASE_FIXTURE(SlowStore, "slow store: no panel, key, command, click or hover asks the database on the UI thread") {
  REQUIRE(shell.settle());
  touch_all();
  CHECK(gate->uses_on_ui_thread() == 0);
  // The same before anything is known of another copy of it, and while nothing comes.
  gate->shut(true);
  touch_all();
  CHECK(gate->uses_on_ui_thread() == 0);
  gate->shut(false);
  CHECK(shell.settle());
  CHECK(gate->uses_on_ui_thread() == 0);
}

TEST_CASE_FIXTURE(SlowStore, "slow store: a session that never answers is drawn from what its index knows") {
  gate->shut(true);
  touch_timeline();
  touch_panels();
  CHECK(shell.shows("Tensor"));
  CHECK(gate->uses_on_ui_thread() == 0);
}

TEST_CASE_FIXTURE(SlowStore, "slow store: every step that was asked for is made, and a later choice overrules them") {
  REQUIRE(shell.settle());
  select(kFirstMatmul + 5);
  REQUIRE(shell.settle());
  gate->shut(true);
  for (int i = 0; i < 3; ++i) shell.key(Key::period);
  shell.key(Key::comma);
  shell.key(Key::period, {.shift = true});
  CHECK(tab().selected == kFirstMatmul + 5);
  gate->shut(false);
  REQUIRE(until([&] { return tab().selected == kFirstMatmul + 8; }));

  gate->shut(true);
  shell.key(Key::period);
  select(kFirstMatmul + 1);
  gate->shut(false);
  REQUIRE(shell.settle());
  CHECK(tab().selected == kFirstMatmul + 1);
}

TEST_CASE_FIXTURE(SlowStore, "slow store: markers are there at once, and in the file once it answers") {
  REQUIRE(shell.settle());
  gate->shut(true);
  shell.move(shell.find("timeline.canvas")->centre());
  shell.key(Key::m);
  REQUIRE(tab().markers.size() == 1);
  Marker renamed = tab().markers.front();
  renamed.name = "begin";
  session::put_marker(tab(), renamed);
  session::put_marker(tab(), {0, "", 1'000'000, std::nullopt, "gone", ""});
  session::remove_marker(tab(), tab().markers.back().id);
  shell.frame(3);
  CHECK(shell.shows("begin"));
  CHECK(tab().markers.size() == 1);
  gate->shut(false);
  REQUIRE(shell.settle());
  const auto stored = Store::open(path);
  REQUIRE(stored.ok());
  REQUIRE((*stored)->markers().size() == 1);
  CHECK((*stored)->markers().front().name == "begin");
  CHECK((*stored)->markers().front().id == tab().markers.front().id);
}

TEST_CASE_FIXTURE(SlowStore, "slow store: what is saved has the markers that were dropped just before") {
  REQUIRE(shell.settle());
  gate->shut(true);
  session::put_marker(tab(), {0, "", 2'000, std::nullopt, "last", ""});
  const std::string copy = folder.file("copy.accel");
  app.workspace().save(0, copy);
  shell.frame(3);
  gate->shut(false);
  REQUIRE(shell.settle());
  CHECK_FALSE(tab().modified);
  const auto stored = Store::open(copy);
  REQUIRE(stored.ok());
  REQUIRE((*stored)->markers().size() == 1);
  CHECK((*stored)->markers().front().name == "last");
}

TEST_CASE_FIXTURE(SlowStore,
                  "slow store: Details keeps its event for a moment, says that it reads, and shows what comes") {
  app.layout().show("details");
  REQUIRE(shell.settle());
  select(kFirstMatmul);
  REQUIRE(shell.settle());
  REQUIRE(shell.shows("Waited before"));
  gate->shut(true);
  tab().selected = kFirstMatmul + 9;
  shell.frame(3);
  CHECK(shell.shows("Waited before"));
  REQUIRE(until([&] { return shell.shows("Reading the event"); }));
  gate->shut(false);
  CHECK(until([&] { return shell.shows(format_time_exact(2'800)) && !shell.shows("Reading the event"); }));
}

TEST_CASE_FIXTURE(SlowStore, "slow store: a tab closes at once, and opened again it has what was dropped before") {
  REQUIRE(shell.settle());
  gate->shut(true);
  tab().show({1'000, 1'500});  // windows of the lanes are being read
  shell.frame(2);
  session::put_marker(tab(), {0, "", 2'000, std::nullopt, "last", ""});
  CHECK(app.commands().run("close"));
  shell.frame(3);
  CHECK(app.workspace().tab_count() == 0);
  app.open(path);
  shell.frame(3);
  CHECK(gate->uses_on_ui_thread() == 0);
  gate->shut(false);
  REQUIRE(shell.settle());
  REQUIRE(app.workspace().tab_count() == 1);
  REQUIRE(tab().markers.size() == 1);
  CHECK(tab().markers.front().name == "last");
}
