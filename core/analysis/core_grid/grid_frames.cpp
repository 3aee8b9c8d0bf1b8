#include "core/analysis/core_grid/grid_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>

#include "core/analysis/statistics/estimates.h"
#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"
#include "core/lod/range_statistics.h"
#include "core/scan/column_values.h"
#include "core/scan/group_by.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

constexpr std::array<std::string_view, 12> kWormhole = {"DEEEEDEEEE", "DWWWWDWWWW", "RWWWWDWWWW", "PWWWWDWWWW",
                                                        "RWWWWDWWWW", "DWWWWDWWWW", "DEEEEDEEEE", "DWWWWDWWWW",
                                                        "RWWWWDWWWW", "RWWWWDWWWW", "AWWWWDWWWW", "DWWWWDWWWW"};
constexpr std::array<std::string_view, 12> kBlackhole = {"DRPRRRRRADRPRRRRR", "DEEEEEEERDEEEEEEE", "DWWWWWWWRDWWWWWWW",
                                                         "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW",
                                                         "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW",
                                                         "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW", "DWWWWWWWRDWWWWWWW"};
constexpr std::array<std::string_view, 12> kGrayskull = {
    "RDRRDRRDRRDRR", "RWWWWWWWWWWWW", "AWWWWWWWWWWWW", "RWWWWWWWWWWWW", "PWWWWWWWWWWWW", "RWWWWWWWWWWWW",
    "RDRRDRRDRRDRR", "RWWWWWWWWWWWW", "RWWWWWWWWWWWW", "RWWWWWWWWWWWW", "RWWWWWWWWWWWW", "RWWWWWWWWWWWW"};

constexpr std::array<ChipPlan, 3> kChipPlans = {{
    {"grayskull", kGrayskull, "tt-metal: soc_descriptors/grayskull_120_arch.yaml"},
    {"wormhole", kWormhole, "tt-metal: soc_descriptors/wormhole_b0_80_arch.yaml"},
    {"blackhole", kBlackhole, "tt-metal: soc_descriptors/blackhole_140_arch.yaml"},
}};

struct PlaceWord {
  char place;
  std::string_view name;
};
constexpr std::array<PlaceWord, 5> kPlaceWords = {
    {{'D', "DRAM"}, {'E', "Ethernet"}, {'P', "PCIe"}, {'A', "management processor"}, {'R', "router only"}}};

}  // namespace

const ChipPlan* find_chip_plan(std::string_view arch) noexcept {
  for (const ChipPlan& plan : kChipPlans) {
    if (arch.starts_with(plan.arch)) return &plan;
  }
  return nullptr;
}

std::string_view place_name(char place) noexcept {
  for (const PlaceWord& each : kPlaceWords) {
    if (each.place == place) return each.name;
  }
  return "";
}

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
  std::ranges::stable_sort(found.parts, {}, &FoundPart::order);
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
  std::ranges::sort(used);
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
      const auto known = std::ranges::find_if(names, [&](const auto& each) { return each.second == name; });
      if (known == names.end()) names.emplace_back(p, name);
    }
  }
  std::ranges::stable_sort(names, {}, [](const auto& each) { return each.first; });
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

