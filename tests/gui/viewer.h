// The viewer in the null shell, as most GUI tests want it: empty, or with a small session open.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "app/frame/app.h"
#include "render/shell/null_shell.h"
#include "tests/support/small_session.h"
#include "tests/support/wait.h"

namespace accelscope::test {

// Waits for what workers do for a key or a click: small work, which a user sees a frame or two later.
inline void wait_for_answers(const app::session::SessionTab& tab) {
  while (tab.events->under_way() || tab.writer->unwritten()) std::this_thread::yield();
}

[[nodiscard]] inline Result<EventRecord> read_event(const app::session::SessionTab& tab, EventId id) {
  return EventReader(*tab.store, tab.snapshot).read(id);
}

// The viewer on a machine where what a frame asks for is there in the next one.
class QuickApp final : public render::FrameClient {
 public:
  explicit QuickApp(app::frame::App& app) : app_(app) {}
  void frame(render::Ui& ui) override {
    app_.frame(ui);
    for (std::size_t i = 0; i < app_.workspace().tab_count(); ++i) wait_for_answers(app_.workspace().tab(i));
  }
  void files_dropped(const std::vector<std::string>& paths) override { app_.files_dropped(paths); }
  [[nodiscard]] bool close_requested() override { return app_.close_requested(); }
  [[nodiscard]] bool wants_to_quit() const override { return app_.wants_to_quit(); }
  [[nodiscard]] bool animates() const override { return app_.animates(); }
  [[nodiscard]] bool settled() const override { return app_.settled(); }
  void set_wake(std::function<void()> wake) override { app_.set_wake(std::move(wake)); }

 private:
  app::frame::App& app_;
};

struct Viewer {
  explicit Viewer(app::frame::AppOptions options = {}) : app(std::move(options)), quick(app), shell(quick) {
    shell.frame(3);
  }

  void open(const std::string& path) {
    app.open(path);
    REQUIRE(shell.settle());
  }
  [[nodiscard]] app::session::SessionTab& tab() { return *app.workspace().active(); }
  void run(const char* command) {
    REQUIRE(app.commands().run(command));
    shell.frame(3);
  }
  // Frames until the condition holds; false after a long while.
  template <typename Condition>
  [[nodiscard]] bool wait_for(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() >= deadline || !shell.settle()) return condition();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // other threads are at work
    }
    return true;
  }

  // The same where nothing settles, as while a capture runs.
  template <typename Condition>
  [[nodiscard]] bool frames_until(Condition condition) {
    return step_until(condition, [this] { shell.frame(); });
  }

  app::frame::App app;
  QuickApp quick;
  render::NullShell shell;
};

struct OpenViewer : Viewer {
  explicit OpenViewer(app::frame::AppOptions options = {})
      : Viewer(std::move(options)), path(save_small_session(folder.path())) {
    open(path);
  }
  void select(EventId id) {
    tab().selected = id;
    shell.frame(2);
    REQUIRE(shell.settle());
  }
  TemporaryFolder folder;
  std::string path;
};

inline constexpr EventId kFirstMatmul = make_event_id(0, 0);  // of the small session: first lane, first event

}  // namespace accelscope::test
