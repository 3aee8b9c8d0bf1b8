// Many ranks, told by what they compute between two collectives and by these: eight ranks to a host, each step a
// forward and a backward pass and the collective that follows. Made for collectives across ranks, so that the parts of
// a run that make it large are left out. With the faults of SimulationOptions it has a straggler, clocks that lie
// apart, and a rank that nobody tells of.
#pragma once

#include "capture/sim/kernel/simulation_options.h"
#include "core/base/result.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sim {

inline constexpr std::uint32_t kRanksOfHost = 8;

[[nodiscard]] Result<void> run_ranks(const SimulationOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sim
