// Runs the OpenCL test program under the kind `opencl` and reads back what was written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/capture/kinds/probe_run.h"

namespace accelscope::capture {

using OpenclRun = ProbeRun;

// False, with a message for whoever runs the tests, if no OpenCL platform is there.
[[nodiscard]] bool opencl_is_there();
enum class Compiler : std::uint8_t { as_before, anew };  // whether what was compiled for earlier runs may be used
// `options` are settings of the kind: {"arguments", "off"}.
[[nodiscard]] OpenclRun run_traced(const std::vector<std::string>& arguments,
                                   const std::vector<std::pair<std::string, std::string>>& options = {},
                                   Compiler compiler = Compiler::as_before);
// Without a capture.
[[nodiscard]] OpenclRun run_plain(const std::vector<std::string>& arguments);

}  // namespace accelscope::capture
