#include "app/export/quality_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>

#include "app/export/text_table.h"
#include "core/base/format.h"

namespace accelscope::app {

std::string quality_json(const Snapshot& snapshot) {
  std::string json = "[";
  for (const QualityEntry& entry : snapshot.quality) {
    if (json.size() > 1) json += ", ";
    json += fmt::format("{{\"kind\": {}, \"severity\": \"{}\", \"count\": {}, \"detail\": {}}}", json_quote(entry.kind),
                        severity_name(entry.severity), entry.count, json_quote(entry.detail));
  }
  return json + "]";
}

std::vector<TableCount> table_counts(const Snapshot& snapshot, const EventMask* mask) {
  constexpr std::string_view kRowsPrefix = "source.rows.";
  constexpr std::string_view kReadPrefix = "source.read.";
  std::vector<TableCount> counts;
  const auto place = [&](std::string_view name) -> TableCount& {
    for (TableCount& count : counts) {
      if (count.name == name) return count;
    }
    return counts.emplace_back(TableCount{std::string(name), 0, "", ""});
  };
  for (const auto& schema : snapshot.schemas) (void)place(schema->name);
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    const bool all = mask == nullptr || lane.data->kind == EventKind::table;
    place(lane.schema->name).events += all ? lane.event_count : mask->count(i);
  }
  for (const MetaEntry& entry : snapshot.meta) {
    if (entry.key.starts_with(kRowsPrefix))
      place(std::string_view(entry.key).substr(kRowsPrefix.size())).source_rows = entry.value;
    if (entry.key.starts_with(kReadPrefix))
      place(std::string_view(entry.key).substr(kReadPrefix.size())).source_read = entry.value;
  }
  std::erase_if(counts, [](const TableCount& count) { return count.events == 0 && count.source_rows.empty(); });
  return counts;
}

std::string no_findings(const Snapshot& snapshot) {
  std::string open;
  std::uint64_t rows = 0;
  for (const TableCount& count : table_counts(snapshot)) {
    if (count.source_rows.empty()) continue;
    const std::string read = count.source_read.empty() ? std::to_string(count.events) : count.source_read;
    rows += std::strtoull(read.c_str(), nullptr, 10);
    if (read == count.source_rows) continue;
    open += fmt::format("{}{} of {} rows of {}", open.empty() ? "" : ", ", read, count.source_rows, count.name);
  }
  if (!open.empty()) return fmt::format("Nothing is known to have been skipped, but {} were read.", open);
  if (rows == 0)
    return "Nothing is known to have been skipped, estimated or missing; the rows of the source were not counted.";
  return fmt::format("Nothing was skipped, estimated or missing: {} of {} rows were read.", format_count(rows),
                     format_count(rows));
}

void print_quality_report(std::ostream& out, const Snapshot& snapshot) {
  TextTable table({CellAlign::left, CellAlign::right, CellAlign::right});
  table.row({"table", "rows in file", "events"});
  for (const TableCount& count : table_counts(snapshot)) {
    table.row({count.name, count.source_rows, count.events == 0 ? "–" : format_count(count.events)});
  }
  table.print(out);
  std::vector<const QualityEntry*> entries;
  for (const QualityEntry& entry : snapshot.quality) entries.push_back(&entry);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const QualityEntry* a, const QualityEntry* b) { return a->severity > b->severity; });
  out << '\n';
  if (entries.empty()) out << no_findings(snapshot) << '\n';
  for (const QualityEntry* entry : entries) {
    out << fmt::format("{:<8} {} × {}: {}\n", severity_name(entry->severity), format_count(entry->count), entry->kind,
                       entry->detail);
  }
}

}  // namespace accelscope::app
