// Whose code a line of source is: the user's own, or that of a framework or of the language's library, which only
// carries out what a line of the user's asked for.
#pragma once

#include <string_view>

namespace accelscope::analysis {

// By the path as profilers write it: whole, or without the folder that the package was found in ("torch/nn/...").
[[nodiscard]] bool is_framework_path(std::string_view path) noexcept;

// Calls of the language's library in which a thread only waits: for a lock, a time, another thread's data. Profilers of
// Python write them with the addresses of their objects, "<built-in method acquire of _thread.lock object at 0x7f...>",
// or as frames, "threading.py(359): wait".
[[nodiscard]] bool is_waiting_call(std::string_view name) noexcept;

// Names that mark a stretch of a program among its calls, as older profilers write them: "ProfilerStep#8".
[[nodiscard]] bool is_mark(std::string_view name) noexcept;

}  // namespace accelscope::analysis
