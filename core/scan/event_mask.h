// Which events of a session pass the tracks and terms of a filter: one bit each, by lane and leaf, so that a loop over
// blocks of 64 events tests a whole block with one word, and sums over the lane's tree, so that drawing knows for any
// node how many of its events pass. An eighth of a byte an event. Built on the pool; a session that grew costs only
// what is new.
//
//   auto mask = event_mask(query, filter);           // core/search/filter_mask.h
//   mask->bits(lane_index, leaf);  mask->passing(lane_index, level, node);  mask->total();
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/model/event_filter.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {
class EventMask;
}

// What makes masks of searches: core/search.
namespace accelscope::search {
struct MatchTerm;
Result<std::shared_ptr<EventMask>> mask_of_terms(const QueryContext& query, const LaneIndices& lanes,
                                                 const std::vector<MatchTerm>& terms, const EventMask* previous);
Result<std::shared_ptr<const EventMask>> event_mask(const QueryContext& query, const EventFilter& filter,
                                                    const EventMask* previous);
Result<std::shared_ptr<const EventMask>> filter_mask(const QueryContext& query, const EventFilter& filter,
                                                     const std::shared_ptr<const EventMask>& terms);
}  // namespace accelscope::search

namespace accelscope {

class EventMask {
 public:
  [[nodiscard]] const EventFilter& filter() const noexcept { return filter_; }
  [[nodiscard]] std::uint64_t snapshot_version() const noexcept { return snapshot_version_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] std::uint64_t count(std::uint32_t lane_index) const noexcept {
    return lane_index < lanes_.size() ? lanes_[lane_index].count : 0;
  }
  // Bit i is the leaf's event i. Leaves beyond what was known when the mask was made pass nothing.
  [[nodiscard]] std::uint64_t bits(std::uint32_t lane_index, std::uint32_t leaf) const noexcept {
    if (lane_index >= lanes_.size()) return 0;
    const Lane& lane = lanes_[lane_index];
    return leaf < lane.words.size() ? lane.words[leaf] : 0;
  }
  // Passing events below a complete node of the lane's tree; level 0 are the leaves.
  [[nodiscard]] std::uint64_t passing(std::uint32_t lane_index, std::size_t level, std::size_t node) const noexcept;
  // Passing events of a chunk of the lane; of all leaves before one, in logarithmic time.
  [[nodiscard]] std::uint32_t passing_in(std::uint32_t lane_index, const ChunkPlace& chunk) const noexcept;
  [[nodiscard]] std::uint64_t passing_before(std::uint32_t lane_index, std::uint32_t leaf) const noexcept;
  struct Place {
    std::uint32_t leaf = 0, bit = 0;
  };
  // Where the passing event is before which lie `number` others; below count(lane_index).
  [[nodiscard]] Place place_of(std::uint32_t lane_index, std::uint64_t number) const noexcept;
  // Whether an event of the lane passes; needs its snapshot or a later one.
  [[nodiscard]] bool passes(const Snapshot& snapshot, EventId event) const noexcept;
  [[nodiscard]] bool passes(const LaneSnapshot& lane, std::uint32_t lane_index, std::uint64_t ordinal) const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  friend Result<std::shared_ptr<EventMask>> search::mask_of_terms(const QueryContext& query, const LaneIndices& lanes,
                                                                  const std::vector<search::MatchTerm>& terms,
                                                                  const EventMask* previous);
  friend Result<std::shared_ptr<const EventMask>> search::event_mask(const QueryContext& query,
                                                                     const EventFilter& filter,
                                                                     const EventMask* previous);
  friend Result<std::shared_ptr<const EventMask>> mask_where(
      const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
      const std::function<std::uint64_t(const ScannedChunk&, const ScannedBlock&, std::size_t)>& bits);
  friend Result<std::shared_ptr<const EventMask>> search::filter_mask(const QueryContext& query,
                                                                      const EventFilter& filter,
                                                                      const std::shared_ptr<const EventMask>& terms);
  struct Lane {
    std::vector<std::uint64_t> words;              // by leaf
    std::vector<std::vector<std::uint32_t>> sums;  // [level - 1][node]
    std::uint32_t chunk_count = 0;                 // that words stand for
    std::uint64_t count = 0;
  };
  [[nodiscard]] static std::uint32_t leaves_of(const LaneSnapshot& lane) noexcept;
  void sum_up(Lane& lane, const LaneSnapshot& snapshot);

  EventFilter filter_;
  std::uint64_t snapshot_version_ = 0;
  std::uint64_t total_ = 0;
  std::vector<Lane> lanes_;  // by index into Snapshot::lanes
};

// The events of some lanes and a range for which `bits` says so, 64 at a time; it is called as a ChunkBody is. Of the
// query's mask only those that pass. The filter of such a mask is empty.
[[nodiscard]] Result<std::shared_ptr<const EventMask>> mask_where(
    const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
    const std::function<std::uint64_t(const ScannedChunk&, const ScannedBlock&, std::size_t worker)>& bits);

// How many of the session's events pass a mask (null: all of them). Rows of tables without time are no events.
[[nodiscard]] std::uint64_t count_passing(const Snapshot& snapshot, const EventMask* mask) noexcept;

}  // namespace accelscope
