#include "app/content/memory/usage_stacks.h"

namespace accelscope::app {

std::shared_ptr<const MemoryPlotData> UsageStacks::get(SessionAnalysis& analysis,
                                                       const std::shared_ptr<const MemoryUsage>& usage,
                                                       std::uint32_t pool, const TimeRange& range, std::size_t pixels,
                                                       std::size_t most_series) {
  Entry& entry = entries_[pool];
  if (entry.task.ready()) entry.data = entry.task.take();
  const MemoryPlotKey wanted{
      .version = usage->snapshot_version, .pool = pool, .range = range, .pixels = pixels, .most_series = most_series};
  if ((entry.data && entry.data->key == wanted) || entry.task.valid()) return entry.data;
  entry.task = analysis.start([usage, wanted](const QueryContext&) { return make_memory_plot(usage, wanted, 0); },
                              Priority::drawing);
  return entry.data;
}

}  // namespace accelscope::app
