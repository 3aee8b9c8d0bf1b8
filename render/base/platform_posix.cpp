#include <cstdlib>
#include <filesystem>

#include "render/base/platform.h"

namespace accelscope::render {

std::string program_directory() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);  // Linux; elsewhere it is missing
  return error ? std::string() : program.parent_path().string();
}

std::vector<std::string> system_font_directories() {
  // Those that a viewer which is carried around has beside it come first.
  std::vector<std::string> directories = {program_directory() + "/../share/accelscope/fonts", "/usr/share/fonts",
                                          "/usr/local/share/fonts", "/Library/Fonts"};
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    for (const char* below : {"/.local/share/fonts", "/.fonts", "/Library/Fonts"}) {
      directories.push_back(std::string(home) + below);
    }
  }
  return directories;
}

}  // namespace accelscope::render
