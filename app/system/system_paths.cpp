#include "app/system/system_files.h"

#include <cstdlib>
#include <filesystem>

namespace accelscope::app {

namespace fs = std::filesystem;

Environment process_environment() {
  return [](std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return std::string(value != nullptr ? value : "");
  };
}

std::string home_directory(const Environment& environment) {
#if defined(_WIN32)
  return environment("USERPROFILE");
#else
  return environment("HOME");
#endif
}

std::string state_directory(const Environment& environment) {
#if defined(_WIN32)
  const std::string base = environment("LOCALAPPDATA");
  return base.empty() ? "" : (fs::path(base) / "Accelscope").string();
#elif defined(__APPLE__)
  const std::string home = home_directory(environment);
  return home.empty() ? "" : (fs::path(home) / "Library" / "Application Support" / "Accelscope").string();
#else
  const std::string base = environment("XDG_STATE_HOME");
  if (!base.empty() && fs::path(base).is_absolute()) return (fs::path(base) / "accelscope").string();
  const std::string home = home_directory(environment);
  return home.empty() ? "" : (fs::path(home) / ".local" / "state" / "accelscope").string();
#endif
}

std::string shorten_home(const std::string& path, const std::string& home) {
  if (home.size() < 2 || path.compare(0, home.size(), home) != 0) return path;
  if (path.size() > home.size() && path[home.size()] != '/' && path[home.size()] != '\\') return path;
  return "~" + path.substr(home.size());
}

std::vector<NamedPlace> standard_places(const Environment& environment) {
  std::vector<NamedPlace> places;
  const std::string home = home_directory(environment);
  std::error_code error;
  if (!home.empty() && fs::is_directory(home, error)) places.push_back({"Home", home});
  const fs::path working = fs::current_path(error);
  if (!error && working.string() != home) places.push_back({"Working folder", working.string()});
  const fs::path temporary = fs::temp_directory_path(error);
  if (!error) places.push_back({"Temporary files", temporary.string()});
#if defined(_WIN32)
  for (char letter = 'C'; letter <= 'Z'; ++letter) {
    const std::string drive = std::string(1, letter) + ":\\";
    if (fs::exists(drive, error)) places.push_back({drive, drive});
  }
#else
  places.push_back({"Computer", "/"});
#endif
  return places;
}

}  // namespace accelscope::app
