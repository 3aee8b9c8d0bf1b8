// Writes a simulated run as a Neuron Profile JSON file: the same events as simulate() with the same options writes
// into a sink, in the vendor's tables and with the habits of real files: unsorted rows, keys in any order, numbers as
// strings, "yes" and "no", keys left out, ids of 63 bits, durations of 0, instructions that overlap.
//
// Streams: the simulation is run once for each table, so that a file of any size needs the memory of one pass. The
// format has no place for the memory tracker's events and the utilisation of the array; they are only in sessions.
#pragma once

#include <functional>
#include <string>

#include "capture/sim/output/simulator.h"
#include "core/base/result.h"

namespace accelscope::capture::sim {

// One device, and a limit by kernels or events (two kernels if there is none): a file describes one core and does not
// depend on the clock. An incomplete file is removed on failure.
[[nodiscard]] Result<void> write_neuron_json(const SimulationOptions& options, const std::string& path,
                                             const std::function<bool()>& cancelled = {});

}  // namespace accelscope::capture::sim
