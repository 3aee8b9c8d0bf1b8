// Changes of the simulated kernels and of the accelerator: for sessions of some variety, and to run a kernel with the
// very change whose effect an analysis predicts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/sim/kernel/simulation_options.h"

namespace accelscope::capture::sim {

struct KernelChange {
  enum class What : std::uint8_t {
    bandwidth,  // of the DMA engines: payloads take 1 / factor of their time
    latency,    // from a DMA's trigger to its first byte
    opcode,     // the time of instructions with the name
    queue,      // the time of the packets of the queue
    layer,      // the time of the instructions of the layer, "mlp/up_proj"
    wait,       // instructions of the engine `name` do not wait for operations that add to the semaphore
  };
  What what = What::bandwidth;
  double factor = 1;
  std::string name = {};
  int semaphore = 0;
};

// Beside those that the options have already.
void add_changes(SimulationOptions& options, const std::vector<KernelChange>& changes);

}  // namespace accelscope::capture::sim
