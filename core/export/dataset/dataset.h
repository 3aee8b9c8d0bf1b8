// Sessions as a data set that DuckDB, Spark, Trino, pandas and Polars read as one: a folder for each table, in it Hive
// partitions by date and session, in each of these one Parquet file,
//
//   DIR/events/date=2026-11-30/session_id=s-0123456789abcdef/data.parquet
//
// Host and device are columns: a file has few of them, and a partition each would make thousands of small files. The
// schemas are the same for all sessions, whatever was profiled; what is particular to a vendor stands in "args" as
// JSON. Times are plain 64-bit ns: Spark reads no TIMESTAMP(NANOS) without a setting, Trino cuts it, and those of
// events count from the session's begin, for which there is no type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/export/base/export_format.h"
#include "core/export/tables/parquet_file.h"

namespace accelscope::exporting {

struct DatasetColumn {
  ParquetField field;
  std::string_view explanation;
};

struct DatasetTable {
  std::string_view name;
  std::string_view summary;
  std::vector<DatasetColumn> columns;  // without those of the partitions
  std::string_view sql;                // what gives its rows, but host; "": they are made otherwise
};

// The tables and columns, in their order. Columns of later versions come behind those of today; none changes its type.
[[nodiscard]] const std::vector<DatasetTable>& dataset_tables();

// What the session itself does not know.
struct DatasetSession {
  std::string title;
  std::string file;
  std::string tags;
  std::string project;
  std::int64_t saved_unix_s = 0;  // where the session does not say when it began, it is filed under this day
};

// Which session it is: made of what was captured, so that a copy, a new name and a new export of it are the same one.
[[nodiscard]] std::string dataset_session_id(const Snapshot& snapshot);
// "2026-11-30", in UTC.
[[nodiscard]] std::string dataset_date(const Snapshot& snapshot, const DatasetSession& session);
// "date=2026-11-30/session_id=s-0123456789abcdef"
[[nodiscard]] std::string dataset_partition(const Snapshot& snapshot, const DatasetSession& session);
inline constexpr std::string_view kDatasetFile = "data.parquet";

// The files of the named tables (none: all). ExportReport::rows counts events and samples.
[[nodiscard]] Result<ExportReport> write_dataset(const ExportRequest& request, const DatasetSession& session,
                                                 const std::vector<std::string>& tables, ExportOutput& output);

}  // namespace accelscope::exporting
