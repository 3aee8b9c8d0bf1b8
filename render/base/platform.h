// What only the operating system can tell. Implemented once per system: platform_posix.cpp.
#pragma once

#include <string>
#include <vector>

namespace accelscope::render {

// The folder of the running program, for what ships beside it; empty when it cannot be told.
[[nodiscard]] std::string program_directory();
// The system's and the user's folders of font files.
[[nodiscard]] std::vector<std::string> system_font_directories();

}  // namespace accelscope::render
