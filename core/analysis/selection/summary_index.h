// What summaries of large sessions are added up from: of every 4,096 events of a lane, and of every 16 chunks, the sums
// by name, source line, layer, transfer size and duration. Built on the pool after a session is opened, and carried on
// as it grows: what was added up stays.
//
//   Result<std::shared_ptr<const SummaryIndex>> index = SummaryIndex::build(query, previous);
//
// Takes at most kMostBytesPerEvent bytes per event (beside about 130 bytes per part); usual sessions need less
// than 1.5. A part of too many different names, lines or layers keeps nothing and is decoded when it is asked for.
#pragma once

#include <memory>
#include <vector>

#include "core/analysis/selection/summary_tally.h"

namespace accelscope {

class SummaryIndex {
 public:
  static constexpr std::uint32_t kBlocksPerPart = 64;
  static constexpr std::uint32_t kChunksPerGroup = 16;
  static constexpr std::uint64_t kMostBytesPerEvent = 2;  // half for the parts, half for the groups

  struct Part {
    std::int64_t begin_ticks = 0;  // of its first event
    std::int64_t end_ticks = 0;    // of its last event
    SummaryStretch sums;
  };
  struct Chunk {
    std::vector<Part> parts;  // part p holds blocks [p * kBlocksPerPart, (p + 1) * kBlocksPerPart)
  };
  struct Lane {
    LaneNumber number = 0;
    std::vector<std::shared_ptr<const Chunk>> chunks;           // null: unreadable
    std::vector<std::shared_ptr<const SummaryStretch>> groups;  // null: not kept; complete ones only
  };

  // Of the query's snapshot, whatever mask it has. The previous one may be null or of an older snapshot of the same
  // session. Unreadable chunks are left out. Fails only when cancelled; progress is in chunks.
  [[nodiscard]] static Result<std::shared_ptr<const SummaryIndex>> build(
      const QueryContext& query, const std::shared_ptr<const SummaryIndex>& previous);

  [[nodiscard]] std::uint64_t snapshot_version() const noexcept { return version_; }
  // Null if it knows nothing of the lane. It may know fewer chunks than a newer snapshot has.
  [[nodiscard]] const Lane* lane(std::uint32_t lane_index, LaneNumber number) const noexcept {
    if (lane_index >= lanes_.size() || lanes_[lane_index].number != number) return nullptr;
    return &lanes_[lane_index];
  }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  std::uint64_t version_ = 0;
  std::vector<Lane> lanes_;  // as in the snapshot
};

// Slices, instants and allocations; what else is in a session is not "events" to the user who draws a box.
[[nodiscard]] bool takes_part_in_summaries(EventKind kind) noexcept;

}  // namespace accelscope
