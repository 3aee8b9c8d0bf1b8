// The events of lanes as sequences, read in one scan.
#pragma once

#include <vector>

#include "core/analysis/iterations/event_sequence.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

// Of a lane with more events nothing is read: their places are 32-bit numbers.
inline constexpr std::uint64_t kMostLaneEvents = std::uint64_t{1} << 31U;

// As many as lanes; those that share time with the range and pass the query's mask.
[[nodiscard]] Result<std::vector<EventSequence>> read_sequences(const QueryContext& query, const LaneIndices& lanes,
                                                                const TimeRange& range);

// The same of lanes with a column of strings in this role, whose values are the names; events without one are left out.
[[nodiscard]] Result<std::vector<EventSequence>> read_sequences(const QueryContext& query, const LaneIndices& lanes,
                                                                const TimeRange& range, Role role);

// The events of these lanes as one sequence, as they begin: lanes of an engine hold what overlaps there, not calls.
[[nodiscard]] Result<EventSequence> read_joined(const QueryContext& query, const LaneIndices& lanes,
                                                const TimeRange& range);

}  // namespace accelscope
