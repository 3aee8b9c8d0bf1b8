// Small tiled kernels out of a seed, with one planted defect or none, and the twin of each in which it is mended: what
// the mending saves is the difference of the two runs. For judging analysis by a truth that is known.
//
//   const PlantedKernel slow = plant_kernel(Defect::reload, seed, false), mended = plant_kernel(Defect::reload, seed,
//   true); simulate_planted(slow, sink);
//
// All have one shape: for every block of columns, for every block of rows, `depth` multiplications add up in a bank;
// Scalar activates, Vector adds, DMA stores. Sizes, and whether multiplications or DMA take longer, are the seed's. A
// kernel without a defect has two banks, rings of two blocks of tiles, four buffers of everything else.
#pragma once

#include <string>
#include <string_view>

#include "capture/sim/kernel/trace.h"
#include "core/base/result.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sim {

enum class Defect : std::uint8_t {
  none,
  reload,           // the weights are loaded for every group of rows, though they have room
  small_dmas,       // every tile comes in sixteen transfers of 512 byte packets
  serial_engines,   // one bank: the matrix engine waits for Scalar
  single_buffer,    // a ring of one block of tiles: loads wait until the block before is done
  narrow_tile,      // 64 columns move at once instead of 512
  spill,            // the activated tile goes to HBM and back
  throttle,         // half of the cycles for a third of the time
  transposes,       // the matrix engine turns what Scalar made
  late_collective,  // requested at the kernel's end, though its data were there at half of it
  straggling_rank,  // one rank computes longer
  launch_gap,       // the host starts every run late
};
inline constexpr std::size_t kDefectCount = 12;
[[nodiscard]] std::string_view defect_name(Defect defect) noexcept;

struct PlantedKernel {
  SimulationOptions options;
  RunPlan plan;      // empty of a straggling rank: that is told by what ranks compute between collectives
  std::string line;  // "transformer_layer.py:33": where the defect is; "": no line has it
};

[[nodiscard]] PlantedKernel plant_kernel(Defect defect, std::uint64_t seed, bool repaired);
// Its events in full detail.
[[nodiscard]] Result<void> simulate_planted(PlantedKernel kernel, EventSink& sink);

}  // namespace accelscope::capture::sim