namespace {

struct MeasureWord {
  std::string_view word;
  GridMeasureKind kind;
  std::string_view title;
};
constexpr std::array<MeasureWord, 3> kMeasureWords = {{{"busy", GridMeasureKind::busy, "Busy"},
                                                       {"wait", GridMeasureKind::wait, "Wait"},
                                                       {"events", GridMeasureKind::events, "Events"}}};
constexpr std::string_view kZoneWord = "zone:", kPartWord = "part:";

bool can_be_summed(const Column& column) {
  if (is_text(column.type) || column.type == ColumnType::boolean) return false;
  return column.role == Role::bytes || column.role == Role::flops || column.role == Role::value ||
         column.unit == Unit::bytes;
}

std::vector<const Schema*> schemas_of(const Snapshot& snapshot, const CoreGrid& grid) {
  std::vector<const Schema*> schemas;
  for (const GridPart& part : grid.parts) {
    for (const TrackNumber number : part.tracks) {
      const TrackSnapshot* track = snapshot.find_track(number);
      if (track == nullptr || !track->schema) continue;
      if (std::find(schemas.begin(), schemas.end(), track->schema.get()) == schemas.end())
        schemas.push_back(track->schema.get());
    }
  }
  return schemas;
}

const Column* column_of(const Snapshot& snapshot, const GridMeasure& measure) {
  for (const auto& schema : snapshot.schemas) {
    if (schema->name != measure.table) continue;
    const auto column = schema->find(measure.column);
    if (column) return &schema->columns[*column];
  }
  return nullptr;
}

std::vector<GridColumn> columns_offered(const Snapshot& snapshot, const CoreGrid& grid) {
  std::vector<GridColumn> offered;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Schema* schema : schemas_of(snapshot, grid)) {
    for (const Column& column : schema->columns) {
      if (!can_be_summed(column) || !seen.emplace(schema->name, column.name).second) continue;
      offered.push_back({schema->name, column.name, column.title.empty() ? column.name : column.title, column.unit});
    }
  }
  return offered;
}

}  // namespace

std::optional<std::size_t> summed_time_column(const Schema& schema) {
  if (schema.kind != EventKind::instant) return std::nullopt;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (schema.columns[i].unit == Unit::ns && !is_text(schema.columns[i].type)) return i;
  }
  return std::nullopt;
}

Result<GridOffer> core_grid_offer(const QueryContext& query, const CoreGrid& grid) {
  const Snapshot& snapshot = *query.snapshot;
  GridOffer offer;
  offer.columns = columns_offered(snapshot, grid);
  offer.parts = grid.part_names();
  LaneIndices lanes;
  for (const GridPart& part : grid.parts) lanes.insert(lanes.end(), part.lanes.begin(), part.lanes.end());
  const QueryContext unmasked = query.unmasked();  // the choice stays while the filter changes
  auto names = TRY(lod::name_statistics(unmasked, lanes, {}));
  for (const lod::NameStatistic& each : names.names) {
    if (offer.zones.size() == GridOffer::kMostZones) break;
    offer.zones.emplace_back(snapshot.strings->text(each.name));
  }
  for (const Schema* schema : schemas_of(snapshot, grid)) {
    const WaitNames waits(schema, *snapshot.strings);
    for (const lod::NameStatistic& each : names.names) offer.waits = offer.waits || waits.contains(each.name);
  }
  return offer;
}

Result<GridMeasure> parse_grid_measure(const std::vector<std::string>& words, const Snapshot& snapshot,
                                       const CoreGrid& grid) {
  GridMeasure measure;
  for (const std::string& word : words) {
    if (word.starts_with(kZoneWord)) {
      measure.zone = word.substr(kZoneWord.size());
      if (snapshot.strings->find(measure.zone) == kNone)
        return Error(fmt::format("no event is called {}; accelscope view --table stats lists names", measure.zone));
      continue;
    }
    if (word.starts_with(kPartWord)) {
      measure.part = word.substr(kPartWord.size());
      const std::vector<std::string> parts = grid.part_names();
      if (std::find(parts.begin(), parts.end(), measure.part) == parts.end())
        return Error(fmt::format("no core has a {}; there are: {}", measure.part, fmt::join(parts, ", ")));
      continue;
    }
    const auto known = std::ranges::find_if(kMeasureWords, [&](const MeasureWord& each) { return each.word == word; });
    if (known != kMeasureWords.end()) {
      measure.kind = known->kind;
      continue;
    }
    std::vector<std::string> names;
    bool found = false;
    for (const GridColumn& column : columns_offered(snapshot, grid)) {
      names.push_back(column.table + "." + column.column);
      if (names.back() != word) continue;
      measure.kind = GridMeasureKind::column;
      measure.table = column.table;
      measure.column = column.column;
      found = true;
    }
    if (!found) {
      return Error(fmt::format("{} cannot be measured; there are: busy, wait, events, zone:NAME, part:NAME{}{}", word,
                               names.empty() ? "" : ", ", fmt::join(names, ", ")));
    }
  }
  return measure;
}

