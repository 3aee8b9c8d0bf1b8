// Finds the source files that a profile names under folders of the user's choice: by the whole name below a folder,
// else by the longest common ending of the path.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources {

struct FoundSources {
  std::vector<SourceFile> files;  // under the names that were asked for
  std::vector<std::string> missing;
};

// Reads every file that is found.
[[nodiscard]] FoundSources find_source_files(const std::set<std::string>& names, const std::vector<std::string>& roots);

struct SourceSearch {
  std::size_t found = 0;
  std::vector<std::string> missing;
};

// Adds every file found under the name that the profile uses for it.
[[nodiscard]] SourceSearch add_source_files(const std::set<std::string>& names, const std::vector<std::string>& roots,
                                            SessionWriter& writer);

// "kernel.py" of "kernel.py:33"; empty if there is no line number.
[[nodiscard]] std::string_view file_of_location(std::string_view location) noexcept;

}  // namespace accelscope::capture::sources
