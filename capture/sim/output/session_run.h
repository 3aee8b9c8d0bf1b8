// The simulation in full detail, written into a sink with the schemas of a Neuron profile: one set of tracks for
// each core, events in the order of time so that a live view moves smoothly.
#pragma once

#include "capture/sim/kernel/trace.h"
#include "capture/sim/output/simulator.h"

namespace accelscope::capture::sim {

[[nodiscard]] Result<void> run_session(const SimulationOptions& options, EventSink& sink);
// The same of other kernels than the demo's.
[[nodiscard]] Result<void> run_session(const SimulationOptions& options, RunPlan plan, EventSink& sink);

}  // namespace accelscope::capture::sim
