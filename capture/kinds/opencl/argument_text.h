// Arguments of a kernel as people read them: "n=1024, alpha=2.5, a=buffer 3, tile=local 256 B".
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "capture/probe/opencl/format.h"

namespace accelscope::capture::kinds::opencl {

struct ArgumentName {
  std::string type;  // "float*", "int"; "": the driver does not say
  std::string name;  // "": not said
};

// `memories`: names of memory by number.
[[nodiscard]] std::string argument_text(std::span<const probe::opencl::ArgumentRecord> arguments,
                                        std::span<const ArgumentName> names,
                                        const std::map<std::uint64_t, std::string>& memories);

}  // namespace accelscope::capture::kinds::opencl
