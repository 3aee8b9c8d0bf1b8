// The tables `finding`, `bound` and `path_gap`: what costs time that could be saved, and what bounds the range's
// critical path, see core/analysis/advice and core/analysis/replay. Of a filter's range and events.
#pragma once

#include "core/sql/virtual/row_table.h"

namespace accelscope::sql {

[[nodiscard]] RowTableSpec finding_table();
[[nodiscard]] RowTableSpec bound_table();
[[nodiscard]] RowTableSpec path_gap_table();

}  // namespace accelscope::sql
