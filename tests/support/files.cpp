#include "tests/support/files.h"

#include <atomic>
#include <random>

namespace accelscope::test {

TemporaryFolder::TemporaryFolder() {
  static std::atomic<unsigned> count{0};
  const std::string name = "accelscope-test-" + std::to_string(std::random_device{}()) + "-" + std::to_string(count++);
  path_ = (std::filesystem::temp_directory_path() / name).string();
  std::filesystem::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a folder that stays behind fails no test
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace accelscope::test
