// Whether a stream is a terminal, where progress lines make sense. The system's part of the command line.
#pragma once

#include <cstdio>
#include <string_view>

namespace accelscope::app {

inline constexpr std::string_view kEraseLine = "\r\x1b[2K";  // back to its beginning, and nothing left of it

[[nodiscard]] bool is_terminal(std::FILE* stream) noexcept;

}  // namespace accelscope::app
