// What ssh says when it fails, in words that help: what is wrong and what to do.
#pragma once

#include <string>
#include <string_view>

#include "capture/reach/place.h"

namespace accelscope::capture::reach {

// "PLACE: what is wrong; what to do (ssh's last line)". `errors` is what ssh wrote to its standard error.
[[nodiscard]] std::string explain_ssh_failure(const Place& place, std::string_view errors);
// True if ssh said something that is known to be a failure.
[[nodiscard]] bool is_ssh_failure(std::string_view errors);

}  // namespace accelscope::capture::reach
