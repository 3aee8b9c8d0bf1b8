// A folder of one trial, removed with this object.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace accelscope::capture {

class TrialFolder {
 public:
  TrialFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "accelscope-faults-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path = pattern;
  }
  ~TrialFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;
  std::filesystem::path path;
};

}  // namespace accelscope::capture
