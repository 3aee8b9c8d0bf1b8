#include "app/content/fact_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/content/selection_terms.h"
#include "core/model/column_spec.h"
#include "core/names/table_titles.h"

namespace accelscope::app {
namespace {

constexpr std::string_view kMeta = "meta";

[[nodiscard]] std::string quoted_identifier(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + '"';
}

}  // namespace

std::vector<FactTable> fact_tables(const Snapshot& snapshot) {
  std::map<std::string_view, std::uint64_t> rows;  // by schema: several may have one name
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.schema->kind == EventKind::table) rows[lane.schema->name] += lane.event_count;
  }
  std::vector<FactTable> tables;
  for (const auto& schema : snapshot.schemas) {
    const auto found = rows.find(schema->name);
    if (found == rows.end() || found->second == 0) continue;
    tables.push_back({schema->name, table_title(schema->name), std::exchange(found->second, 0)});
  }
  if (!snapshot.meta.empty()) tables.push_back({std::string(kMeta), "Facts", snapshot.meta.size()});
  return tables;
}

std::string sql_of_table(const Snapshot& snapshot, std::string_view table) {
  if (table == kMeta) return "SELECT key, value FROM meta ORDER BY key";
  std::vector<std::string> columns;  // of several schemas of one name, as of several files: all
  const auto add = [&](const std::string& name) {
    const std::string column = quoted_identifier(name);
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
  };
  for (const auto& schema : snapshot.schemas) {
    if (schema->name != table || schema->kind != EventKind::table) continue;
    add(table_name_column(*schema));
    for (const Column& column : schema->columns) add(table_column_name(*schema, column.name));
  }
  return fmt::format("SELECT {} FROM {}", columns.empty() ? "*" : fmt::format("{}", fmt::join(columns, ", ")),
                     quoted_identifier(table));
}

std::optional<EventFilter> events_of_row(const Snapshot& snapshot, std::string_view name) {
  if (name.empty()) return std::nullopt;
  EventFilter filter;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.schema == nullptr || track.schema->kind == EventKind::table || track.lanes.empty()) continue;
    const std::string_view called = track.track->name;
    const bool is_ring = called.starts_with(name) && called.size() > name.size() && called[name.size()] == '-';
    if (called == name || is_ring) filter.tracks.push_back(track.track->number);
  }
  if (filter.tracks.empty())
    filter.terms.push_back({search_of_name(snapshot, {.text = std::string(name), .kind = {}}, {})});
  return filter;
}

}  // namespace accelscope::app
