// The cores of a session and where each lies. A source that knows coordinates names its tracks by them ("core 4,3" and,
// below it or alone, "core 4,3 BRISC"); each device is a chip of its own. Where no track is named so, the engines or
// streams of all devices are one grid: a column for each engine, a row for each device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/core_grid/chip_plans.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

// One of the processors that work side by side in a core.
struct GridPart {
  std::string name;                  // "BRISC"; of an engine that is a cell by itself: ""
  std::vector<TrackNumber> tracks;   // with events of their own
  std::vector<std::uint32_t> lanes;  // indices into Snapshot::lanes
};

struct GridCell {
  std::size_t chip = 0;
  int x = 0, y = 0;
  std::string name;            // "core 4,3", "nc0 Tensor"
  TrackNumber track = kNone;   // the row that all of it lies below, else the first of its tracks
  std::size_t first_part = 0;  // indices into CoreGrid::parts
  std::size_t part_count = 0;
  double ticks_per_ns = 0;  // cycles of its clock; 0: it has none
};

struct GridChip {
  std::string name;    // "chip 0"; "" where the devices are the rows
  int x0 = 0, y0 = 0;  // the least column and row that are shown
  int columns = 0, rows = 0;
  const ChipPlan* plan = nullptr;                      // null: what lies between the cores is not known
  std::vector<std::string> column_labels, row_labels;  // empty: numbers
};

struct CoreGrid {
  std::vector<GridChip> chips;
  std::vector<GridCell> cells;  // by chip, then row, then column
  std::vector<GridPart> parts;  // by cell

  [[nodiscard]] bool empty() const noexcept { return cells.empty(); }
  // Else the cells are engines or streams by devices, which have no places on a chip.
  [[nodiscard]] bool has_places() const noexcept { return !chips.empty() && !chips.front().name.empty(); }
  [[nodiscard]] std::optional<std::size_t> find(std::size_t chip, int x, int y) const;
  [[nodiscard]] std::optional<std::size_t> cell_of_lane(std::uint32_t lane) const noexcept {
    return lane < lane_parts.size() && lane_parts[lane] >= 0
               ? std::optional(part_cells[static_cast<std::size_t>(lane_parts[lane])])
               : std::nullopt;
  }
  [[nodiscard]] std::vector<TrackNumber> tracks_of(std::size_t cell) const;
  // The names of parts, each once, in the order of their first core.
  [[nodiscard]] std::vector<std::string> part_names() const;

  std::vector<std::size_t> part_cells;   // the cell of each part
  std::vector<std::int32_t> lane_parts;  // the part of each of the snapshot's lanes; -1: of no core
};

// What a part holds can be asked for by name; "" is any part.
[[nodiscard]] CoreGrid core_grid_of(const Snapshot& snapshot);

}  // namespace accelscope
