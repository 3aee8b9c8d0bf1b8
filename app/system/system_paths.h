// Where this system keeps what a program remembers, and where its user keeps files. The only file of app/ that
// knows one system from another. Functions take the environment as an argument so that tests can give their own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::app {

// Value of an environment variable, "" if unset.
using Environment = std::function<std::string(std::string_view name)>;
[[nodiscard]] Environment process_environment();

// Folder for recent sessions and settings; it may not exist yet. "" when the system names no home.
[[nodiscard]] std::string state_directory(const Environment& environment);
[[nodiscard]] std::string home_directory(const Environment& environment);

// A path as titles show it: the home folder becomes "~".
[[nodiscard]] std::string shorten_home(const std::string& path, const std::string& home);

struct NamedPlace {
  std::string name;
  std::string path;
};
// Where a file dialog starts: home, the working folder, the root (or drives).
[[nodiscard]] std::vector<NamedPlace> standard_places(const Environment& environment);

}  // namespace accelscope::app
