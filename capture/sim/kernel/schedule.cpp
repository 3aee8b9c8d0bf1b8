#include "capture/sim/kernel/schedule.h"

namespace accelscope::capture::sim {

void run_collective(std::vector<CoreState>& cores, const KernelProgram& program, std::uint32_t index,
                    std::vector<CollectiveTimes>& times) {
  const Operation& operation = program.operations[index];
  times.resize(cores.size());
  std::int64_t all_arrived = 0;
  for (std::size_t device = 0; device < cores.size(); ++device) {
    CoreState& core = cores[device];
    times[device].arrival =
        std::max(core.unit_free[static_cast<std::size_t>(Unit::collective)], latest(core, operation) + kSemaphoreNs);
    all_arrived = std::max(all_arrived, times[device].arrival);
  }
  // Ranks that are not simulated arrive within the skew.
  if (cores.size() == 1) {
    all_arrived += static_cast<std::int64_t>(cores[0].jitter.next() & static_cast<std::uint64_t>(kRankSkewNs - 1));
  }
  for (std::size_t device = 0; device < cores.size(); ++device) {
    CoreState& core = cores[device];
    const auto jitter = static_cast<std::int64_t>(core.jitter.next() & operation.jitter_mask);
    times[device].start = all_arrived;
    times[device].end = all_arrived + operation.duration_ns + jitter;
    core.starts[index] = times[device].arrival;
    core.ends[index] = times[device].end;
    core.unit_free[static_cast<std::size_t>(Unit::collective)] = times[device].end;
  }
}

}  // namespace accelscope::capture::sim
