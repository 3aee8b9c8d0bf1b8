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

}  // namespace accelscope::capture::system
