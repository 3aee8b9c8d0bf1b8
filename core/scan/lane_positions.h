// Where an event stands among those of its lane that are there. A capture that lost events has holes in its ordinals:
// what is kept for each event of a lane lies at its position, never at its ordinal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/store/snapshot.h"

namespace accelscope {

class LanePositions {
 public:
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  // The lane must outlive it.
  explicit LanePositions(const LaneSnapshot& lane) : lane_(&lane) {
    if (lane.chunk_count == 0) return;
    const ChunkPlace& last = lane.chunk(lane.chunk_count - 1);
    if (last.first_ordinal + last.count == lane.event_count) return;
    before_.reserve(lane.chunk_count);
    std::uint64_t events = 0;
    for (std::uint32_t i = 0; i < lane.chunk_count; ++i) {
      before_.push_back(events);
      events += lane.chunk(i).count;
    }
  }

  // How many events lie before the first one of a chunk.
  [[nodiscard]] std::uint64_t before(std::uint32_t chunk) const noexcept {
    return before_.empty() ? lane_->chunk(chunk).first_ordinal : before_[chunk];
  }
  // kNowhere: the event was lost.
  [[nodiscard]] std::uint64_t of_ordinal(std::uint64_t ordinal) const noexcept {
    if (before_.empty()) return ordinal < lane_->event_count ? ordinal : kNowhere;
    const std::uint32_t chunk = lane_->chunk_of_ordinal(ordinal);
    return chunk < lane_->chunk_count ? before_[chunk] + (ordinal - lane_->chunk(chunk).first_ordinal) : kNowhere;
  }
  // Of a position below the lane's number of events.
  [[nodiscard]] std::uint64_t ordinal(std::uint64_t position) const noexcept {
    if (before_.empty()) return position;
    const auto chunk =
        static_cast<std::uint32_t>(std::upper_bound(before_.begin(), before_.end(), position) - before_.begin() - 1);
    return lane_->chunk(chunk).first_ordinal + (position - before_[chunk]);
  }

 private:
  const LaneSnapshot* lane_;
  std::vector<std::uint64_t> before_;  // by chunk; empty: there is no hole, and ordinals are positions
};

}  // namespace accelscope
