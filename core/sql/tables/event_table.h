// The virtual table over events: slice, counter, and one table per schema. What a table shows is an EventTableSpec.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/sql/base/context.h"
#include "core/sql/virtual/virtual_table.h"

namespace accelscope::sql {

enum class EventField : std::uint8_t { id, track_id, lane, ts_ns, dur_ns, end_ns, name, category, schema, column };

// A hidden column of this name holds this sum where both are ours, so that a condition on it reaches the scan.
inline constexpr std::string_view kEndExpression = "ts_ns + dur_ns";

struct EventColumn {
  std::string name;
  EventField field = EventField::column;
  ColumnType type = ColumnType::int64;  // of EventField::column
  bool hidden = false;
  bool mixed = false;       // schemas of the same name disagree about the type: no tests in the scan
  bool expression = false;  // stands for kEndExpression, which has no affinity; not listed
};

struct EventTableSpec {
  std::string name;
  std::vector<EventColumn> columns;
  std::vector<std::uint32_t> lanes;  // indices into Snapshot::lanes, by lane number
  // For each schema, its column for each table column; -1 where it has none.
  std::unordered_map<const Schema*, std::vector<int>> schema_columns;
  std::uint64_t event_count = 0;
};

// The type that the table declares for the column.
[[nodiscard]] std::string_view sql_type(const EventColumn& column);

// The specification must outlive the table.
[[nodiscard]] std::unique_ptr<VirtualTable> make_event_table(Context& context, const EventTableSpec& spec);

}  // namespace accelscope::sql
