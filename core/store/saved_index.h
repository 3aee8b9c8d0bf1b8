// What a session file keeps of its lanes' indexes, so that opening it reads no chunk: see session_file.cpp.
#pragma once

#include "core/database/database.h"
#include "core/store/snapshot.h"

namespace accelscope {

inline constexpr const char* kInsertLaneIndex = "INSERT INTO lane_index(lane, part, level, payload) VALUES(?, ?, ?, ?)";

// `insert`: of kInsertLaneIndex. In pieces of about 1 MiB, so that no copy of a long lane's index is made. `first_row`:
// the lane's chunks lie in this row and those that follow; 0: where the lane has them.
Result<void> write_lane_index(Statement& insert, const LaneSnapshot& lane, std::int64_t first_row = 0);
// In place of all that are there.
Result<void> write_lane_indexes(Database& target, const Snapshot& snapshot);

// Takes one row in. False if it is damaged; parts and levels of newer versions are left out.
[[nodiscard]] bool read_lane_index(LaneData& data, std::int64_t part, std::int64_t level, ByteView blob);
// The parts of a loaded index must fit each other: readers go from one to the other without looking.
[[nodiscard]] bool is_consistent(const LaneData& data);

}  // namespace accelscope
