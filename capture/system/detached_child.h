// Starts a program that is nobody's business here: an editor. It has the signals of a program that a shell has started
// in the foreground, a session of its own, and outlives this process.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace accelscope::capture::system {

// Waits for a moment (a quarter of a second at most) whether it ends at once with a failure, then leaves it alone. For
// a worker. Errors give the command and why the system did not start it, with the number that it gave, or what it
// returned. argv: the program's whole path first.
Result<void> start_detached(const std::vector<std::string>& argv);

}  // namespace accelscope::capture::system
