// The heat map of collectives: instances in the order of time along it, ranks below each other, as many columns as
// there is room for. Made on a worker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/tab.h"
#include "core/analysis/collectives/report.h"

namespace accelscope::app::content {

enum class CollectiveMeasure : std::uint8_t {
  arrival,   // after the first arrival
  duration,  // from the transfer's begin to the rank's end
  wait,      // from the arrival to the transfer's begin
};

struct CollectiveGrid {
  static constexpr float kNone = -1;  // the rank took no part

  std::shared_ptr<const analysis::CollectivesReport> of;
  CollectiveMeasure measure = CollectiveMeasure::arrival;
  std::size_t columns = 0;            // at most as many as instances
  std::vector<float> values;          // ns, of each column all ranks; the largest of the column's instances
  std::vector<bool> dimmed;           // beside each value: it is of parts that the filter hides
  std::vector<float> skews;           // ns, of each column the largest
  std::vector<std::uint32_t> chosen;  // of each column the instance with the largest skew: index into report instances
  float most_ns = 0;                  // that the ramp ends with: what 99.5 % of the values do not exceed
  float most_skew_ns = 0;

  [[nodiscard]] bool is_dimmed(std::size_t column, std::size_t rank) const noexcept {
    return dimmed[column * of->of->ranks.size() + rank];
  }
  [[nodiscard]] float at(std::size_t column, std::size_t rank) const noexcept {
    return values[column * of->of->ranks.size() + rank];
  }
  // The instances of a column: [first, last) of the report's.
  [[nodiscard]] std::pair<std::size_t, std::size_t> instances(std::size_t column) const noexcept {
    const std::size_t count = of->instances.size();
    return {column * count / columns, (column + 1) * count / columns};
  }
  [[nodiscard]] std::size_t column_of(std::size_t instance) const noexcept;
};

[[nodiscard]] std::int64_t measured_ns(const analysis::CollectiveInstance& instance,
                                       const analysis::CollectiveCell& cell, CollectiveMeasure measure) noexcept;
[[nodiscard]] std::shared_ptr<const CollectiveGrid> make_collective_grid(
    std::shared_ptr<const analysis::CollectivesReport> report, CollectiveMeasure measure, std::size_t most);

// What the timeline marks of an instance; number: among the report's.
[[nodiscard]] std::shared_ptr<const session::ShownOperation> shown_operation(const analysis::CollectivesReport& report,
                                                                             std::size_t number);

// Where on a line from 0 to the longest instance of a kind there is one, or several: at most kSteps + 1 of them.
struct DurationTick {
  float share = 0;
  bool outlier = false;
  static constexpr int kSteps = 1024;
};
// Of each kind of the report, rising.
[[nodiscard]] std::vector<std::vector<DurationTick>> duration_ticks(const analysis::CollectivesReport& report);

// The number among the report's of an instance of its collectives; nothing where it is not in the report.
[[nodiscard]] std::optional<std::size_t> number_of(const analysis::CollectivesReport& report, std::uint32_t instance);
// Among the report's: the instance that the event is a part of. Looks at all parts.
[[nodiscard]] std::optional<std::size_t> instance_with(const analysis::CollectivesReport& report, EventId event);

// At most so many ranks to be laid above each other: the straggler, and others spread evenly over the rest.
[[nodiscard]] std::vector<std::uint32_t> ranks_to_compare(const analysis::CollectivesReport& report, std::size_t most);

// "Rank 37 (host 4) is the straggler: last in 43 of 48 collectives." and "All others wait 1.258 ms for it, 3.0 %
// of 41.28 ms."; where there is none, why not.
struct StragglerText {
  std::string who, what;
};
[[nodiscard]] StragglerText straggler_text(const analysis::CollectivesReport& report, const Snapshot& snapshot);
// "mlp bwd takes 1.27 times as long as on the others, 1.7 ms more"; "" where nothing exceeds the others.
[[nodiscard]] std::string cause_text(const analysis::LateCause& cause, const Snapshot& snapshot);

}  // namespace accelscope::app::content
