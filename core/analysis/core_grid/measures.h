// What of the cores can be measured, and its name in options: "busy", "wait", "events" or a column of a table,
// "dma.bytes"; of one zone alone, "zone:MATMUL"; of one of a core's processors alone, "part:TRISC_1".
//
//   busy    the time in which at least one event is under way that does not wait: a union over the core's lanes
//   wait    the same of events whose names mean waiting; what a table has summed up ("ns" of an instant) is added
//   zone    the time of the events of a name, waiting or not; what a table has summed up is added
//   events  those that share time with the range
//   column  the sum of its values; of events that the range cuts, in proportion to the time inside
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/core_grid/places.h"

namespace accelscope {

enum class GridMeasureKind : std::uint8_t { busy, wait, events, column };

struct GridMeasure {
  GridMeasureKind kind = GridMeasureKind::busy;
  std::string table, column;  // of GridMeasureKind::column
  std::string zone;           // "": any; with it, busy is the time of its events
  std::string part;           // "": all of the core

  [[nodiscard]] bool is_time() const noexcept { return kind == GridMeasureKind::busy || kind == GridMeasureKind::wait; }
  bool operator==(const GridMeasure&) const = default;
};

struct GridColumn {
  std::string table, column, title, unit;
};
// What a session offers.
struct GridOffer {
  static constexpr std::size_t kMostZones = 200;
  std::vector<GridColumn> columns;
  std::vector<std::string> zones;  // longest time first
  std::vector<std::string> parts;
  bool waits = false;  // something waits by its name
};
[[nodiscard]] Result<GridOffer> core_grid_offer(const QueryContext& query, const CoreGrid& grid);

// Of the words of an option. The error says what there is; `grid` and the snapshot's schemas decide.
[[nodiscard]] Result<GridMeasure> parse_grid_measure(const std::vector<std::string>& words, const Snapshot& snapshot,
                                                     const CoreGrid& grid);

// "Busy", "Wait of TRISC_0", "MATMUL_TILES on TRISC_1", "Bytes"; and its unit as in figure_text.h.
[[nodiscard]] std::string grid_measure_title(const GridMeasure& measure, const Snapshot& snapshot);
[[nodiscard]] std::string grid_measure_unit(const GridMeasure& measure, const Snapshot& snapshot);

// The column of an instant's table that says how much time it stands for ("ns"); nothing: it has none.
[[nodiscard]] std::optional<std::size_t> summed_time_column(const Schema& schema);

}  // namespace accelscope
