// Which libcupti is there: for the collector inside a program, and for the agent, which samples counters with it.
#pragma once

#include <cstdint>
#include <string>

#include "capture/probe/cuda/cupti_abi.h"

namespace accelscope::probe::cuda {

struct LibrarySearch {
  std::string preferred = {};  // a path that goes before all but what the environment names; "": none
  std::string lost = "nothing of the GPU is captured";  // without it
};
// Null if there is none that fits the driver, `driver` being its version as CUDA numbers it (12040; 0: not known);
// then `reason` says why, and what to install. `path`: where the library lies.
[[nodiscard]] const cupti::Library* find_cupti(std::uint32_t driver, std::string& path, std::string& reason,
                                               const LibrarySearch& search = {});
[[nodiscard]] std::uint32_t driver_version();

}  // namespace accelscope::probe::cuda
