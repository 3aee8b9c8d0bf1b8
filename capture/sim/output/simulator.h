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
#include "capture/sim/kernel/trace.h"
#include "core/base/result.h"
#include "core/chunk/event_sink.h"
#include "core/model/schema.h"

namespace accelscope::capture::sim {

// Returns early, without error, once the sink is cancelled. Fails on options out of range and when the sink fails.
[[nodiscard]] Result<void> simulate(const SimulationOptions& options, EventSink& sink);

// Whether the chip has logical cores of so many physical ones, and few enough; the error names those that it has.
[[nodiscard]] Result<void> check_logical_core(const SimulationOptions& options);

// The options for a run that is to become such a file: of one core, in full detail, and independent of the clock on the
// wall, hence with a limit by kernels or events (two kernels if there is none).
[[nodiscard]] Result<SimulationOptions> vendor_file_options(SimulationOptions options);

// Many ranks, told by what they compute between two collectives and by these: eight ranks to a host, each step a
// forward and a backward pass and the collective that follows. Made for collectives across ranks, so that the parts of
// a run that make it large are left out. With the faults of SimulationOptions it has a straggler, clocks that lie
// apart, and a rank that nobody tells of.

inline constexpr std::uint32_t kRanksOfHost = 8;

[[nodiscard]] Result<void> run_ranks(const SimulationOptions& options, EventSink& sink);

// The simulation in full detail, written into a sink with the schemas of a Neuron profile: one set of tracks for
// each core, events in the order of time so that a live view moves smoothly.

[[nodiscard]] Result<void> run_session(const SimulationOptions& options, EventSink& sink);
// The same of other kernels than the demo's.
[[nodiscard]] Result<void> run_session(const SimulationOptions& options, RunPlan plan, EventSink& sink);

// The simulation at full speed: every instruction, data packet and collective as one event of six columns (start,
// duration, name, source line, bytes, wait), written straight into chunk builders. Nothing here looks up, allocates
// or dispatches per event.

inline constexpr std::size_t kSlimSourceLocation = 0;
inline constexpr std::size_t kSlimBytes = 1;
inline constexpr std::size_t kSlimWait = 2;
[[nodiscard]] Schema slim_schema();

[[nodiscard]] Result<void> run_slim(const SimulationOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sim
