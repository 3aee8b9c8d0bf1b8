// What summaries of large sessions are added up from: of every 4,096 events of a lane, of every chunk, and of every 4,
// 16, 64 ... chunks, the sums by name, source line, layer, transfer size and duration. Built on the pool after a
// session is opened, and carried on as it grows: what was added up stays.
//
//   Result<std::shared_ptr<const SummaryIndex>> index = SummaryIndex::build(query, previous);
//
// Takes at most kMostBytesPerEvent bytes per event (beside about 40 bytes per part and chunk, and 190 for those that
// are kept); usual sessions need less than one. The finest stretches that are kept may take one byte per event, each
// level above them half as much as the one below it. A stretch of too many different names, lines or layers is not
// kept: its parts answer for it, or it is decoded.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/analysis/selection/packed_stretch.h"

namespace accelscope::analysis {

class SummaryIndex {
 public:
  static constexpr std::uint32_t kBlocksPerPart = 64;
  static constexpr std::uint32_t kFanout = 4;           // stretches of a level that make one of the next
  static constexpr std::size_t kLevels = 10;            // the highest is of 4^9 chunks: 4 billion events
  static constexpr std::uint32_t kChunksPerGroup = 16;  // that are added up while their entries are at hand
  static constexpr std::uint64_t kMostBytesPerEvent = 2;

  struct Part {
    std::int64_t begin_ticks = 0;               // of its first event
    std::int64_t end_ticks = 0;                 // of its last event
    std::unique_ptr<const PackedStretch> sums;  // null: not kept
  };
  struct Chunk {
    std::vector<Part> parts;  // part p holds blocks [p * kBlocksPerPart, (p + 1) * kBlocksPerPart)
    bool has_texts = false;   // lines or layers that have no numbers: nothing of it is kept
  };
  // What one level keeps: stretch i is of chunks [i * 4^level, (i + 1) * 4^level). Null: not kept.
  using Level = std::vector<std::shared_ptr<const PackedStretch>>;
  struct Lane {
    LaneNumber number = 0;
    std::vector<std::shared_ptr<const Chunk>> chunks;  // null: unreadable
    std::array<Level, kLevels> levels;                 // complete stretches only
    std::shared_ptr<const PackedStretch> head;         // of the first head_chunks chunks, mostly all; null: not kept
    std::uint32_t head_chunks = 0;
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

}  // namespace accelscope::analysis
