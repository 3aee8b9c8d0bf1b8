// The main job from end to end, as a user would do it by hand: the viewer connects to an agent over TCP, shows its
// timelines while they come in, saves the session and opens the file again. With a window it does so before the
// user's eyes and stays open; without one it writes a picture of each stage.
#pragma once

#include <functional>
#include <string>

#include "core/base/result.h"

namespace accelscope::app {

struct DemoOptions {
  std::string address;  // of a running agent
  std::string folder;   // for the session file and the pictures; made if it is not there
  bool window = false;
  int width = 1600;
  int height = 900;
  std::function<void(const std::string&)> say;  // one line for each thing done
};

// Fails with the stage that failed and why.
Result<void> run_demo(const DemoOptions& options);

}  // namespace accelscope::app
