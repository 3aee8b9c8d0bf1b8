// Whether a stream is a terminal, where progress lines make sense, and how such a line is taken back. The system's part
// of the command line.
#pragma once

#include <cstdio>
#include <iosfwd>

namespace accelscope::app {

// Back to the line's beginning, and nothing left of it: the one control that commands themselves send, past what cleans
// their text (core/base/plain_text.h).
std::ostream& erase_line(std::ostream& stream);

[[nodiscard]] bool is_terminal(std::FILE* stream) noexcept;

}  // namespace accelscope::app
