// A simulated run as a Neuron Profile JSON file with the habits of the vendor's tool that trip readers up: tables,
// rows and fields in any order, whole shares with and without a fraction, numbers as texts, no layer in place of an
// empty one. The program's own export is orderly; this is its text, disordered.
#pragma once

#include <string>

#include "capture/sim/kernel/simulation_options.h"
#include "core/base/result.h"

namespace accelscope {

// The same options give the same bytes.
[[nodiscard]] Result<void> write_simulated_profile(const capture::sim::SimulationOptions& options,
                                                   const std::string& path);

// The same run as the folder of Parquet tables that neuron-explorer writes. Only tables of events, and facts.
[[nodiscard]] Result<void> write_simulated_tables(const capture::sim::SimulationOptions& options,
                                                  const std::string& folder);

}  // namespace accelscope
