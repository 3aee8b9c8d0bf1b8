// What the memory panel shows, without drawing it: which allocations are alive at the cursor, grouped by tensor, and
// round figures for its axis. The use over time itself comes from core/analysis/memory_usage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/memory_usage.h"

namespace accelscope::app {

struct AliveTensor {
  std::uint32_t tensor = 0;                // index into MemoryUsage::tensors
  std::uint64_t bytes = 0;                 // together
  std::int64_t begin_ns = 0;               // of the oldest
  std::vector<std::uint32_t> allocations;  // indices into MemoryUsage::allocations, largest first
};

// Largest tensor first. Allocations smaller than min_bytes are left out.
[[nodiscard]] std::vector<AliveTensor> alive_by_tensor(const MemoryUsage& usage, std::uint32_t pool, std::int64_t ns,
                                                       std::uint64_t min_bytes);

// Which addresses are taken when, on a plot `pixels` wide: blocks of the same place and tensor that touch within a
// pixel are one, so that any number of allocations is as many rectangles as can be seen. Pixels are from the left edge.
struct AddressBlock {
  float x0 = 0, x1 = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t tensor = 0;
  std::uint32_t allocation = 0;  // the first one, an index into MemoryUsage::allocations
  bool operator==(const AddressBlock&) const = default;
};
struct AddressMap {
  std::uint64_t lowest = 0, highest = 0;  // equal: no allocation of the pool has an address
  std::vector<AddressBlock> blocks;
};
// Allocations that are never released end at session_end_ns.
[[nodiscard]] AddressMap address_map(const MemoryUsage& usage, std::uint32_t pool, const TimeRange& range,
                                     std::size_t pixels, std::uint64_t min_bytes, std::int64_t session_end_ns);

// The allocation that holds the address at the time: an index into MemoryUsage::allocations.
[[nodiscard]] std::optional<std::uint32_t> allocation_at(const MemoryUsage& usage, std::uint32_t pool, std::int64_t ns,
                                                         std::uint64_t address);

// Axis steps for a plot up to `most`: at most `count` round figures (1, 2, 4 or 8 times a power of 1024 or of two).
[[nodiscard]] std::vector<std::uint64_t> byte_ticks(std::uint64_t most, std::size_t count);

// Position of the "smallest shown" slider (0 to 1) to bytes and back: 0, then powers of two up to 16 MiB.
[[nodiscard]] std::uint64_t slider_to_bytes(float position) noexcept;
[[nodiscard]] float bytes_to_slider(std::uint64_t bytes) noexcept;

}  // namespace accelscope::app
