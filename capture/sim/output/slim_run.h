// The simulation at full speed: every instruction, data packet and collective as one event of six columns (start,
// duration, name, source line, bytes, wait), written straight into chunk builders. Nothing here looks up, allocates
// or dispatches per event.
#pragma once

#include "capture/sim/output/simulator.h"
#include "core/model/schema.h"

namespace accelscope::capture::sim {

inline constexpr std::size_t kSlimSourceLocation = 0;
inline constexpr std::size_t kSlimBytes = 1;
inline constexpr std::size_t kSlimWait = 2;
[[nodiscard]] Schema slim_schema();

[[nodiscard]] Result<void> run_slim(const SimulationOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sim
