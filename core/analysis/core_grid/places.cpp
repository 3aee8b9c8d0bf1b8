#include "core/analysis/core_grid/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>

#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"

namespace accelscope {
namespace {

// What stands before the coordinates in names of tracks.
constexpr std::array<std::string_view, 1> kCoreWords = {"core "};

struct CorePlace {
  int x = 0, y = 0;
  std::string_view core;  // "core 4,3"
  std::string_view part;  // "BRISC"; "" of the core itself
};

std::optional<CorePlace> read_core_place(std::string_view name) {
  for (const std::string_view word : kCoreWords) {
    if (!name.starts_with(word)) continue;
    CorePlace place;
    const char* const end = name.data() + name.size();
    const auto x = std::from_chars(name.data() + word.size(), end, place.x);
    if (x.ec != std::errc() || x.ptr == end || *x.ptr != ',') continue;
    const auto y = std::from_chars(x.ptr + 1, end, place.y);
    if (y.ec != std::errc() || (y.ptr != end && *y.ptr != ' ')) continue;
    place.core = name.substr(0, static_cast<std::size_t>(y.ptr - name.data()));
    std::string_view rest = name.substr(place.core.size());
    rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
    place.part = rest.substr(0, rest.find(' '));
    return place;
  }
  return std::nullopt;
}

struct FoundPart {
  std::string name;
  std::int64_t order = 0;
  std::vector<const TrackSnapshot*> tracks;
};
struct FoundCell {
  std::string name;
  TrackNumber track = kNone;
  std::vector<FoundPart> parts;

  FoundPart& part(std::string_view name_of_part, std::int64_t order) {
    for (FoundPart& each : parts) {
      if (each.name == name_of_part) return each;
    }
    return parts.emplace_back(FoundPart{std::string(name_of_part), order, {}});
  }
};
// By chip, row and column: the order of the cells.
using FoundCells = std::map<std::tuple<std::size_t, int, int>, FoundCell>;

FoundCells cells_by_name(const Snapshot& snapshot, const TrackDevices& devices, std::vector<GridChip>& chips) {
  FoundCells found;
  std::map<std::size_t, std::size_t> chip_of_device;
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    const Track& track = *snapshot.tracks[t].track;
    const auto place = read_core_place(track.name);
    if (!place) continue;
    const std::size_t device = devices.of_track(t);
    const auto [chip, is_new] = chip_of_device.try_emplace(device, chips.size());
    if (is_new) chips.push_back({.name = devices.label(device)});
    FoundCell& cell = found[{chip->second, place->y, place->x}];
    if (cell.name.empty()) cell.name = place->core;
    if (place->part.empty() || cell.track == kNone) cell.track = track.number;
    if (!snapshot.tracks[t].lanes.empty()) cell.part(place->part, track.order).tracks.push_back(&snapshot.tracks[t]);
  }
  return found;
}

template <typename Label>
int place_of(std::vector<std::string>& labels, const Label& label) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found != labels.end()) return static_cast<int>(found - labels.begin());
  labels.emplace_back(label);
  return static_cast<int>(labels.size()) - 1;
}

FoundCells cells_by_engine(const Snapshot& snapshot, const TrackDevices& devices, std::vector<GridChip>& chips) {
  FoundCells found;
  GridChip chip;
  std::map<TrackNumber, std::tuple<std::size_t, int, int>> cell_of_track;
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    const TrackSnapshot& track = snapshot.tracks[t];
    if (work_kind_of(track) != WorkKind::compute) continue;
    const auto above = cell_of_track.find(track.track->parent);
    if (above != cell_of_track.end()) {  // what lies below an engine is part of it
      cell_of_track[track.track->number] = above->second;
      found[above->second].parts.front().tracks.push_back(&track);
      continue;
    }
    const std::string& device = devices.label(devices.of_track(t));
    const int y = place_of(chip.row_labels, device);
    const int x = place_of(chip.column_labels, track.track->name);
    FoundCell& cell = found[{0, y, x}];
    cell.name = device.empty() ? track.track->name : device + " " + track.track->name;
    if (cell.track == kNone) cell.track = track.track->number;
    cell.part("", 0).tracks.push_back(&track);
    cell_of_track[track.track->number] = {0, y, x};
  }
  if (!found.empty()) chips.push_back(std::move(chip));
  return found;
}

// has_cycles: the clock of its tracks counts the cycles of the core, not any other unit.
void add_cell(CoreGrid& grid, const Snapshot& snapshot, GridCell cell, FoundCell found, bool has_cycles) {
  std::stable_sort(found.parts.begin(), found.parts.end(),
                   [](const FoundPart& a, const FoundPart& b) { return a.order < b.order; });
  cell.name = std::move(found.name);
  cell.track = found.track;
  cell.first_part = grid.parts.size();
  cell.part_count = found.parts.size();
  for (FoundPart& part : found.parts) {
    GridPart& added = grid.parts.emplace_back(GridPart{std::move(part.name), {}, {}});
    for (const TrackSnapshot* track : part.tracks) {
      added.tracks.push_back(track->track->number);
      for (const std::uint32_t lane : track->lanes) {
        added.lanes.push_back(lane);
        grid.lane_parts[lane] = static_cast<std::int32_t>(grid.parts.size() - 1);
      }
      for (const auto& clock : snapshot.clocks) {
        if (has_cycles && clock->number == track->track->clock) cell.ticks_per_ns = clock->ticks_per_ns;
      }
    }
    grid.part_cells.push_back(grid.cells.size());
  }
  grid.cells.push_back(std::move(cell));
}

