// A simulated accelerator: a seeded discrete-event model of NeuronCores that run the kernels of
// assets/demo/transformer_layer.py (a tiled MLP and attention) over and over. It needs no hardware, writes into any
// sink (a store, or the wire), and gives identical bytes for identical options. Its clocks, costs and rules are in
// time_model.h and capture/sim/README.md. It is a model of the schedule, not of the numbers that are computed.
//
//   SimulationOptions options;
//   options.kernels = 2;
//   Result<void> done = simulate(options, sink);
//
// As a Neuron Profile JSON file: simulate(*vendor_file_options(options), store), then core/export/neuron.
#pragma once

#include "capture/sim/kernel/simulation_options.h"
#include "core/base/result.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sim {

// Returns early, without error, once the sink is cancelled. Fails on options out of range and when the sink fails.
[[nodiscard]] Result<void> simulate(const SimulationOptions& options, EventSink& sink);

// The options for a run that is to become such a file: of one core, in full detail, and independent of the clock on the
// wall, hence with a limit by kernels or events (two kernels if there is none).
[[nodiscard]] Result<SimulationOptions> vendor_file_options(SimulationOptions options);

}  // namespace accelscope::capture::sim
