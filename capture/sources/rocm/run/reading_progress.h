// Counts what is read of all parts and files of a run, for the user to see.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace accelscope::capture::sources::rocm {

struct ReadingProgress {
  std::function<void(std::uint64_t done, std::uint64_t total)> tell;
  std::uint64_t done = 0;
  std::uint64_t total = 0;

  void say() const {
    if (tell) tell(done, std::max(done, total));
  }
};

}  // namespace accelscope::capture::sources::rocm
