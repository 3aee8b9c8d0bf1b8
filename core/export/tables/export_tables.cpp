#include "core/export/tables/export_tables.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::exporting {
namespace {

// Letters, digits and a few more, so that every system takes it.
std::string table_file_name(std::string_view name) {
  std::string safe;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '-' || c == '.' || c == ' ' || static_cast<unsigned char>(c) >= 0x80;
    safe += plain ? c : '_';
  }
  if (safe.empty() || safe.front() == '.') safe.insert(0, "_");
  return safe;
}

std::vector<ExportColumn> columns_of(const Schema& schema) {
  std::vector<ExportColumn> columns;
  const auto add = [&](std::string_view name, TableField field, ColumnType type) {
    columns.push_back({std::string(name), field, 0, type});
  };
  add("id", TableField::id, ColumnType::int64);
  add("track_id", TableField::track_id, ColumnType::int64);
  // What SQL has in the table of tracks alone: a column of the schema that is called so keeps its name, as in SQL.
  const auto add_of_track = [&](const std::string& name, TableField field) {
    add(schema.find(name) ? "track_" + name : name, field, ColumnType::string);
  };
  add_of_track("track", TableField::track);
  add_of_track("device", TableField::device);
  add_of_track("host", TableField::host);
  add("lane", TableField::lane, ColumnType::int64);
  if (schema.kind != EventKind::table) {
    add("ts_ns", TableField::begin, ColumnType::int64);
    add("dur_ns", TableField::duration, ColumnType::int64);
  }
  add(table_name_column(schema), TableField::name, ColumnType::string);
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const std::string name = table_column_name(schema, schema.columns[i].name);
    columns.push_back({name, TableField::column, i, schema.columns[i].type});
  }
  return columns;
}

}  // namespace

Result<ExportTables> plan_tables(const ExportRequest& request, std::uint64_t piece_events) {
  Result<ExportPlan> plan = plan_export(
      request, [](const TrackSnapshot&) { return true; }, PieceOrder::rows, piece_events);
  if (!plan) return plan.error();
  ExportTables made;
  made.plan = std::move(*plan);
  std::map<const Schema*, std::size_t> places;
  std::set<std::string> taken{std::string(kFlowTable), "track", "meta", "metric"};
  for (std::size_t index = 0; index < made.plan.pieces.size(); ++index) {
    const TrackSnapshot& track = *made.plan.tracks[made.plan.pieces[index].track].snapshot;
    const auto [place, added] = places.try_emplace(track.schema.get(), made.tables.size());
    if (added) {
      const std::string safe = table_file_name(track.schema->name);
      std::string unique = safe;
      for (int i = 2; !taken.insert(lower_case(unique)).second; ++i) unique = safe + "_" + std::to_string(i);
      made.tables.push_back({unique, columns_of(*track.schema), {}});
    }
    made.tables[place->second].pieces.push_back(index);
  }
  return made;
}

}  // namespace accelscope::exporting
