// Numbers out of a seed, for what a planted defect looks like.
#pragma once

#include "capture/sim/kernel/schedule.h"

namespace accelscope::capture::sim {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : jitter_(seed * 0x9e3779b97f4a7c15ULL + 0x5851f42d4c957f2dULL) {
    for (int i = 0; i < 8; ++i) (void)jitter_.next();
  }
  int operator()(int least, int most) {
    return least + static_cast<int>((jitter_.next() >> 16) % static_cast<std::uint64_t>(most - least + 1));
  }

 private:
  Jitter jitter_;
};

}  // namespace accelscope::capture::sim
