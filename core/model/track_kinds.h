// What kinds of track there are to those who treat some of them in their own way.
#pragma once

#include <string_view>

namespace accelscope {

// Tracks of this kind show the host's own work.
[[nodiscard]] constexpr bool is_host_thread(std::string_view track_kind) noexcept {
  return track_kind == "host_thread";
}

}  // namespace accelscope
