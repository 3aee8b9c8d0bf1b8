// Which tables a snapshot has, and what is in those that do not hold events. The event tables are read off the
// snapshot's schemas, so a vendor's new field is a new column without any code.
#pragma once

#include <vector>

#include "core/sql/tables/event_table.h"
#include "core/sql/virtual/row_table.h"

namespace accelscope::sql {

// slice, counter, and a table per schema name over every scope, with the columns of all schemas of that name (null
// where one lacks a column; of no fixed type where they disagree). Names are compared without regard to case. A schema
// that is named like another table is called <name>_event, one without a name or with one of SQLite's own (sqlite_*)
// event_<name>. Our own columns - id, track_id, lane, ts_ns, dur_ns, and the name of the event - always win: a vendor's
// column that is named like one of them is found as arg_<name>. Tables that were renamed are there under both names:
// copies are memcpy, and transfer as OpenCL's were once called. Names that are words of SQL stay: queries write them in
// double quotes.
[[nodiscard]] std::vector<EventTableSpec> event_tables(const Snapshot& snapshot,
                                                       const std::vector<RowTableSpec>& others);

// track, flow, memory, marker, source_file, source_line, metric, meta, quality, and listing_tables().
[[nodiscard]] std::vector<RowTableSpec> row_tables(const Snapshot& snapshot);

// Every listing as a table: the cells, columns and names that panels and `accelscope view --table` have, of the
// filter's range and events. It is made when it is first read and kept as long as the connection.
[[nodiscard]] std::vector<RowTableSpec> listing_tables();

}  // namespace accelscope::sql
