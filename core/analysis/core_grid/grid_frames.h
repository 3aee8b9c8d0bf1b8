// A measure of every core, in equal frames of time: what the grid shows of any stretch, and plays. Frames follow each
// other without gaps and add up to the whole; a value of a stretch of frames is exact.
//
//   const auto frames = core_grid_frames(query, filter, measure, 256);
//   (*frames)->of_cell(cell, 10, 20)   // of frames 10 to 19
//
// Reads every event of the range that is on a core, window by window, so that memory does not grow with the session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/event_filter.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

// The cores of a session and where each lies. A source that knows coordinates names its tracks by them ("core 4,3" and,
// below it or alone, "core 4,3 BRISC"); each device is a chip of its own. Where no track is named so, the engines or
// streams of all devices are one grid: a column for each engine, a row for each device.

// Where chips have workers, memory and links: a letter for each place of the on-chip network, row by row. From the
// makers' descriptions of their chips; harvested workers differ from chip to chip and are not known here.

struct ChipPlan {
  std::string_view arch;                   // as the session's metadata names it, without "_b0"
  std::span<const std::string_view> rows;  // [y][x]: W worker, D memory, E link, P host, A management, R router only
  std::string_view source;

  [[nodiscard]] int columns() const noexcept { return static_cast<int>(rows.front().size()); }
  [[nodiscard]] int row_count() const noexcept { return static_cast<int>(rows.size()); }
  [[nodiscard]] bool holds(int x, int y) const noexcept { return x >= 0 && y >= 0 && x < columns() && y < row_count(); }
  [[nodiscard]] char at(int x, int y) const noexcept {
    return rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
  }
};

inline constexpr char kWorkerPlace = 'W';

// Null: nothing is known of it.
[[nodiscard]] const ChipPlan* find_chip_plan(std::string_view arch) noexcept;
// "DRAM", "Ethernet" ...; "" of a worker.
[[nodiscard]] std::string_view place_name(char place) noexcept;

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

// What of the cores can be measured, and its name in options: "busy", "wait", "events" or a column of a table,
// "dma.bytes"; of one zone alone, "zone:MATMUL"; of one of a core's processors alone, "part:TRISC_1".
//
//   busy    the time in which at least one event is under way that does not wait: a union over the core's lanes
//   wait    the same of events whose names mean waiting; what a table has summed up ("ns" of an instant) is added
//   zone    the time of the events of a name, waiting or not; what a table has summed up is added
//   events  those that share time with the range
//   column  the sum of its values; of events that the range cuts, in proportion to the time inside

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

struct GridFrames {
  CoreGrid grid;
  GridMeasure measure;
  TimeRange range;            // the filter's, no further than the session's events go
  std::size_t count = 0;      // of frames; 0: the range holds nothing
  std::vector<double> cells;  // [cell * count + frame]; ns of times, else the column's unit
  std::vector<double> parts;  // [part * count + frame]: the same of each part by itself; events: those that begin
  std::vector<std::uint32_t> begun;     // [cell * count + frame]: events of the measure that begin in it
  std::vector<std::uint32_t> entering;  // and that began before it and go on in it

  // The core has what is measured: the processor that was asked for. Else its values are 0 and mean nothing.
  [[nodiscard]] bool is_measured(std::size_t cell) const noexcept;
  [[nodiscard]] std::int64_t edge(std::size_t frame) const noexcept;   // where it begins; of `count`: where all end
  [[nodiscard]] std::size_t frame_at(std::int64_t ns) const noexcept;  // the nearest one for times outside
  // Of frames first to last - 1.
  [[nodiscard]] TimeRange stretch(std::size_t first, std::size_t last) const noexcept {
    return {edge(first), edge(last)};
  }
  [[nodiscard]] double of_cell(std::size_t cell, std::size_t first, std::size_t last) const noexcept;
  [[nodiscard]] double of_part(std::size_t part, std::size_t first, std::size_t last) const noexcept;
  [[nodiscard]] std::uint64_t events(std::size_t cell, std::size_t first, std::size_t last) const noexcept;
};

// At most `frames`; fewer where the range is shorter than so many ns. Tracks and terms of the filter are met by the
// query's mask. Fails when a chunk cannot be read or when cancelled.
[[nodiscard]] Result<std::shared_ptr<const GridFrames>> core_grid_frames(const QueryContext& query,
                                                                         const EventFilter& filter,
                                                                         const GridMeasure& measure,
                                                                         std::size_t frames);

// How evenly values are spread over the cores: the least, the most, those far from the others, and how much longer the
// most loaded one works than the mean (a chip is done when its last core is).
struct CoreSpread {
  double mean = 0, min = 0, max = 0;
  std::size_t least = 0, most = 0;  // indices of the values
  // max / mean; 1 is even, 0: there is no mean.
  double imbalance = 0;
  // Farther from the median than three standard deviations as the median deviation tells them (3 * 1.4826 * MAD), and
  // than a twentieth of the median; by index. Needs four values at least.
  std::vector<std::size_t> outliers;
};

[[nodiscard]] CoreSpread core_spread(std::span<const double> values);

}  // namespace accelscope::analysis
