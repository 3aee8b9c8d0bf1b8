// `ts_ns + dur_ns > x` in a condition, which SQLite cannot hand to a table, as a condition on a hidden column of that
// name, which it can. Only where both names can be nothing but the columns of an event table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/sql/tables/event_table.h"

namespace accelscope::sql {

// The query with such sums replaced; "" if it has none.
[[nodiscard]] std::string with_end_column(std::string_view sql, const std::vector<EventTableSpec>& tables);

}  // namespace accelscope::sql
