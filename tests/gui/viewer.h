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

namespace accelscope::test {

struct Viewer {
  explicit Viewer(app::AppOptions options = {}) : app(std::move(options)), shell(app) { shell.frame(3); }

  void open(const std::string& path) {
    app.open(path);
    REQUIRE(shell.settle());
  }
  [[nodiscard]] app::SessionTab& tab() { return *app.workspace().active(); }
  void run(const char* command) {
    REQUIRE(app.commands().run(command));
    shell.frame(3);
  }
  // Frames until the condition holds; false after a long while.
  template <typename Condition>
  [[nodiscard]] bool wait_for(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() >= deadline || !shell.settle()) return condition();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // other threads are at work
    }
    return true;
  }

  app::App app;
  render::NullShell shell;
};

struct OpenViewer : Viewer {
  explicit OpenViewer(app::AppOptions options = {})
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
