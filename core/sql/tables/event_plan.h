// What of a query SQLite leaves to the scan of an event table: the conditions, the order of the rows, and rows to be
// skipped. plan_events() chooses while the query is prepared; read_plan() turns the choice and the values of a run into
// a filter.
#pragma once

#include <span>
#include <vector>

#include "core/sql/tables/event_cursor.h"

namespace accelscope::sql {

int plan_events(const EventTableSpec& spec, sqlite3_index_info& info);

// Fails with the reason why a pattern cannot be used.
[[nodiscard]] Result<EventRequest> read_plan(const EventTableSpec& spec, const StringPool& strings, int plan_number,
                                             const char* plan, std::span<sqlite3_value*> values);

}  // namespace accelscope::sql
