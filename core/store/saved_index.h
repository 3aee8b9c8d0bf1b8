// What a session file keeps of its lanes' indexes, so that opening it reads no chunk: see session_file.cpp.
#pragma once

#include <span>
#include <vector>

#include "core/database/database.h"
#include "core/store/snapshot.h"

namespace accelscope {

inline constexpr const char* kInsertLaneIndex = "INSERT INTO lane_index(lane, part, level, payload) VALUES(?, ?, ?, ?)";

// `insert`: of kInsertLaneIndex. In pieces of about 1 MiB, so that no copy of a long lane's index is made. `first_row`:
// the lane's chunks lie in this row and those that follow; 0: where the lane has them.
Result<void> write_lane_index(Statement& insert, const LaneSnapshot& lane, std::int64_t first_row = 0);
// In place of all that are there.
Result<void> write_lane_indexes(Database& target, const Snapshot& snapshot);

// A row of the chunk table without its payload: what a place of an index must be.
struct ChunkRow {
  std::int64_t id = 0;
  std::int64_t first_ordinal = 0;
  std::int64_t count = 0;
  std::int64_t begin_ticks = 0;
  std::int64_t end_ticks = 0;
};

// The index of a lane as it was read. A file comes from anywhere: nothing of it is used before is_sound() says so, and
// of its tree only the leaves are kept, from which the rest is made.
struct SavedLane {
  std::vector<ChunkPlace> places;
  std::vector<SliceNode> slices;  // the leaves, of one kind or the other
  std::vector<CounterNode> counters;
  NameTotals::SavedLevels totals;
  bool damaged = false;

  // Takes one row of the table in; parts and levels of newer versions are left out.
  void add(EventKind kind, std::int64_t part, std::int64_t level, ByteView blob);
};

// Whether a saved level is looked at: the payload of others need not be read.
[[nodiscard]] bool is_read(std::int64_t part, std::int64_t level) noexcept;

// Places, leaves and totals must be those of the lane's first rows and fit each other in times, events and busy ticks;
// `names` says of each of the session's strings whether the lane's scope has it. Rows are by ordinal.
[[nodiscard]] bool is_sound(const SavedLane& saved, EventKind kind, std::span<const ChunkRow> rows,
                            const std::vector<bool>& names);

// Whether the events of a chunk are those that its place and its leaves tell of: in order, and as long. A chunk whose
// index was read and not made is looked at once, when it is first read.
[[nodiscard]] bool is_as_indexed(const LaneSnapshot& lane, std::uint32_t chunk, ByteView bytes);

// Into an empty lane.
void take_saved(const SavedLane& saved, LaneData& data);

}  // namespace accelscope
