// Writes what the viewer shows into a file whenever that changes, so that whoever drives the window from outside (a
// test with a virtual display) can wait for a state and find what to click. One JSON object: App::dump_state(), whether
// the viewer has settled after the last input, how many clicks, wheel notches and key presses it has had, where its
// widgets are in pixels of the window, and the texts on the screen.
#pragma once

#include <string>

#include "app/frame/app.h"

namespace accelscope::app::terminal {

class StateFile final : public render::FrameClient {
 public:
  StateFile(frame::App& app, std::string path) : app_(app), path_(std::move(path)) {}

  void frame(render::Ui& ui) override;
  void files_dropped(const std::vector<std::string>& paths) override { app_.files_dropped(paths); }
  [[nodiscard]] bool close_requested() override { return app_.close_requested(); }
  [[nodiscard]] bool wants_to_quit() const override { return app_.wants_to_quit(); }
  [[nodiscard]] bool animates() const override { return app_.animates(); }
  [[nodiscard]] bool settled() const override { return app_.settled(); }
  void set_wake(std::function<void()> wake) override { app_.set_wake(std::move(wake)); }

  // Of the last time that the file was written: it fails when it cannot be.
  [[nodiscard]] const Result<void>& written() const noexcept { return written_; }

 private:
  void count(const render::Input& input);

  frame::App& app_;
  render::Input before_;
  int clicks_ = 0;
  int keys_ = 0;
  double notches_ = 0;
  int quiet_frames_ = 0;  // since the last input
  std::string path_;
  std::string state_;  // of the last frame
  std::string last_;   // that was written
  Result<void> written_;
};

}  // namespace accelscope::app::terminal