std::string grid_measure_title(const GridMeasure& measure, const Snapshot& snapshot) {
  std::string title;
  for (const MeasureWord& each : kMeasureWords) {
    if (each.kind == measure.kind) title = each.title;
  }
  if (measure.kind == GridMeasureKind::column) {
    const Column* column = column_of(snapshot, measure);
    title = column == nullptr || column->title.empty() ? measure.column : column->title;
  }
  if (!measure.zone.empty())
    title = measure.kind == GridMeasureKind::busy ? measure.zone : title + " of " + measure.zone;
  return measure.part.empty() ? title : title + " on " + measure.part;
}

std::string grid_measure_unit(const GridMeasure& measure, const Snapshot& snapshot) {
  if (measure.is_time()) return "ns";
  if (measure.kind == GridMeasureKind::events) return "";
  const Column* column = column_of(snapshot, measure);
  return column == nullptr ? "" : column->unit;
}

namespace {

// Several workers add to one table. What one worker adds to a place, one after another, is added at once.
template <typename T>
class PlaceSum {
 public:
  void add(T& place, T value) {
    if (&place != place_) {
      flush();
      place_ = &place;
    }
    sum_ += value;
  }
  void flush() {
    if (place_ != nullptr) std::atomic_ref(*place_).fetch_add(sum_, std::memory_order_relaxed);
    place_ = nullptr;
    sum_ = 0;
  }

 private:
  T* place_ = nullptr;
  T sum_ = 0;
};

// Finds frames of times that come in order, mostly, without a division.
class FrameFinder {
 public:
  explicit FrameFinder(const GridFrames& frames) {
    edges_.reserve(frames.count + 1);
    for (std::size_t frame = 0; frame <= frames.count; ++frame) edges_.push_back(frames.edge(frame));
  }
  [[nodiscard]] std::int64_t end_of(std::size_t frame) const noexcept { return edges_[frame + 1]; }
  [[nodiscard]] std::int64_t begin_of(std::size_t frame) const noexcept { return edges_[frame]; }
  [[nodiscard]] std::size_t at(std::int64_t ns) noexcept {  // the nearest one for times outside
    if (edges_[last_] <= ns && ns < edges_[last_ + 1]) return last_;
    const auto after = std::upper_bound(edges_.begin() + 1, edges_.end() - 1, ns);
    return last_ = static_cast<std::size_t>(after - edges_.begin()) - 1;
  }

 private:
  std::vector<std::int64_t> edges_;
  std::size_t last_ = 0;
};

// What the events of a table are to the measure.
struct TableRule {
  WaitNames waits;
  std::optional<std::size_t> column;  // whose values are added up
  ColumnType type = ColumnType::int64;
  bool intervals = false;  // their time counts
  bool takes_part = true;
  bool by_name = false;  // whether an event counts depends on its name
};

class FrameGatherer {
 public:
  FrameGatherer(GridFrames& frames, const std::map<const Schema*, TableRule>& rules, std::optional<StringId> zone)
      : frames_(frames), finder_(frames), rules_(rules), zone_(zone), parts_(frames.grid.parts.size()) {}

  void add(const ScannedChunk& chunk, const ScanWindow& window) {
    const auto part = static_cast<std::size_t>(frames_.grid.lane_parts[chunk.lane_index]);
    const TableRule& rule = rules_.at(chunk.lane.schema.get());
    if (!rule.takes_part) return;
    if (parts_[part].empty) touched_.push_back(part), parts_[part].empty = false;
    chunk.for_each_block([&](const ScannedBlock& block) { add_block(chunk, block, window, part, rule); });
  }

