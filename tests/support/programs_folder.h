// Where the programs of this build lie: beside the one that runs the tests.
#pragma once

#include <filesystem>
#include <string>

namespace accelscope::test {

[[nodiscard]] inline std::string programs_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

}  // namespace accelscope::test