// A plan that has no place, or no processor, where the session has a core is of another kind of coordinates.
const ChipPlan* plan_of(const CoreGrid& grid, std::size_t chip, std::string_view arch) {
  const ChipPlan* plan = find_chip_plan(arch);
  if (plan == nullptr) return nullptr;
  for (const GridCell& cell : grid.cells) {
    if (cell.chip != chip) continue;
    if (!plan->holds(cell.x, cell.y)) return nullptr;
    const char place = plan->at(cell.x, cell.y);
    if (place != kWorkerPlace && place != 'E') return nullptr;
  }
  return plan;
}

// Coordinates that lie too far apart for a picture become their ranks, named by what they were.
constexpr std::int64_t kMostPlaces = 128;
std::vector<std::string> close_ranks(CoreGrid& grid, std::size_t chip, int GridCell::*coordinate) {
  std::vector<int> used;
  for (const GridCell& cell : grid.cells) {
    if (cell.chip == chip) used.push_back(cell.*coordinate);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (used.empty() || std::int64_t{used.back()} - used.front() < kMostPlaces) return {};
  for (GridCell& cell : grid.cells) {
    if (cell.chip != chip) continue;
    cell.*coordinate = static_cast<int>(std::lower_bound(used.begin(), used.end(), cell.*coordinate) - used.begin());
  }
  std::vector<std::string> labels;
  labels.reserve(used.size());
  for (const int each : used) labels.push_back(std::to_string(each));
  return labels;
}

void measure_chip(CoreGrid& grid, std::size_t number, std::string_view arch) {
  GridChip& chip = grid.chips[number];
  chip.plan = chip.column_labels.empty() ? plan_of(grid, number, arch) : nullptr;
  if (chip.plan != nullptr) {
    chip.columns = chip.plan->columns();
    chip.rows = chip.plan->row_count();
    return;
  }
  if (chip.column_labels.empty()) chip.column_labels = close_ranks(grid, number, &GridCell::x);
  if (chip.row_labels.empty()) chip.row_labels = close_ranks(grid, number, &GridCell::y);
  int x1 = 0, y1 = 0;
  bool any = false;
  for (const GridCell& cell : grid.cells) {
    if (cell.chip != number) continue;
    chip.x0 = any ? std::min(chip.x0, cell.x) : cell.x;
    chip.y0 = any ? std::min(chip.y0, cell.y) : cell.y;
    x1 = std::max(x1, cell.x);
    y1 = std::max(y1, cell.y);
    any = true;
  }
  chip.columns = x1 - chip.x0 + 1;
  chip.rows = y1 - chip.y0 + 1;
}

}  // namespace

std::optional<std::size_t> CoreGrid::find(std::size_t chip, int x, int y) const {
  const auto key = std::tuple(chip, y, x);
  const auto found = std::lower_bound(cells.begin(), cells.end(), key, [](const GridCell& cell, const auto& wanted) {
    return std::tuple(cell.chip, cell.y, cell.x) < wanted;
  });
  if (found == cells.end() || std::tuple(found->chip, found->y, found->x) != key) return std::nullopt;
  return static_cast<std::size_t>(found - cells.begin());
}

std::vector<TrackNumber> CoreGrid::tracks_of(std::size_t cell) const {
  std::vector<TrackNumber> tracks;
  for (std::size_t p = 0; p < cells[cell].part_count; ++p) {
    const GridPart& part = parts[cells[cell].first_part + p];
    tracks.insert(tracks.end(), part.tracks.begin(), part.tracks.end());
  }
  return tracks;
}

std::vector<std::string> CoreGrid::part_names() const {
  std::vector<std::pair<std::int64_t, std::string>> names;  // by their place in a core
  for (const GridCell& cell : cells) {
    for (std::size_t p = 0; p < cell.part_count; ++p) {
      const std::string& name = parts[cell.first_part + p].name;
      if (name.empty()) continue;
      const auto known =
          std::find_if(names.begin(), names.end(), [&](const auto& each) { return each.second == name; });
      if (known == names.end()) names.emplace_back(p, name);
    }
  }
  std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> sorted;
  for (auto& [place, name] : names) sorted.push_back(std::move(name));
  return sorted;
}

CoreGrid core_grid_of(const Snapshot& snapshot) {
  CoreGrid grid;
  grid.lane_parts.assign(snapshot.lanes.size(), -1);
  const TrackDevices devices(snapshot);
  FoundCells found = cells_by_name(snapshot, devices, grid.chips);
  const bool has_coordinates = !found.empty();
  if (!has_coordinates) found = cells_by_engine(snapshot, devices, grid.chips);
  for (auto& [place, cell] : found) {
    if (cell.parts.empty()) continue;
    GridCell made;
    std::tie(made.chip, made.y, made.x) = place;
    add_cell(grid, snapshot, std::move(made), std::move(cell), has_coordinates);
  }
  const std::string_view arch = snapshot.meta_value("arch");
  for (std::size_t chip = 0; chip < grid.chips.size(); ++chip) measure_chip(grid, chip, arch);
  return grid;
}

}  // namespace accelscope
