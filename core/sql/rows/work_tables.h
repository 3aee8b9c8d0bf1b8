// The tables `wait` and `critical_path`: what every wait was for, and what the session's length was made of, see
// core/analysis/critical_path. Waits of a filter's range and events; the path of its range, whatever the events.
#pragma once

#include "core/sql/virtual/row_table.h"

namespace accelscope::sql {

[[nodiscard]] RowTableSpec wait_table();
[[nodiscard]] RowTableSpec critical_path_table();

}  // namespace accelscope::sql
