// What a host and a process on it are called where captures tell of them.
#pragma once

#include <string>

namespace accelscope::capture::system {

[[nodiscard]] std::string host_name();  // "" if the system does not say
[[nodiscard]] std::string random_id();  // 16 hex digits, other ones each time

}  // namespace accelscope::capture::system
