// A simulated accelerator: a seeded discrete-event model of NeuronCores that run the kernels of
// assets/demo/transformer_layer.py (a tiled MLP and attention) over and over. It needs no hardware, writes into any
// sink (a store, or the wire), and gives identical bytes for identical options. Its clocks, costs and rules are in
// time_model.h and capture/sim/README.md. It is a model of the schedule, not of the numbers that are computed.
//
//   SimulationOptions options;
//   options.kernels = 2;
//   Result<void> done = simulate(options, sink);
//
// write_neuron_json (neuron_json_writer.h) writes the same run as a Neuron Profile JSON file.
#pragma once

#include "capture/sim/kernel/simulation_options.h"
#include "core/base/result.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sim {

// Returns early, without error, once the sink is cancelled. Fails on options out of range and when the sink fails.
[[nodiscard]] Result<void> simulate(const SimulationOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sim
