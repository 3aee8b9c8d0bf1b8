// What repeats in a session (core/analysis/iterations), as tables: loop, iteration, loop_operation and named_region.
#pragma once

#include "core/sql/virtual/row_table.h"

namespace accelscope::sql {

[[nodiscard]] RowTableSpec loop_table();
[[nodiscard]] RowTableSpec iteration_table();
[[nodiscard]] RowTableSpec loop_operation_table();
// By collective, layer, annotation and marker, each under its kind.
[[nodiscard]] RowTableSpec named_region_table();

}  // namespace accelscope::sql
