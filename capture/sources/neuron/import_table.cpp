#include "capture/sources/neuron/import_table.h"

#include <algorithm>

namespace accelscope::capture {

ImportTable::ImportTable(Schema schema, std::span<const std::string_view> consumed, ChunkSpill& spill,
                         SessionWriter& writer)
    : sorter_(schema, spill, {}), binding_(schema, consumed), number_(writer.add_schema(std::move(schema))) {}

std::size_t ImportTable::column(std::string_view name) const noexcept {
  const auto& columns = schema().columns;
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
  return found == columns.end() ? SIZE_MAX : static_cast<std::size_t>(found - columns.begin());
}

std::uint32_t ImportTable::track(TrackPlan& plan, std::string_view kind, std::string_view prefix, std::string_view name,
                                 std::int64_t core) {
  const bool cached = core >= -1 && core <= 1;
  TracksByName& known = tracks_[cached ? static_cast<std::size_t>(core + 1) : 0];
  if (cached) {
    if (const auto found = known.find(name); found != known.end()) return found->second;
  }
  const std::uint32_t number = plan.track(number_, kind, std::string(prefix).append(name), core);
  const bool has_unit = schema().kind == EventKind::counter || schema().kind == EventKind::memory;
  if (has_unit) plan.set_unit(number, schema().columns.front().unit);
  if (!timed()) plan.set_untimed(number);
  if (cached) known.emplace(name, number);
  return number;
}

void ImportTable::copy_columns(const SortedEvent& event, Row& row, std::int64_t ticks_per_ns) const {
  const auto& columns = schema().columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!event.has(i)) continue;
    switch (columns[i].type) {
      case ColumnType::int64:
        row.integer(i, columns[i].unit == "ns" && ticks_per_ns != 1 ? event.int64(i) / ticks_per_ns : event.int64(i));
        break;
      case ColumnType::uint64:
        row.unsigned_integer(i, event.uint64(i));
        break;
      case ColumnType::float64:
        row.real(i, event.float64(i));
        break;
      case ColumnType::boolean:
        row.boolean(i, event.uint64(i) != 0);
        break;
      case ColumnType::string:
        row.string(i, static_cast<StringId>(event.uint64(i)));
        break;
      case ColumnType::text:
        row.text(i, event.text(i));
        break;
    }
  }
}

Result<void> ImportTable::write(const TrackPlan& plan, SessionWriter& writer, std::int64_t ticks_per_ns,
                                const Visitor& visitor) {
  std::uint32_t track = kNone;
  const Result<void> merged = sorter_.merge([&](const SortedEvent& event) {
    // A track that is done needs its buffers no longer: a profile may have hundreds.
    if (event.track != track && track != kNone) writer.release_buffers();
    track = event.track;
    Row row = writer.begin_event(plan.written(event.track), event.start, event.duration, event.name);
    copy_columns(event, row, ticks_per_ns);
    if (visitor) visitor(event, row);
    return !writer.cancelled();
  });
  if (!merged) return merged;
  writer.release_buffers();
  return writer.status();
}

}  // namespace accelscope::capture
