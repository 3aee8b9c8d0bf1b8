// Where vendors' libraries lie: shared by probes, which look from inside a program, and by the agent, which tells what
// a host has. Inline, since probes link nothing.
#pragma once

#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace accelscope::probe {

// The number behind the last ".so." of a path; 0: none.
[[nodiscard]] inline int library_major(const std::string& path) {
  const std::size_t at = path.rfind(".so.");
  return at == std::string::npos ? 0 : std::atoi(path.c_str() + at + 4);
}

// Files that fit the patterns, of one pattern the newest first, each once and by its own name, whatever links lead to
// it.
[[nodiscard]] inline std::vector<std::string> matching_files(const std::vector<std::string>& patterns) {
  std::vector<std::string> found;
  std::set<std::string> known;
  for (const std::string& pattern : patterns) {
    glob_t matches{};
    std::vector<std::string> of_pattern;
    if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
      of_pattern.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    }
    ::globfree(&matches);
    std::stable_sort(of_pattern.begin(), of_pattern.end(),
                     [](const std::string& a, const std::string& b) { return library_major(a) > library_major(b); });
    for (const std::string& path : of_pattern) {
      char* real = ::realpath(path.c_str(), nullptr);
      if (real != nullptr && known.insert(real).second) found.push_back(real);
      std::free(real);
    }
  }
  return found;
}

}  // namespace accelscope::probe
