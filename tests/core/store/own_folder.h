// A folder for the files of one test case, gone with it.
#pragma once

#include <filesystem>
#include <random>
#include <string>

namespace accelscope {

class OwnFolder {
 public:
  OwnFolder()
      : path_(std::filesystem::temp_directory_path() / ("accelscope-own-" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directory(path_);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace accelscope
