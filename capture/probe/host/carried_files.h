// The files that this program carries inside itself for profiled programs; made by the build.
#pragma once

#include <string_view>
#include <vector>

namespace accelscope::capture::probes {

struct CarriedFile {
  std::string_view path;  // relative: "libaccelscope_itt.so"
  const char* begin = nullptr;
  const char* end = nullptr;
};

[[nodiscard]] std::vector<CarriedFile> carried_files();

}  // namespace accelscope::capture::probes
