#pragma once

#include <string_view>

#include "core/sql/virtual/row_table.h"

namespace accelscope::sql {

// The tables `finding`, `bound` and `path_gap`: what costs time that could be saved, and what bounds the range's
// critical path, see core/analysis/advice and core/analysis/replay. Of a filter's range and events.

[[nodiscard]] RowTableSpec finding_table();
[[nodiscard]] RowTableSpec bound_table();
[[nodiscard]] RowTableSpec path_gap_table();

// What repeats in a session (core/analysis/iterations), as tables: loop, iteration, loop_operation and named_region.

[[nodiscard]] RowTableSpec loop_table();
[[nodiscard]] RowTableSpec iteration_table();
[[nodiscard]] RowTableSpec loop_operation_table();
// By collective, layer, annotation and marker, each under its kind.
[[nodiscard]] RowTableSpec named_region_table();

// The tables `wait` and `critical_path`: what every wait was for, and what the session's length was made of, see
// core/analysis/critical_path. Waits of a filter's range and events; the path of its range, whatever the events.

// What tables about work begin with.
[[nodiscard]] TimeRange asked_range(const Context& context);
[[nodiscard]] SqlValue id_or_null(EventId event);
[[nodiscard]] SqlValue text_or_null(std::string_view text);

[[nodiscard]] RowTableSpec wait_table();
[[nodiscard]] RowTableSpec critical_path_table();

}  // namespace accelscope::sql
