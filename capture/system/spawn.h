// Starts a program: the one place that calls the system for it. What becomes of it - watched, used, waited for - is its
// owner's business: supervised_child.h, child_process.h, capture/reach/tool.h.
#pragma once

#include <string>
#include <vector>

namespace accelscope::capture::system {

struct Spawn {
  std::string path;                      // of the program, whole
  std::vector<std::string> argv;         // its name first
  std::vector<std::string> environment;  // "NAME=VALUE", in place of or beside this process's own
  std::string directory;                 // in which it runs; "": this process's
  int input = -1;                        // -1: /dev/null
  int output = -1, errors = -1;
  int held = -1;                 // stays open in it as descriptor 3, such as a lock; -1: none
  bool shares_terminal = false;  // else it gets a session and group of its own, without questions or Ctrl+C from ours
};

// 0 and the process's id, or the system's error number. Descriptors that this process itself was given stay behind.
[[nodiscard]] int spawn(const Spawn& start, int& id);

// This process's environment with the settings in place of those of the same names; of several the last counts.
[[nodiscard]] std::vector<std::string> merged_environment(const std::vector<std::string>& settings);

// As shells say it: 128 + the signal's number if one ended it. Of a status that wait() gives.
[[nodiscard]] int exit_code_of(int status) noexcept;

}  // namespace accelscope::capture::system
