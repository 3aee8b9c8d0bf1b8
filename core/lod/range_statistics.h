// Count and time by name, and busy and wait share of lanes, for any range of a session. Whole stretches of a lane
// come from its index (NameTotals, LaneTree), only the edges of the range and stretches of too many names are
// decoded. Events are clipped to the range; an event counts if it shares time with the range (an instant: if it
// lies inside). Lanes of counters and tables take no part. Ticks become ns by the clock's rate; where a clock's
// rate changes, by the mean rate of a stretch in which it changes by less than 1 in 1,000,000, or of a chunk.
#pragma once

#include <vector>

#include "core/scan/chunk_scan.h"

namespace accelscope::lod {

struct NameStatistic {
  StringId name = 0;  // session-wide
  std::uint64_t count = 0;
  std::int64_t time_ns = 0;  // sum of the clipped durations, waiting or not
};

struct NameStatistics {
  // Sorting a million names takes longer than adding them up: only the first so many are sorted, longest time
  // first, then most events, then by id; none of the rest is longer than those.
  static constexpr std::size_t kSortedNames = 16384;

  std::vector<NameStatistic> names;
  std::uint64_t event_count = 0;
  std::int64_t time_ns = 0;
  std::uint64_t decoded_chunks = 0;  // what the answer cost
};

[[nodiscard]] Result<NameStatistics> name_statistics(const QueryContext& query, const LaneIndices& lanes,
                                                     const TimeRange& range);

// Of one lane in one range. busy_ns + wait_ns is the covered time; the rest of the range is idle.
struct LaneShare {
  std::uint64_t event_count = 0;
  std::int64_t busy_ns = 0;
  std::int64_t wait_ns = 0;
};

// Decodes the blocks at the two edges, so it may run on the thread that asks.
[[nodiscard]] Result<LaneShare> lane_share(const Store& store, const Snapshot& snapshot, std::uint32_t lane_index,
                                           const TimeRange& range);

}  // namespace accelscope::lod
