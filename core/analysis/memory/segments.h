// How a pool lies in the memory that an allocator holds for it, at one instant: segments, the allocations in them, what
// is free between those, and how much of that a large request could not have. Where nobody tells what is held, the
// stretches of addresses that were ever taken stand for segments.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/memory/usage.h"

namespace accelscope::analysis {

struct MemorySegment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t used = 0;          // of its allocations
  std::uint64_t requested = 0;     // of those, what was asked for
  std::uint64_t largest_free = 0;  // the longest stretch without any
  EventId event = kNoEvent;        // that got it, the first of several pieces; none where it is an address range
  std::vector<std::uint32_t> allocations = {};  // indices into MemoryUsage::allocations, by address

  [[nodiscard]] std::uint64_t free() const noexcept { return bytes - used; }
};

struct SegmentMap {
  std::vector<MemorySegment> segments;  // by address
  bool held = false;                    // somebody tells what is held; else these are ranges of addresses
  std::uint64_t bytes = 0, used = 0, requested = 0, largest_free = 0;  // of all
  std::uint64_t outside = 0;  // bytes of allocations that lie in none, or say no address

  [[nodiscard]] std::uint64_t free() const noexcept { return bytes - used; }
};

// 0: all that is free lies together; near 1: in many small pieces. The share of the free bytes that a request as large
// as all of them together could not have: 1 - largest / free.
[[nodiscard]] double fragmentation(std::uint64_t free, std::uint64_t largest_free) noexcept;

[[nodiscard]] SegmentMap segments_at(const MemoryUsage& usage, std::uint32_t pool, std::int64_t ns);

}  // namespace accelscope::analysis
