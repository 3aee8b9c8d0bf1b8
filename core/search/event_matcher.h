// A search, ready to be tested on a snapshot's events: a predicate for each lane. Safe to use by several threads at
// once.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/scan/chunk_scan.h"
#include "core/scan/predicate.h"
#include "core/search/search.h"

namespace accelscope::search {

class EventMatcher {
 public:
  EventMatcher() = default;
  // Fails if an expression or a value is wrong, or a column is in no schema of the lanes. Of the context's mask only
  // events that pass match; it and the snapshot must outlive the matcher.
  [[nodiscard]] static Result<EventMatcher> prepare(const QueryContext& context, const SearchQuery& query,
                                                    const LaneIndices& lanes);

  [[nodiscard]] const StringTest* names() const noexcept { return names_.get(); }  // null: any
  [[nodiscard]] bool any_name() const noexcept { return names_ == nullptr; }       // no condition on the name
  [[nodiscard]] bool names_only() const noexcept { return names_only_; }  // no other condition on the events of a lane
  [[nodiscard]] bool all_lanes() const noexcept { return all_lanes_; }    // no condition on the lane
  [[nodiscard]] bool matches_name(StringId name) const { return names_ == nullptr || names_->keeps(name); }
  // Null: the lane's schema lacks a column that is asked for, or the lane was not prepared for.
  [[nodiscard]] const LanePredicate* of_lane(std::uint32_t lane_index) const noexcept {
    return lane_index < lanes_.size() && lanes_[lane_index] ? &*lanes_[lane_index] : nullptr;
  }

 private:
  Result<void> set_names(const QueryContext& context, const SearchQuery& query);
  Result<void> set_conditions(const QueryContext& context, const SearchQuery& query, const LaneIndices& selected);

  bool names_only_ = true;
  bool all_lanes_ = true;
  std::shared_ptr<const StringTest> names_;  // null: any
  std::vector<std::optional<LanePredicate>> lanes_;
};

struct MatchTerm {
  EventMatcher matcher;
  bool excluded = false;
};
// The events of some lanes that match every term, and no excluded one. `previous` is the mask of the same terms from an
// earlier snapshot of the same store, or null: then only what is new is read. The filter of such a mask is empty.
[[nodiscard]] Result<std::shared_ptr<EventMask>> mask_of_terms(const QueryContext& query, const LaneIndices& lanes,
                                                               const std::vector<MatchTerm>& terms,
                                                               const EventMask* previous);

// The hits of one chunk.
class ChunkHits {
 public:
  ChunkHits(const EventMatcher& matcher, const ScannedChunk& chunk);
  [[nodiscard]] bool possible() const noexcept { return part_.any; }  // false: the chunk has none
  // One bit each. Needs possible().
  [[nodiscard]] std::uint64_t of(std::uint32_t block);
  [[nodiscard]] std::uint64_t of(const ScannedBlock& block) {
    return of(block.block) & bits_between(block.first, block.last);
  }

 private:
  const LanePredicate* predicate_;
  ChunkPart part_;
  BlockReader& reader_;  // of the chunk
  std::optional<std::uint32_t> block_;
  std::uint64_t hits_ = 0;
};

}  // namespace accelscope::search
