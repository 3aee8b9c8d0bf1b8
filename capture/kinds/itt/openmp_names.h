// LLVM's and Intel's OpenMP runtimes pack a place in the source into their names:
//   "main$omp$parallel:3@/src/step.cpp:6:9"    a region with three threads, lines 6 to 9
//   "OMP Barrier ;/src/step.cpp;main;6;9;;"    an object of theirs; what is not known is "unknown"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace accelscope::capture::kinds::itt {

struct OpenMpName {
  std::string name;  // "omp parallel in main, 3 threads", "OMP Barrier in main"
  std::string file;  // "": not known
  std::uint32_t line = 0;
};

// Nothing if it is no such name.
[[nodiscard]] std::optional<OpenMpName> parse_openmp_name(std::string_view text);

}  // namespace accelscope::capture::kinds::itt
