// Answers PlannedQuery::Shape::rows and Shape::top.
#pragma once

#include "core/sql/base/sql.h"
#include "core/sql/planned/query.h"

namespace accelscope::sql {

// Hands the rows to the visitor by id, reading some chunks ahead. Fails as the tables do: for an unreadable chunk, or
// when cancelled.
[[nodiscard]] Result<void> planned_rows(Context& context, const PlannedQuery& query, SqlRowVisitor& visitor);

// The first rows by the query's order, then by id, with all its inputs; they come sorted by id. A null pointer where
// only SQLite can answer.
[[nodiscard]] Result<std::shared_ptr<const Rows>> planned_top(Context& context, const PlannedQuery& query);

}  // namespace accelscope::sql
