// Answers PlannedQuery::Shape::groups: from the lanes' trees and totals by name where no condition cuts a chunk, else
// by a loop over its blocks.
#pragma once

#include <optional>

#include "core/sql/planned/query.h"

namespace accelscope::sql {

// The rows of the made table: keys, then aggregates, sorted by keys as SQLite sorts them. No rows at all (a null
// pointer) where only SQLite itself can give the exact answer. Fails for an unreadable chunk, or when cancelled.
[[nodiscard]] Result<std::shared_ptr<const Rows>> planned_groups(Context& context, const PlannedQuery& query);

}  // namespace accelscope::sql
