// Answers PlannedQuery::Shape::rows and Shape::top.
#pragma once

#include <optional>

#include "core/sql/base/sql.h"
#include "core/sql/planned/query.h"

namespace accelscope::sql {

// Hands the rows to the visitor by id, reading some chunks ahead. Fails as the tables do: for an unreadable chunk, or
// when cancelled.
[[nodiscard]] Result<void> planned_rows(Context& context, const PlannedQuery& query, listing::SqlRowVisitor& visitor);

// The first rows by the query's order, then by id, with all its inputs; they come sorted by id. A null pointer where
// only SQLite can answer.
[[nodiscard]] Result<std::shared_ptr<const Rows>> planned_top(Context& context, const PlannedQuery& query);

// Answers PlannedQuery::Shape::groups: from the lanes' trees and totals by name where no condition cuts a chunk, else
// by a loop over its blocks.

// The rows of the made table: keys, then aggregates, sorted by keys as SQLite sorts them. No rows at all (a null
// pointer) where only SQLite itself can give the exact answer. Fails for an unreadable chunk, or when cancelled.
[[nodiscard]] Result<std::shared_ptr<const Rows>> planned_groups(Context& context, const PlannedQuery& query);

}  // namespace accelscope::sql
