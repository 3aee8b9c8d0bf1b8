// A session as tables of columns, as CSV and Parquet files have them: one for each table of the session, with what
// every event has (its id, track, device, host, lane, time, duration and name) before the columns of the schema, and
// one of the dependencies between events by their ids. Tables and columns are called as in SQL.
#pragma once

#include <string>
#include <vector>

#include "core/export/base/event_pieces.h"
#include "core/export/base/flow_ends.h"

namespace accelscope::exporting {

enum class TableField : std::uint8_t { id, track_id, track, device, host, lane, begin, duration, name, column };

struct ExportColumn {
  std::string name;
  TableField field = TableField::column;
  std::size_t column = 0;  // of the schema
  ColumnType type = ColumnType::int64;
  [[nodiscard]] bool always() const noexcept { return field != TableField::column; }
};

struct ExportTable {
  std::string name;  // as a file may be called
  std::vector<ExportColumn> columns;
  std::vector<std::size_t> pieces;  // of the plan
};

struct ExportTables {
  ExportPlan plan;
  std::vector<ExportTable> tables;
};

[[nodiscard]] Result<ExportTables> plan_tables(const ExportRequest& request, std::uint64_t piece_events);

// The table of dependencies: columns "src_id", "dst_id" and "kind". Those of which an end is not exported are left out.
inline constexpr std::string_view kFlowTable = "flow";

}  // namespace accelscope::exporting
