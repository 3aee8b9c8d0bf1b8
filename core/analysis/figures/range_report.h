// All that a summary of a stretch of time says beside its sums by name: how the devices and the host spent it
// (range_activity.h), what the devices waited for (wait_causes.h), what memory was in use (memory/pressure.h).
#pragma once

#include "core/analysis/dependencies/wait_causes.h"
#include "core/analysis/figures/range_activity.h"
#include "core/analysis/memory/pressure.h"

namespace accelscope::analysis {

struct RangeReport {
  std::shared_ptr<const RangeActivity> activity;  // its filter is the report's
  RangeWaits waits;
  MemoryInRange memory;
};

// What is null is left out: without dependencies waits have no causes but their own names, without an index every event
// of the range is looked at, without memory nothing is said of it.
struct ReportInput {
  std::shared_ptr<const ActivityIndex> index;
  std::shared_ptr<const Dependencies> dependencies;
  std::shared_ptr<const MemoryUsage> memory;
};

// The filter's tracks and terms are met by the query's mask.
[[nodiscard]] Result<std::shared_ptr<const RangeReport>> range_report(const QueryContext& query,
                                                                      const EventFilter& filter,
                                                                      const ReportInput& input);

}  // namespace accelscope::analysis
