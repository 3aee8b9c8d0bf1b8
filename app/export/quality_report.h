// The data-quality report of a session as text and as JSON: what was skipped, estimated, dropped or missing.
#pragma once

#include <iosfwd>
#include <string>

#include "core/scan/event_mask.h"
#include "core/store/snapshot.h"

namespace accelscope::app {

[[nodiscard]] std::string quality_json(const Snapshot& snapshot);  // an array of objects
// One row per schema with its events, then the findings, most severe first.
void print_quality_report(std::ostream& out, const Snapshot& snapshot);

// Events by schema name, in the order of definition, and what the source says about its rows (meta "source.rows.*").
struct TableCount {
  std::string name;
  std::uint64_t events = 0;
  std::string source_rows;  // "" if the source does not say
  std::string source_read;  // how many of them were read, where they are not all events of the table
};
[[nodiscard]] std::vector<TableCount> table_counts(const Snapshot& snapshot, const EventMask* mask = nullptr);

// For a report without findings: that nothing was skipped is said only where what was read adds up to what the file
// holds.
[[nodiscard]] std::string no_findings(const Snapshot& snapshot);

}  // namespace accelscope::app
