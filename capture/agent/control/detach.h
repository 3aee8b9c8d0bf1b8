// An agent in the background: started from a shell or through ssh, it says where it listens and then leaves the
// terminal. What is particular to the operating system is in detach.cpp.
#pragma once

#include <functional>
#include <string>

namespace accelscope::capture::agent {

// Tells the starter that all is well, with a line for it to print. To be called once at most.
using Announce = std::function<void(const std::string& line)>;

// Runs the function in a process of its own session, and returns in this one once it has announced itself or ended:
// 0, or the function's status with what it had written to standard error. After the announcement its standard streams
// are closed, and the log file takes what it writes to standard error. Call it before any thread is started.
[[nodiscard]] int run_detached(const std::string& log_file, const std::function<int(const Announce&)>& function);

}  // namespace accelscope::capture::agent
