// Whether a stream is a terminal, where progress lines make sense. The system's part of the command line.
#pragma once

#include <cstdio>

namespace accelscope::app {

[[nodiscard]] bool is_terminal(std::FILE* stream) noexcept;

}  // namespace accelscope::app
