// Where libcupti may be: shared by the collector, which looks from inside a program, and by the agent, which tells what
// a host has. Inline, since probes link nothing.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "capture/probe/client/library_files.h"

namespace accelscope::probe::cuda {

// In the environment of a program: the library to take, in place of all that could be found.
constexpr const char* kLibraryVariable = "ACCELSCOPE_CUPTI";
// As programs name them, the newest first.
constexpr const char* kLibraryNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"};

[[nodiscard]] inline std::vector<std::string> toolkit_libraries() {
  std::vector<std::string> patterns;
  const auto add = [&](const std::string& toolkit) {
    for (const char* folder : {"/extras/CUPTI/lib64", "/lib64", "/lib", "/targets/*/lib"}) {
      patterns.push_back(toolkit + folder + "/libcupti.so.[0-9]*");
    }
  };
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* toolkit = std::getenv(variable); toolkit != nullptr && *toolkit == '/') add(toolkit);
  }
  add("/usr/local/cuda*");
  add("/opt/cuda*");
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"}) {
    patterns.push_back(std::string(folder) + "/libcupti.so.[0-9]*");
  }
  return matching_files(patterns);
}

// Beside the CUDA runtime that a program has loaded, and in the wheels that lie beside its libraries: "maps" is a file
// as /proc/self/maps.
[[nodiscard]] inline std::vector<std::string> program_libraries(const std::string& maps) {
  std::vector<std::string> patterns;
  const auto add = [&](const std::string& pattern) {
    if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) patterns.push_back(pattern);
  };
  std::FILE* file = std::fopen(maps.c_str(), "re");
  char* line = nullptr;
  std::size_t room = 0;
  while (file != nullptr && ::getline(&line, &room, file) > 0) {
    const char* begin = std::strchr(line, '/');
    if (begin == nullptr) continue;
    const std::string path(begin, std::strcspn(begin, "\n"));
    const std::string folder = path.substr(0, path.rfind('/'));
    if (path.compare(folder.size() + 1, 10, "libcudart.") == 0) {
      add(folder + "/libcupti.so.[0-9]*");
      add(folder + "/../extras/CUPTI/lib64/libcupti.so.[0-9]*");
      add(folder + "/../../cuda_cupti/lib/libcupti.so.[0-9]*");
    }
    for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
      const std::size_t at = path.find(packages);
      if (at == std::string::npos) continue;
      const std::string root = path.substr(0, at + packages.size());
      add(root + "nvidia/cuda_cupti/lib/libcupti.so.[0-9]*");
      add(root + "nvidia/cu[0-9]*/lib/libcupti.so.[0-9]*");
    }
  }
  std::free(line);
  if (file != nullptr) std::fclose(file);
  return matching_files(patterns);
}

}  // namespace accelscope::probe::cuda
