#pragma once

#include "capture/sim/kernel/simulation_options.h"
#include "capture/sim/kernel/trace.h"
#include "capture/sim/output/simulator.h"
#include "core/base/result.h"
#include "core/chunk/event_sink.h"
#include "core/model/schema.h"

namespace accelscope::capture::sim {

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
