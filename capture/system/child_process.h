// Runs a vendor's tool: starts it, gathers what it prints, waits for its end, and ends it with everything that it
// started when the user cancels.
//
//   const std::string tool = find_program("neuron-profile");
//   Result<ChildOutcome> ended = run_child({tool, "view", ...}, [&] { return sink.cancelled(); });
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::capture::system {

// The program's whole path: looked for on PATH, then in the further folders. "" if there is none.
[[nodiscard]] std::string find_program(std::string_view name, const std::vector<std::string>& further_folders = {});

struct ChildOutcome {
  int exit_code = 0;  // 128 + the signal's number if one ended it, as shells say it
  bool cancelled = false;
  std::string output;  // standard output and error, the last kMaxOutputBytes of it
};
inline constexpr std::size_t kMaxOutputBytes = 64U << 10;

// Asks for cancellation some ten times a second. Fails only if the program cannot be started.
[[nodiscard]] Result<ChildOutcome> run_child(const std::vector<std::string>& argv,
                                             const std::function<bool()>& cancelled);

// Starts a program that is nobody's business here: an editor. It has the signals of a program that a shell has started
// in the foreground, a session of its own, and outlives this process.

// Waits for a moment (a quarter of a second at most) whether it ends at once with a failure, then leaves it alone. For
// a worker. Errors give the command and why the system did not start it, with the number that it gave, or what it
// returned. argv: the program's whole path first.
Result<void> start_detached(const std::vector<std::string>& argv);

// Starts a program: the one place that calls the system for it. What becomes of it - watched, used, waited for - is its
// owner's business: supervised_child.h, child_process.h, capture/reach/tool.h.
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
