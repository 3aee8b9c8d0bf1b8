#include "capture/sim/output/simulator.h"

#include "capture/sim/output/runs.h"

namespace accelscope::capture::sim {

Result<void> simulate(const SimulationOptions& options, EventSink& sink) {
  if (options.devices < 1 || options.devices > 64) {
    return Error{"simulate: " + std::to_string(options.devices) + " devices; choose 1 to 64"};
  }
  if (!(options.rate_events_per_second > 0)) return Error{"simulate: the rate must be above zero, or max"};
  if (options.detail == Detail::ranks) return run_ranks(options, sink);
  return options.detail == Detail::slim ? run_slim(options, sink) : run_session(options, sink);
}

Result<SimulationOptions> vendor_file_options(SimulationOptions options) {
  if (options.devices != 1) {
    return Error{"simulate: a Neuron Profile JSON file describes one core; write one file per core, with other seeds"};
  }
  options.vendor_file = true;
  options.seconds = 0;
  options.detail = Detail::full;
  if (options.kernels == 0 && options.events == 0) options.kernels = 2;
  return options;
}

}  // namespace accelscope::capture::sim
