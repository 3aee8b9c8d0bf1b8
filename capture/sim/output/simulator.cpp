#include "capture/sim/output/simulator.h"

#include "capture/sim/output/session_run.h"
#include "capture/sim/output/slim_run.h"

namespace accelscope::capture::sim {

Result<void> simulate(const SimulationOptions& options, EventSink& sink) {
  if (options.devices < 1 || options.devices > 64) {
    return Error{"simulate: " + std::to_string(options.devices) + " devices; choose 1 to 64"};
  }
  if (!(options.rate_events_per_second > 0)) return Error{"simulate: the rate must be above zero, or max"};
  return options.detail == Detail::slim ? run_slim(options, sink) : run_session(options, sink);
}

}  // namespace accelscope::capture::sim
