// What to try when SQLite does not know a table or a column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/sql/base/sql.h"

namespace accelscope::sql {

// "; did you mean dur_ns?" or what there is, or that a name must be quoted, for SQLite's message; "" for messages about
// other things.
[[nodiscard]] std::string hint_for(std::string_view message, std::string_view sql, const std::vector<SqlTable>& tables);

}  // namespace accelscope::sql
