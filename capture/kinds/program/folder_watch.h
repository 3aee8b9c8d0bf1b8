// What a program has written into folders, by how they were before: clocks of files run behind those of programs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace accelscope::capture::kinds::program {

// Which files with an ending lie below some folders, so that those that came or changed since can be told.
class FolderWatch {
 public:
  struct File {
    std::string path;
    std::uint64_t bytes = 0;
    std::filesystem::file_time_type written;
  };

  // Looks at `depth` levels of folders below each; links are not followed, hidden folders left out.
  FolderWatch(std::vector<std::string> folders, std::string ending, int depth);
  // New or written since, by path.
  [[nodiscard]] std::vector<File> changed() const;

 private:
  [[nodiscard]] std::vector<File> list() const;
  std::vector<std::string> folders_;
  std::string ending_;
  int depth_;
  std::map<std::string, File> before_;
};

}  // namespace accelscope::capture::kinds::program
