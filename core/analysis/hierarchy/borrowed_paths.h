// Work whose table names no path takes that of the event that set it off: a transfer that of the instruction which a
// flow leads from, and its packets that of the transfer that they are a part of (Vendor::part_column).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/analysis/hierarchy/path_kinds.h"

namespace accelscope::analysis {

class BorrowedPaths {
 public:
  BorrowedPaths() = default;
  // For the kinds that borrow; `lanes`: those that have paths themselves. Reads the flows, what they lead from and the
  // transfers they lead to.
  [[nodiscard]] static Result<BorrowedPaths> find(const QueryContext& query, const PathKind& kind,
                                                  const WorkKinds& works, const LaneIndices& lanes);

  // Some of whose events have such paths. Of a transfer and its packets only the packets, which take its time.
  [[nodiscard]] const LaneIndices& lanes() const noexcept { return lanes_; }
  [[nodiscard]] bool has_lane(std::uint32_t lane) const noexcept {
    return std::find(lanes_.begin(), lanes_.end(), lane) != lanes_.end();
  }
  // The column that says of what the events of a lane are parts; nothing: they are found by their ids.
  [[nodiscard]] static std::optional<std::size_t> part_column(const Schema& schema);
  // By key of the whole, of the lane's source; null: none of them.
  using Wholes = std::unordered_map<std::uint64_t, StringId>;
  [[nodiscard]] const Wholes* wholes_of(LaneNumber lane) const noexcept {
    const auto found = wholes_.find(scope_of(lane));
    return found == wholes_.end() ? nullptr : &found->second;
  }
  // 0: it has none.
  [[nodiscard]] StringId of_event(EventId event) const noexcept {
    const auto found = std::lower_bound(events_.begin(), events_.end(), std::pair(event, StringId{0}));
    return found != events_.end() && found->first == event ? found->second : 0;
  }

 private:
  LaneIndices lanes_;
  std::vector<std::pair<EventId, StringId>> events_;  // by event
  std::map<std::uint32_t, Wholes> wholes_;            // by scope
};

}  // namespace accelscope::analysis
