// The stand-in for one of the vendor's tools as the only one on PATH, in a folder of the test's own; everything is as
// before when the object goes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/programs_folder.h"

namespace accelscope::test {

class StandInTool {
 public:
  explicit StandInTool(const std::string& name = "neuron-profile")
      : path_(std::filesystem::temp_directory_path() /
              ("accelscope stand-in " + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directories(path_ / "tools");
    if (!name.empty()) install(name);
    set("PATH", (path_ / "tools").string() + ":/usr/bin:/bin");
    set("STAND_IN_LOG", (path_ / "log").string());
    set("STAND_IN_MODE", "");
    set("STAND_IN_STEP", "");
    set("STAND_IN_RELEASE", "");
  }
  ~StandInTool() {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
    std::filesystem::remove_all(path_);
  }
  StandInTool(const StandInTool&) = delete;
  StandInTool& operator=(const StandInTool&) = delete;

  void install(const std::string& name) const {
    std::filesystem::create_symlink(accelscope::test::programs_folder() + "/stand_in_neuron_profile",
                                    path_ / "tools" / name);
  }
  // What it plays; `step`: "capture", "view" or "inspect", "" for all.
  void play(const std::string& mode, const std::string& step = "") {
    set("STAND_IN_MODE", mode);
    set("STAND_IN_STEP", step);
  }
  // The SDK that it is of: "2.29", "2.31", "2.33", "2.34".
  void of_release(const std::string& release) { set("STAND_IN_RELEASE", release); }
  // The command lines that it was given, without its own name.
  [[nodiscard]] std::vector<std::vector<std::string>> commands() const {
    std::vector<std::vector<std::string>> all;
    std::vector<std::string> words;
    std::ifstream log(path_ / "log");
    for (std::string line; std::getline(log, line);) {
      if (!line.empty()) {
        words.push_back(line);
        continue;
      }
      all.push_back(words);
      words.clear();
    }
    return all;
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
    return file(name);
  }

 private:
  void set(const std::string& name, const std::string& value) {
    const char* old = std::getenv(name.c_str());
    before_.emplace(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::filesystem::path path_;
  std::map<std::string, std::optional<std::string>> before_;
};

// A .npy file of so many float32 values.
[[nodiscard]] inline std::string npy_of(std::size_t values, float value) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(values) + ",), }";
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY\x01";
  file += '\0';
  file += static_cast<char>(header.size() & 0xffU);
  file += static_cast<char>(header.size() >> 8U);
  file += header;
  for (std::size_t i = 0; i < values; ++i) file.append(reinterpret_cast<const char*>(&value), sizeof value);
  return file;
}

}  // namespace accelscope::test