  std::tuple<> measures() { return {}; }  // all is in the frames already

  // The stretches of each part, and of all parts of a cell together.
  void close() {
    std::ranges::sort(touched_);
    for (std::size_t i = 0; i < touched_.size();) {
      const std::size_t cell = frames_.grid.part_cells[touched_[i]];
      for (; i < touched_.size() && frames_.grid.part_cells[touched_[i]] == cell; ++i) {
        Part& part = parts_[touched_[i]];
        part.time.take_stretches([&](std::int64_t begin, std::int64_t end) {
          spread(frames_.parts, part_sum_, touched_[i], begin, end, static_cast<double>(end - begin));
          cell_time_.add(begin, end);
        });
        part.empty = true;
      }
      cell_time_.take_stretches([&](std::int64_t begin, std::int64_t end) {
        spread(frames_.cells, cell_sum_, cell, begin, end, static_cast<double>(end - begin));
      });
    }
    touched_.clear();
    part_sum_.flush();
    cell_sum_.flush();
    begun_.flush();
    entering_.flush();
  }

 private:
  struct Part {
    CoveredTime time;
    bool empty = true;
  };

  void add_block(const ScannedChunk& chunk, const ScannedBlock& block, const ScanWindow& window, std::size_t part,
                 const TableRule& rule) {
    const BlockValues values = rule.column ? block.reader.column(*rule.column, rule.type) : BlockValues{};
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      if (rule.by_name && !counts(block.name(i), rule)) continue;
      const std::int64_t begin = block.begin_ns(i), end = block.end_ns(i);
      if (rule.intervals) {
        parts_[part].time.add(std::max(begin, std::max(window.range.begin_ns, frames_.range.begin_ns)),
                              std::min(end, std::min(window.range.end_ns, frames_.range.end_ns)));
      }
      if (!window.owns(chunk, block.ticks().begins[i])) continue;
      if (rule.column && values.has(i)) add_value(part, begin, end, real_number(rule.type, values.values[i]));
      count(part, begin, end);
    }
  }

  [[nodiscard]] bool counts(StringId name, const TableRule& rule) const {
    if (zone_ && name != *zone_) return false;
    const GridMeasureKind kind = frames_.measure.kind;
    if (kind == GridMeasureKind::wait) return rule.waits.contains(name);
    return kind != GridMeasureKind::busy || zone_ || !rule.waits.contains(name);
  }

  void add_value(std::size_t part, std::int64_t begin, std::int64_t end, double value) {
    const TimeRange& range = frames_.range;
    const double inside = value * share_inside(range, begin, end);
    const std::int64_t first = std::max(begin, range.begin_ns), last = std::min(end, range.end_ns);
    spread(frames_.parts, part_sum_, part, first, last, inside);
    spread(frames_.cells, cell_sum_, frames_.grid.part_cells[part], first, last, inside);
  }

  // Evenly over [begin, end); all of it at once where that is empty.
  void spread(std::vector<double>& table, PlaceSum<double>& sum, std::size_t row, std::int64_t begin, std::int64_t end,
              double amount) {
    std::size_t frame = finder_.at(begin);
    double* const values = table.data() + row * frames_.count;
    if (end <= finder_.end_of(frame)) return sum.add(values[frame], amount);
    const double length = static_cast<double>(end - begin);
    for (std::int64_t from = begin; from < end && frame < frames_.count; ++frame) {
      const std::int64_t to = std::min(end, finder_.end_of(frame));
      const auto part = static_cast<double>(to - from);
      sum.add(values[frame], amount == length ? part : amount * (part / length));
      from = to;
    }
  }

