// Finds the IP addresses of a host's name without holding up a loop: the system's resolver may take half a minute to
// say that nobody answers, and cannot be interrupted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/wire/link.h"

namespace accelscope::capture::wire {

// The IP addresses to try, in order, as text; an IP address is its own. The error says that the host cannot be found,
// and why.
[[nodiscard]] Result<std::vector<std::string>> find_host(const std::string& host);

// The same on a thread of its own; calls back on the loop's thread, or never if the loop is gone by then.
void find_host(Loop& loop, const std::string& host, std::function<void(Result<std::vector<std::string>>)> callback);

}  // namespace accelscope::capture::wire
