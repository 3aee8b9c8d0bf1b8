#include "core/analysis/figures/range_report.h"

namespace accelscope::analysis {

Result<std::shared_ptr<const RangeReport>> range_report(const QueryContext& query, const EventFilter& filter,
                                                        const ReportInput& input) {
  auto report = std::make_shared<RangeReport>();
  auto activity = TRY(range_activity(query, filter, input.index.get()));
  report->activity = std::move(activity);
  auto waits = TRY(range_waits(query, filter, input.dependencies.get()));
  report->waits = std::move(waits);
  if (input.memory) report->memory = memory_in_range(*input.memory, report->activity->range);
  return std::shared_ptr<const RangeReport>(std::move(report));
}

}  // namespace accelscope::analysis
