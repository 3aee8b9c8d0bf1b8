#include "core/analysis/hierarchy/hierarchy_units.h"

#include <array>
#include <map>
#include <string_view>

#include "core/analysis/hierarchy/node_sums.h"
#include "core/names/table_titles.h"

namespace accelscope {
namespace {

struct UnitRule {
  std::string_view track_kind, unit;
};
constexpr std::array kUnitRules = std::to_array<UnitRule>({
    {"dma_queue", "DMA"},
    {"collective", "Collectives"},
    {"cc_core", "Collectives"},
    {"host_thread", "Host"},
});

// Engines are called as they are on every core and device: "core 1,1 BRISC" -> "BRISC".
std::string unit_of(const TrackSnapshot& track) {
  for (const UnitRule& rule : kUnitRules) {
    if (rule.track_kind == track.track->kind) return std::string(rule.unit);
  }
  const std::string& name = track.track->name;
  const std::size_t space = name.rfind(' ');
  const bool counts =
      space != std::string::npos && name.find_first_not_of("0123456789", space + 1) == std::string::npos;
  if (track.track->kind == "engine" && !counts) return space == std::string::npos ? name : name.substr(space + 1);
  return track.schema ? table_title(track.schema->name) : name;
}

}  // namespace

HierarchyUnits::HierarchyUnits(const Snapshot& snapshot, const WorkKinds& works, const LaneIndices& lanes)
    : lane_units_(snapshot.lanes.size(), 0) {
  std::map<TrackNumber, std::uint32_t> of_track;
  std::map<std::string, std::uint32_t> numbers;
  for (const std::uint32_t lane : lanes) {
    const TrackNumber number = snapshot.lanes[lane].track;
    const auto [known, is_new] = of_track.try_emplace(number, 0);
    if (is_new) {
      const TrackSnapshot* track = snapshot.find_track(number);
      std::string name = track == nullptr ? "Other" : unit_of(*track);
      if (works.of_lane(lane) == WorkKind::none) name = "Marks";
      const bool full = units_.size() + 1 >= WindowSums::kMostUnits && !numbers.contains(name);
      if (full) name = "Other";
      const auto [unit, made] = numbers.try_emplace(name, static_cast<std::uint32_t>(units_.size()));
      if (made) units_.push_back({name, {}});
      units_[unit->second].tracks.push_back(number);
      known->second = unit->second;
    }
    lane_units_[lane] = known->second;
  }
  if (units_.empty()) units_.push_back({"Other", {}});
}

}  // namespace accelscope
