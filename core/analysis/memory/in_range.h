// What of each memory was in use in a stretch of time, and by what at the moment when most of the busiest one was.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/analysis/memory/usage.h"

namespace accelscope {

struct MemoryInRange {
  bool known = false;           // else nothing below says anything
  bool any_in_session = false;  // in the range or outside of it
  struct Pool {
    std::string name;
    std::uint64_t peak_bytes = 0;  // within the range
    std::int64_t peak_ns = 0;
    std::optional<std::uint64_t> capacity_bytes;
    bool estimated = false;
  };
  std::vector<Pool> pools;  // those with anything in use, the most first; different memories are never added up
  std::vector<std::pair<std::string, std::uint64_t>> tensors;  // of the first pool at its peak, the largest first
};

[[nodiscard]] MemoryInRange memory_in_range(const MemoryUsage& usage, const TimeRange& range);

}  // namespace accelscope
