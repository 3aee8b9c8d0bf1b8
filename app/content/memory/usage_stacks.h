// The use of memory pools as the timeline draws it, made off the UI thread: a pool may have changed millions of times
// in sight. Until the wanted stack is there the last one of its pool is given.
#pragma once

#include <map>
#include <memory>

#include "app/content/memory/plot_data.h"
#include "app/session/analysis.h"

namespace accelscope::app {

class UsageStacks {
 public:
  // Null before the pool's first answer; compare the key's range with what was asked for.
  std::shared_ptr<const MemoryPlotData> get(SessionAnalysis& analysis, const std::shared_ptr<const MemoryUsage>& usage,
                                            std::uint32_t pool, const TimeRange& range, std::size_t pixels,
                                            std::size_t most_series);

 private:
  struct Entry {
    std::shared_ptr<const MemoryPlotData> data;
    Task<std::shared_ptr<const MemoryPlotData>> task;
  };
  std::map<std::uint32_t, Entry> entries_;  // by pool
};

}  // namespace accelscope::app
