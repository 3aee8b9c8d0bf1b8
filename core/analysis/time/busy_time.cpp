#include "core/analysis/time/busy_time.h"

#include <algorithm>

#include "core/scan/wait_names.h"

namespace accelscope {

void add_busy(const ScannedChunk& chunk, const ScanWindow& window, const StringPool& strings, CoveredTime& busy) {
  const WaitNames waits(chunk.lane.schema.get(), strings);
  const ClockMap& clock = *chunk.lane.clock;
  std::uint64_t names[kBlockEvents];
  chunk.for_each_block([&](const ScannedBlock& block) {
    chunk.view.names(block.block, names);
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      if (waits.contains(chunk.session_string(names[i]))) continue;
      busy.add(std::max(clock.to_ns(block.times.begins[i]), window.range.begin_ns),
               std::min(clock.to_ns(block.times.ends[i]), window.range.end_ns));
    }
  });
}

}  // namespace accelscope
