#include "core/listing/analysis_listings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace accelscope::listing {
namespace {

std::vector<ListingColumn> core_grid_columns(const analysis::GridFrames& frames, const Snapshot& snapshot) {
  const analysis::GridMeasure& measure = frames.measure;
  const std::string unit = analysis::grid_measure_unit(measure, snapshot);
  const std::string value = unit == Unit::ns ? "value_ns" : unit == Unit::bytes ? "value_bytes" : "value";
  const std::string how = measure.is_time()
                              ? "Time covered by its events, each moment once over all processors of the core. It is "
                                "occupancy: a zone that waits inside for data counts, too"
                              : "Of the events of the range";
  std::vector<ListingColumn> columns = {
      {"core", frames.grid.has_places() ? "Core" : "Lane", "", ""},
      {"note", "Note", "",
       "The core of most and of least; far: farther from the median than three standard deviations, as the median "
       "deviation tells them"},
      {value, analysis::grid_measure_title(measure, snapshot), unit, how}};
  if (frames.grid.has_places() && measure.is_time())
    columns.push_back({"cycles", "Cycles", "", "The same time in cycles of the chip's clock"});
  columns.push_back({"share", "Share", "share", measure.is_time() ? "Of the range" : "Of all cores together"});
  columns.push_back({"events", "Events", "", "Events of the measure that share time with the range"});
  // The core's name has its place; of lanes, the device.
  const bool one_chip = !frames.grid.has_places() || frames.grid.chips.size() < 2;
  columns.push_back({"chip", "Chip", "", "The device that the core is part of", {.aside = one_chip}});
  if (!frames.grid.has_places()) return columns;
  columns.push_back({"x", "x", "", "Column of the core on the chip", {.aside = true}});
  columns.push_back({"y", "y", "", "Row of the core on the chip", {.aside = true}});
  columns.push_back({"parts", "Processors", "", "Those of the core that recorded events"});
  return columns;
}

std::string parts_text(const analysis::CoreGrid& grid, const analysis::GridCell& cell) {
  std::string text;
  for (std::size_t p = 0; p < cell.part_count; ++p) {
    const std::string& name = grid.parts[cell.first_part + p].name;
    if (!name.empty()) text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

std::string chip_text(const analysis::CoreGrid& grid, const analysis::GridCell& cell) {
  const analysis::GridChip& chip = grid.chips[cell.chip];
  if (!chip.name.empty() || chip.row_labels.empty()) return chip.name;
  return chip.row_labels[static_cast<std::size_t>(cell.y)];
}

}  // namespace

CoreValues core_grid_values(const analysis::GridFrames& frames, std::size_t first, std::size_t last) {
  CoreValues found{.cells = std::vector<std::optional<double>>(frames.grid.cells.size()), .spread = {}};
  std::vector<double> values;
  std::vector<std::size_t> cells;
  for (std::size_t cell = 0; cell < found.cells.size(); ++cell) {
    if (!frames.is_measured(cell)) continue;
    values.push_back(frames.of_cell(cell, first, last));
    cells.push_back(cell);
    found.cells[cell] = values.back();
  }
  found.measured = cells.size();
  found.spread = analysis::core_spread(values);
  if (cells.empty()) return found;
  found.spread.least = cells[found.spread.least];
  found.spread.most = cells[found.spread.most];
  for (std::size_t& outlier : found.spread.outliers) outlier = cells[outlier];
  return found;
}

CoreValues core_grid_shares(const analysis::GridFrames& frames, std::size_t first, std::size_t last) {
  CoreValues found = core_grid_values(frames, first, last);
  const auto length = static_cast<double>(std::max<std::int64_t>(1, frames.stretch(first, last).length_ns()));
  for (std::optional<double>& each : found.cells) {
    if (each) *each /= length;
  }
  for (double* each : {&found.spread.mean, &found.spread.min, &found.spread.max}) *each /= length;
  return found;
}

std::vector<std::size_t> core_grid_order(const CoreValues& values) {
  constexpr int kPlain = 3, kMissing = 4;
  std::vector<int> ranks(values.cells.size(), kPlain);
  for (const std::size_t cell : values.spread.outliers) ranks[cell] = 2;
  if (values.measured > 0) ranks[values.spread.least] = 1, ranks[values.spread.most] = 0;
  for (std::size_t cell = 0; cell < ranks.size(); ++cell) {
    if (!values.cells[cell]) ranks[cell] = kMissing;
  }
  std::vector<std::size_t> order(values.cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return ranks[a] != ranks[b] ? ranks[a] < ranks[b] : values.cells[a].value_or(0) > values.cells[b].value_or(0);
  });
  return order;
}

Listing core_grid_listing(const analysis::GridFrames& frames, const Snapshot& snapshot, std::size_t first,
                          std::size_t last, std::span<const std::size_t> order) {
  Listing listing(core_grid_columns(frames, snapshot));
  const CoreValues values = core_grid_values(frames, first, last);
  const analysis::CoreSpread& spread = values.spread;
  const bool is_time = frames.measure.is_time(), on_chips = frames.grid.has_places();
  double whole = is_time ? static_cast<double>(frames.stretch(first, last).length_ns()) : 0;
  for (std::size_t cell = 0; cell < values.cells.size() && !is_time; ++cell) whole += values.cells[cell].value_or(0);
  const auto number = [](std::optional<double> value) -> SqlValue {
    if (!value) return {};
    const bool is_whole = *value == std::floor(*value) && std::abs(*value) < 9e15;
    return is_whole ? SqlValue(static_cast<std::int64_t>(*value)) : SqlValue(*value);
  };
  for (const std::size_t index : order) {
    const analysis::GridCell& cell = frames.grid.cells[index];
    const std::optional<double> value = values.cells[index];
    const bool far = std::binary_search(spread.outliers.begin(), spread.outliers.end(), index);
    std::string note = far ? "far" : "";
    if (spread.max > spread.min && index == spread.most) note = far ? "most, far" : "most";
    if (spread.max > spread.min && index == spread.least) note = far ? "least, far" : "least";
    EventFilter target;
    target.tracks = frames.grid.tracks_of(index);
    std::vector<SqlValue> cells = {cell.name, note, number(value)};
    if (on_chips && is_time) {
      cells.push_back(cell.ticks_per_ns > 0 && value
                          ? SqlValue(static_cast<std::int64_t>(std::llround(*value * cell.ticks_per_ns)))
                          : SqlValue());
    }
    cells.push_back(whole > 0 && value ? SqlValue(*value / whole) : SqlValue());
    cells.push_back(value ? SqlValue(static_cast<std::int64_t>(frames.events(index, first, last))) : SqlValue());
    cells.emplace_back(chip_text(frames.grid, cell));
    if (on_chips) {
      cells.emplace_back(std::int64_t{cell.x});
      cells.emplace_back(std::int64_t{cell.y});
      cells.emplace_back(parts_text(frames.grid, cell));
    }
    listing.add(std::move(cells), target);
  }
  if (values.measured < values.cells.size())
    listing.note = fmt::format("{} of {} cores have no {}", values.cells.size() - values.measured, values.cells.size(),
                               frames.measure.part);
  if (spread.imbalance > 0 && values.measured > 1)
    listing.note += (listing.note.empty() ? "" : "; ") +
                    fmt::format("the most loaded core has {:.3g} times the mean of all", spread.imbalance);
  return listing;
}

Result<Listing> list_core_grid(const QueryContext& query, const ListingRequest& request) {
  const Snapshot& snapshot = *query.snapshot;
  const analysis::CoreGrid grid = analysis::core_grid_of(snapshot);
  const auto measure = TRY(analysis::parse_grid_measure(request.by, snapshot, grid));
  const auto frames = TRY(analysis::core_grid_frames(query, request.filter, measure, 1));
  if (frames->grid.empty() || frames->count == 0) {
    Listing listing(core_grid_columns(*frames, snapshot));
    listing.note = grid.empty() ? "no track is named by the coordinates of a core, and there is no engine or stream"
                                : "the range holds no event";
    return listing;
  }
  const std::vector<std::size_t> order = core_grid_order(core_grid_values(*frames, 0, frames->count));
  return core_grid_listing(*frames, snapshot, 0, frames->count, order);
}

}  // namespace accelscope::listing
