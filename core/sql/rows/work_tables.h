// The tables `wait` and `critical_path`: what every wait was for, and what the session's length was made of, see
// core/analysis/critical_path. Waits of a filter's range and events; the path of its range, whatever the events.
#pragma once

#include <string_view>

#include "core/sql/virtual/row_table.h"

namespace accelscope::sql {

// What tables about work begin with.
[[nodiscard]] TimeRange asked_range(const Context& context);
[[nodiscard]] SqlValue id_or_null(EventId event);
[[nodiscard]] SqlValue text_or_null(std::string_view text);

[[nodiscard]] RowTableSpec wait_table();
[[nodiscard]] RowTableSpec critical_path_table();

}  // namespace accelscope::sql
