// What runs the events of a session, at most WindowSums::kMostUnits of them: engines by name over all devices, streams
// by what runs on them, transfers, collectives, threads of the host.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/time/work_kind.h"

namespace accelscope {

struct HierarchyUnit {
  std::string name;                 // "Tensor"
  std::vector<TrackNumber> tracks;  // with events
};

// Of the lanes that take part. Past the most, further ones are one unit, "Other".
class HierarchyUnits {
 public:
  HierarchyUnits(const Snapshot& snapshot, const WorkKinds& works, const LaneIndices& lanes);
  [[nodiscard]] std::uint32_t of_lane(std::uint32_t lane) const noexcept { return lane_units_[lane]; }
  [[nodiscard]] const std::vector<HierarchyUnit>& units() const noexcept { return units_; }

 private:
  std::vector<HierarchyUnit> units_;
  std::vector<std::uint32_t> lane_units_;  // by lane of the snapshot
};

}  // namespace accelscope
