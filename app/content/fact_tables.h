// The tables of a session whose rows have no time: what a file says of its program, its device and its run. And which
// events a row speaks of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/event_filter.h"
#include "core/store/snapshot.h"

namespace accelscope::app {

struct FactTable {
  std::string name;   // in SQL
  std::string title;  // for people
  std::uint64_t rows = 0;
  bool operator==(const FactTable&) const = default;
};

// Those with rows, as the session defines them, and last its facts, "meta".
[[nodiscard]] std::vector<FactTable> fact_tables(const Snapshot& snapshot);

// What the table says, without ids and times: SELECT "variable_name", "type" FROM "neff_node". Of one with times all.
[[nodiscard]] std::string sql_of_table(const Snapshot& snapshot, std::string_view table);

// The events of a row: those on tracks that are called as it is (of queues, also their rings), else those of its name.
// Nothing for a row without a name.
[[nodiscard]] std::optional<EventFilter> events_of_row(const Snapshot& snapshot, std::string_view name);

}  // namespace accelscope::app
