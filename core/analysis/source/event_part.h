// What of an event counts where a range cuts it or other work was before it: its part of an amount, and how long it can
// have waited before it began.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/scan/chunk_scan.h"

namespace accelscope {

// inside: the share of the event that counts, of share_inside().
[[nodiscard]] constexpr std::uint64_t part_of_amount(std::uint64_t amount, double inside) noexcept {
  return inside >= 1 ? amount : static_cast<std::uint64_t>(static_cast<double>(amount) * inside + 0.5);
}

// When the lane became free before the event; the least time there is before its first.
[[nodiscard]] inline std::int64_t lane_free_since(const ScannedChunk& chunk, const ScannedBlock& block,
                                                  std::uint32_t i) {
  if (i > 0) return block.end_ns(i - 1);
  if (block.row(i) > 0) {
    std::int64_t begin_ticks = 0, end_ticks = 0;
    chunk.view.event_times(block.row(i) - 1, begin_ticks, end_ticks);
    return chunk.lane.clock->to_ns(end_ticks);
  }
  if (chunk.chunk_index > 0) return chunk.lane.clock->to_ns(chunk.lane.chunk(chunk.chunk_index - 1).end_ticks);
  return std::numeric_limits<std::int64_t>::min();
}

// For how long the lane had been free before the event, which is the most that it can have waited. first_ns: where the
// range begins, and no earlier than the session.
[[nodiscard]] inline std::int64_t longest_wait_ns(const ScannedChunk& chunk, const ScannedBlock& block, std::uint32_t i,
                                                  std::int64_t first_ns) {
  const std::int64_t begin_ns = block.begin_ns(i);
  const std::int64_t free_ns = std::max(first_ns, lane_free_since(chunk, block, i));
  return begin_ns > free_ns ? begin_ns - free_ns : 0;
}

}  // namespace accelscope
