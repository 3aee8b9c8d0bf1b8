// A search, ready to be tested on blocks of a snapshot's events: its names as a set of strings, its other terms as
// conditions for each schema. Safe to use by several threads at once.
#pragma once

#include <memory>
#include <vector>

#include "core/scan/chunk_scan.h"
#include "core/search/condition.h"
#include "core/search/search.h"

namespace accelscope {

// The bits first..last - 1 of a block's word.
[[nodiscard]] constexpr std::uint64_t bits_between(std::uint32_t first, std::uint32_t last) noexcept {
  const std::uint64_t below_last = last == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << last) - 1;
  return below_last & ~((std::uint64_t{1} << first) - 1);
}

class EventMatcher {
 public:
  EventMatcher() = default;
  // Fails if an expression or a value is wrong, or a column is in no schema of the lanes.
  [[nodiscard]] static Result<EventMatcher> prepare(const QueryContext& context, const SearchQuery& query,
                                                    const LaneIndices& lanes);

  [[nodiscard]] bool any_name() const noexcept { return any_name_; }      // no condition on the name
  [[nodiscard]] bool names_only() const noexcept { return names_only_; }  // no other condition on the events of a lane
  [[nodiscard]] bool all_lanes() const noexcept { return all_lanes_; }    // no condition on the lane
  [[nodiscard]] const StringSet& names() const noexcept { return names_; }
  [[nodiscard]] bool matches_name(std::uint64_t name) const noexcept { return any_name_ || names_.contains(name); }
  // False: the lane's schema lacks a column that is asked for, or the lane was not prepared for.
  [[nodiscard]] bool covers(std::uint32_t lane_index) const noexcept {
    return lane_index < conditions_.size() && conditions_[lane_index] != nullptr;
  }
  // False if the chunk's statistics rule out every event.
  [[nodiscard]] bool possible(const ScannedChunk& chunk) const;
  // Hits among the events first..last of the block, one bit each. Needs covers() of the lane.
  [[nodiscard]] std::uint64_t hits(const ScannedChunk& chunk, const ScannedBlock& block) const;

 private:
  Result<void> set_names(const QueryContext& context, const SearchQuery& query);
  Result<void> set_conditions(const QueryContext& context, const SearchQuery& query, const LaneIndices& selected);

  bool any_name_ = true;
  bool names_only_ = true;
  bool all_lanes_ = true;
  StringSet names_;
  std::vector<std::shared_ptr<const std::vector<Condition>>> conditions_;  // by lane index; null: not covered
};

}  // namespace accelscope
