// What a session says of its memory in a sentence: the most that was in use and which lines held it, how much an
// allocator held that nothing was in, and every request that failed: what it asked for, what was free, who held the
// rest.
//
//   const auto pressure = memory_pressure(query, usage);
//   pressure_text(*pressure)   "Out of memory: train.py:88 asked for 4.944 GiB, 91 MiB free; 60 GiB held, ..."
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/analysis/memory/usage.h"

namespace accelscope::analysis {

// A line of the program that holds memory; a tensor's name where no line is known.
struct MemoryHolder {
  std::string name;  // "train.py:41"
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;  // allocations
};

struct PoolPressure {
  std::uint32_t pool = 0;  // index into MemoryUsage::pools
  std::string name;
  PoolPeak peak;
  std::uint64_t held = 0;             // by its allocations at that moment, that is known of
  std::vector<MemoryHolder> holders;  // at that moment, the largest first, at most kMostHolders
  // Of what the allocator holds at that moment: free between its allocations, and the longest stretch of it. 0 where
  // nobody tells.
  std::uint64_t reserved = 0, free = 0, largest_free = 0;
  // Segments that hold nothing in the end.
  std::uint64_t empty_segments = 0, empty_bytes = 0;

  static constexpr std::size_t kMostHolders = 3;
};

// A request that failed.
struct FailedRequest {
  EventId event = kNoEvent;
  std::int64_t ns = 0;
  std::string source;  // "train.py:88": the line that asked
  std::uint64_t asked = 0, free = 0, held = 0, reserved = 0;
  std::vector<MemoryHolder> holders;  // at that moment, as above
};

struct MemoryPressure {
  static constexpr std::size_t kMostFailures = 500;
  std::vector<PoolPressure> pools;      // with anything in use, the highest peak first
  std::vector<FailedRequest> failures;  // by time
};

[[nodiscard]] bool is_failure_table(const Schema& schema) noexcept;  // of requests that failed

[[nodiscard]] Result<MemoryPressure> memory_pressure(const QueryContext& query, const MemoryUsage& usage);

// What comes first of it: the first failure, else the highest peak; "" where nothing is known.
[[nodiscard]] std::string pressure_text(const MemoryPressure& pressure);
// Who held it, and what of the allocator's memory could not be had; "".
[[nodiscard]] std::string pressure_cause(const MemoryPressure& pressure);
[[nodiscard]] std::string failure_text(const FailedRequest& failure);
// "train.py:41 60 GiB (100.0 %), model.py:7 ..."
[[nodiscard]] std::string holders_text(const std::vector<MemoryHolder>& holders, std::uint64_t of);

// What of each memory was in use in a stretch of time, and by what at the moment when most of the busiest one was.
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

}  // namespace accelscope::analysis
