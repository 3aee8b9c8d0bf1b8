// Which rows the timeline has: tracks grouped by kind and device in the order users know from their vendor's tools,
// groups that are open or collapsed, tracks below their parents, the sub-lanes of a track in one row. Product rules
// only; no drawing.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/analysis/memory_usage.h"
#include "core/store/snapshot.h"

namespace accelscope::app {

enum class RowKind : std::uint8_t { group, slices, counter, memory };

struct TimelineRow {
  RowKind kind = RowKind::slices;
  std::string key;  // stable between frames and sessions: "group:Engines", "track:3"
  std::string label;
  std::string count;                 // of a group: "4 queues"; else empty
  std::vector<std::uint32_t> lanes;  // indices into Snapshot::lanes: by depth; of a group: all of its rows
  const Track* track = nullptr;      // lives as long as the snapshot; null for groups and memory pools
  bool open = true;                  // of a group, or of a track that has others below it
  bool has_children = false;         // a track: other tracks belong to it and show when it is open
  int depth = 0;                     // of tracks below tracks
  std::uint32_t pool = 0;            // of a memory row: index into MemoryUsage::pools
  float height = 0;                  // units at 100 %
};

// What the user has changed: rows that are not open or closed as they are by default.
struct RowChoices {
  std::unordered_map<std::string, bool> open;  // by the row's key
  bool operator==(const RowChoices&) const = default;
};

// `memory` may be null: then tracks of kind memory have no area yet, only their events.
[[nodiscard]] std::vector<TimelineRow> compose_rows(const Snapshot& snapshot, const MemoryUsage* memory,
                                                    const RowChoices& choices);

// Height of a row with this many sub-lanes, and of the slices in it; units at 100 %.
struct SubLaneSizes {
  float row = 0;
  float step = 0;  // from one sub-lane to the next
  float slice = 0;
};
[[nodiscard]] SubLaneSizes sub_lane_sizes(std::size_t lanes) noexcept;

}  // namespace accelscope::app
