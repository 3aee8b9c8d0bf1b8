#include "core/export/neuron/neuron_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "core/analysis/time/track_devices.h"
#include "core/base/format.h"

namespace accelscope::neuron {
namespace {

// Facts are kept as texts. Those that read as a number or a truth value are written as one, as the vendor does.
[[nodiscard]] bool is_bare_json(std::string_view text) {
  if (text == "true" || text == "false") return true;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || digits.front() < '0' || digits.front() > '9') return false;
  if (digits.size() > 1 && digits[0] == '0' && digits[1] != '.') return false;  // "007" is no number in JSON
  if (digits.back() < '0' || digits.back() > '9') return false;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) &&
         digits.find("..") == std::string_view::npos && digits.find(".e") == std::string_view::npos &&
         digits.find(".E") == std::string_view::npos;
}

[[nodiscard]] bool is_table_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Written from their events; the facts repeat them.
[[nodiscard]] bool has_events(const Snapshot& snapshot, std::string_view table) {
  return std::any_of(snapshot.lanes.begin(), snapshot.lanes.end(),
                     [&](const LaneSnapshot& lane) { return lane.schema->name == table && lane.event_count > 0; });
}

void append_field(std::string& row, std::string_view key, std::string_view json) {
  row += row.empty() ? "{" : ",";
  row += json_quote(key) + ":";
  row += json;
}

[[nodiscard]] std::string value_json(const Metric& metric) {
  if (!metric.text.empty()) return json_quote(metric.text);
  return json_number(metric.value);
}

// A row of the vendor's that an import kept, as JSON; empty if there is none.
[[nodiscard]] std::string_view kept_row(const Snapshot& snapshot, std::string_view table) {
  const std::string_view row = snapshot.meta_value(std::string(kKeptRowPrefix).append(table));
  return row.size() > 2 && row.front() == '{' && row.back() == '}' ? row : std::string_view{};
}

// The physical cores of logical ones, where model_info states their figures.
[[nodiscard]] std::set<std::string> parts_of_cores(const Snapshot& snapshot) {
  std::set<std::string> parts;
  if (!has_events(snapshot, "model_info")) return parts;
  for (const TrackSnapshot& track : snapshot.tracks) {
    for (std::string& part : parts_of_device(track.track->device)) parts.insert(std::move(part));
  }
  return parts;
}

// One row of figures for each device, and the group of each figure where the vendor's own row of groups is not kept.
void add_summary(const Snapshot& snapshot, std::vector<FactTable>& tables) {
  std::vector<std::pair<std::string, std::string>> rows;  // by device
  std::string groups;
  std::set<std::string_view> grouped;
  const std::set<std::string> parts = parts_of_cores(snapshot);
  for (const Metric& metric : snapshot.metrics) {
    if (parts.contains(metric.device)) continue;
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.first == metric.device; });
    if (row == rows.end()) row = rows.insert(rows.end(), {metric.device, ""});
    append_field(row->second, metric.name, value_json(metric));
    if (grouped.insert(metric.name).second) append_field(groups, metric.name, json_quote(metric.group));
  }
  if (!rows.empty()) {
    FactTable summary{"summary", {}};
    for (auto& [device, row] : rows) {
      if (rows.size() > 1) append_field(row, "device", json_quote(device));
      summary.rows.push_back(row + "}");
    }
    tables.push_back(std::move(summary));
    groups += '}';
  }
  if (const std::string_view kept = kept_row(snapshot, "summary_groups"); !kept.empty()) groups = kept;
  if (!groups.empty()) tables.push_back({"summary_groups", {groups}});
  if (const std::string_view kept = kept_row(snapshot, "terminology"); !kept.empty()) {
    tables.push_back({"terminology", {std::string(kept)}});
  }
}

// What an import notes for the viewer, and no vendor's table holds.
[[nodiscard]] bool is_our_own(std::string_view table) { return table == "source" || table == "capacity"; }

}  // namespace

std::vector<FactTable> fact_tables(const Snapshot& snapshot) {
  std::map<std::string, std::string, std::less<>> rows;
  for (const MetaEntry& entry : snapshot.meta) {
    const std::size_t dot = entry.key.find('.');
    if (dot == std::string::npos) continue;
    const std::string_view table = std::string_view(entry.key).substr(0, dot);
    if (is_our_own(table) || !is_table_name(table) || has_events(snapshot, table)) continue;
    append_field(rows[std::string(table)], std::string_view(entry.key).substr(dot + 1),
                 is_bare_json(entry.value) ? entry.value : json_quote(entry.value));
  }
  std::vector<FactTable> tables;
  for (const auto& [table, row] : rows) tables.push_back({table, {row + "}"}});
  add_summary(snapshot, tables);
  return tables;
}

}  // namespace accelscope::neuron