  void count(std::size_t part, std::int64_t begin, std::int64_t end) {
    const std::size_t row = frames_.grid.part_cells[part] * frames_.count;
    const std::size_t first = finder_.at(begin);
    if (frames_.measure.kind == GridMeasureKind::events) part_sum_.add(frames_.parts[part * frames_.count + first], 1);
    if (begin >= frames_.range.begin_ns) {
      begun_.add(frames_.begun[row + first], 1);
    } else {
      entering_.add(frames_.entering[row], 1);
    }
    for (std::size_t frame = first + 1; frame < frames_.count && finder_.begin_of(frame) < end; ++frame)
      entering_.add(frames_.entering[row + frame], 1);
  }

  GridFrames& frames_;
  FrameFinder finder_;
  const std::map<const Schema*, TableRule>& rules_;
  std::optional<StringId> zone_;
  std::vector<Part> parts_;
  std::vector<std::size_t> touched_;  // parts with events in this window
  CoveredTime cell_time_;
  PlaceSum<double> part_sum_, cell_sum_;
  PlaceSum<std::uint32_t> begun_, entering_;
};

TableRule rule_of(const Schema& schema, const GridMeasure& measure, const Snapshot& snapshot) {
  TableRule rule;
  rule.waits = WaitNames(&schema, *snapshot.strings);
  rule.by_name = !measure.zone.empty() || measure.kind == GridMeasureKind::wait ||
                 (measure.kind == GridMeasureKind::busy && !schema.wait_names.empty());
  if (schema.kind == EventKind::table || schema.kind == EventKind::flow || schema.kind == EventKind::memory) {
    rule.takes_part = false;
  } else if (measure.is_time()) {
    rule.intervals = schema.kind == EventKind::slice;
    // What an instant has summed up is no busy time of its core, unless it is asked for by name.
    if (measure.kind == GridMeasureKind::wait || !measure.zone.empty()) rule.column = summed_time_column(schema);
    rule.takes_part = rule.intervals || rule.column.has_value();
  } else if (measure.kind == GridMeasureKind::column) {
    if (schema.name == measure.table) rule.column = schema.find(measure.column);
    rule.takes_part = rule.column.has_value();
  }
  if (rule.column) rule.type = schema.columns[*rule.column].type;
  return rule;
}

TimeRange clipped_to(const Snapshot& snapshot, const EventFilter& filter) {
  const TimeRange wanted = filter.range.value_or(TimeRange{});
  return {std::max(wanted.begin_ns, snapshot.begin_ns), std::min(wanted.end_ns, snapshot.end_ns)};
}

}  // namespace

std::int64_t GridFrames::edge(std::size_t frame) const noexcept {
  const auto n = static_cast<std::int64_t>(frame), all = static_cast<std::int64_t>(std::max<std::size_t>(1, count));
  const std::int64_t length = range.length_ns();
  return range.begin_ns + length / all * n + length % all * n / all;
}

std::size_t GridFrames::frame_at(std::int64_t ns) const noexcept {
  if (count == 0 || ns <= range.begin_ns) return 0;
  const double share = static_cast<double>(ns - range.begin_ns) / static_cast<double>(range.length_ns());
  std::size_t frame = std::min(count - 1, static_cast<std::size_t>(share * static_cast<double>(count)));
  while (frame > 0 && edge(frame) > ns) --frame;
  while (frame + 1 < count && edge(frame + 1) <= ns) ++frame;
  return frame;
}

bool GridFrames::is_measured(std::size_t cell) const noexcept {
  if (measure.part.empty()) return true;
  const auto first = grid.parts.begin() + static_cast<std::ptrdiff_t>(grid.cells[cell].first_part);
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(grid.cells[cell].part_count),
                     [&](const GridPart& part) { return part.name == measure.part; });
}

double GridFrames::of_cell(std::size_t cell, std::size_t first, std::size_t last) const noexcept {
  if (measure.kind == GridMeasureKind::events) return static_cast<double>(events(cell, first, last));
  double sum = 0;
  for (std::size_t frame = first; frame < last; ++frame) sum += cells[cell * count + frame];
  return sum;
}

