// Statistics of any number of events by any columns: how many, their sum, mean, deviation and quantiles.
//
//   const auto found = statistics(query, {.filter = filter, .by = {"name", "device"}, .value = "duration"});
//   for (const StatisticsRow& row : (*found)->rows) ... row.keys[0], row.figures.median
//
// An event takes part when it shares time with the filter's range (an instant: when it lies inside), passes the query's
// mask and has a number to be measured; it is measured as a whole, however much of it lies inside, so that mean, total
// and quantiles fit each other. Only self time is of the range alone. Lanes of counters, flows and tables take no part;
// which others do is said in group_columns.h. Durations are in ns by the map of their clock.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/statistics/distribution.h"
#include "core/analysis/statistics/group_reader.h"

namespace accelscope {

struct StatisticsQuestion {
  EventFilter filter;
  std::vector<std::string> by;     // columns as group_columns.h names them; none: one row of all
  std::string value = "duration";  // what is measured
  bool operator==(const StatisticsQuestion&) const = default;
};

struct StatisticsRow {
  std::vector<FieldValue> keys;  // one per column of the question
  ValueFigures figures;
  // Of durations on threads of a host, whose calls lie within calls: ns in which the group's calls were the innermost
  // (core/analysis/source/host_calls.h), waiting or not.
  std::optional<std::int64_t> self_ns;
};

struct Statistics {
  // Groups beyond so many, those of fewest events, are added up in one row without keys.
  static constexpr std::size_t kMostGroups = 65'536;
  // Quantiles are exact (distribution.h) up to so many events in the range; beyond, those of groups of few are, and of
  // whole numbers that lie close together.
  static constexpr std::uint64_t kMostExact = 4U << 20U;

  StatisticsQuestion question;
  std::uint64_t snapshot_version = 0;
  std::string unit;                 // of what is measured
  std::vector<StatisticsRow> rows;  // largest total first; those whose total is not finite last
  ValueFigures all;
  bool has_rest = false;              // the last row adds up groups that are left out
  std::uint64_t left_out_groups = 0;  // so many
  // False: there are more groups than were told apart (GroupReader::kMostGroups of a thread), so left_out_groups and
  // more are left out; the rows are those of most events among the first that were met, and their figures whole.
  bool counts_all_groups = true;
  LaneIndices lanes;  // that took part
};

// Fails where a column is unknown, a chunk cannot be read, or when cancelled.
[[nodiscard]] Result<std::shared_ptr<const Statistics>> statistics(const QueryContext& query,
                                                                   const StatisticsQuestion& question);

}  // namespace accelscope
