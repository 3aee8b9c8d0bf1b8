#include "core/analysis/core_grid/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/lod/range_statistics.h"
#include "core/scan/column_values.h"
#include "core/scan/wait_names.h"

namespace accelscope {
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
  return column.role == Role::bytes || column.role == Role::flops || column.role == Role::value || column.unit == "B";
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
    if (schema.columns[i].unit == "ns" && !is_text(schema.columns[i].type)) return i;
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
  QueryContext unmasked = query;
  unmasked.mask = nullptr;  // the choice stays while the filter changes
  auto names = name_statistics(unmasked, lanes, {});
  if (!names) return names.error();
  for (const NameStatistic& each : names->names) {
    if (offer.zones.size() == GridOffer::kMostZones) break;
    offer.zones.emplace_back(snapshot.strings->text(each.name));
  }
  for (const Schema* schema : schemas_of(snapshot, grid)) {
    const WaitNames waits(schema, *snapshot.strings);
    for (const NameStatistic& each : names->names) offer.waits = offer.waits || waits.contains(each.name);
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
    const auto known = std::find_if(kMeasureWords.begin(), kMeasureWords.end(),
                                    [&](const MeasureWord& each) { return each.word == word; });
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

}  // namespace accelscope