double GridFrames::of_part(std::size_t part, std::size_t first, std::size_t last) const noexcept {
  double sum = 0;
  for (std::size_t frame = first; frame < last; ++frame) sum += parts[part * count + frame];
  return sum;
}

std::uint64_t GridFrames::events(std::size_t cell, std::size_t first, std::size_t last) const noexcept {
  if (first >= last) return 0;
  std::uint64_t sum = entering[cell * count + first];
  for (std::size_t frame = first; frame < last; ++frame) sum += begun[cell * count + frame];
  return sum;
}

Result<std::shared_ptr<const GridFrames>> core_grid_frames(const QueryContext& query, const EventFilter& filter,
                                                           const GridMeasure& measure, std::size_t frames) {
  const Snapshot& snapshot = *query.snapshot;
  auto made = std::make_shared<GridFrames>();
  made->grid = core_grid_of(snapshot);
  made->measure = measure;
  made->range = clipped_to(snapshot, filter);
  const bool at_end = !filter.range || filter.range->end_ns > snapshot.end_ns;
  // Where all events are instants of one time, there is one frame for them.
  if (made->range.empty() && at_end && made->range.begin_ns == snapshot.end_ns && snapshot.event_count > 0)
    ++made->range.end_ns;
  made->count = std::min(frames, static_cast<std::size_t>(made->range.length_ns()));
  if (made->count == 0 || made->grid.empty()) return std::shared_ptr<const GridFrames>(made);
  made->cells.resize(made->grid.cells.size() * made->count);
  made->parts.resize(made->grid.parts.size() * made->count);
  made->begun.resize(made->cells.size());
  made->entering.resize(made->cells.size());

  std::map<const Schema*, TableRule> rules;
  LaneIndices lanes;
  for (const GridPart& part : made->grid.parts) {
    if (!measure.part.empty() && part.name != measure.part) continue;
    for (const std::uint32_t lane : part.lanes) {
      const LaneSnapshot& each = snapshot.lanes[lane];
      if (each.event_count == 0 || !each.schema || !filter.has_track(each.track)) continue;
      const auto rule = rules.try_emplace(each.schema.get(), rule_of(*each.schema, measure, snapshot)).first;
      if (rule->second.takes_part) lanes.push_back(lane);
    }
  }
  std::optional<StringId> zone;
  if (!measure.zone.empty()) zone = snapshot.strings->find(measure.zone);
  // The last event of all may be an instant at the very end.
  const TimeRange scanned{made->range.begin_ns, at_end ? snapshot.end_ns + 1 : made->range.end_ns};
  const auto done = gather_windows(
      query, lanes, scanned, FrameGatherer(*made, rules, zone),
      [](const ScannedChunk& chunk, const ScanWindow& window, FrameGatherer& part) { part.add(chunk, window); },
      [](const ScanWindow&, FrameGatherer& part) { part.close(); });
  if (!done) return done.error();
  if (measure.kind == GridMeasureKind::events) {
    for (std::size_t i = 0; i < made->cells.size(); ++i) made->cells[i] = made->begun[i];
  }
  return std::shared_ptr<const GridFrames>(made);
}

CoreSpread core_spread(std::span<const double> values) {
  constexpr std::size_t kLeastValues = 4;
  constexpr double kDeviations = 3 * 1.4826, kLeastShare = 0.05;
  CoreSpread spread;
  if (values.empty()) return spread;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  spread.least = static_cast<std::size_t>(least - values.begin());
  spread.most = static_cast<std::size_t>(most - values.begin());
  spread.min = *least;
  spread.max = *most;
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  spread.imbalance = spread.mean > 0 ? spread.max / spread.mean : 0;
  if (values.size() < kLeastValues) return spread;
  const double median = middle_value(std::vector<double>(values.begin(), values.end()));
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - median));
  const double far = std::max(kDeviations * middle_value(distances), kLeastShare * std::abs(median));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (distances[i] > far) spread.outliers.push_back(i);
  }
  return spread;
}

}  // namespace accelscope::analysis
