// The time model of the simulated accelerator: every clock, cost and limit in one place. The figures are those of a
// second-generation NeuronCore where they are public, and round numbers of the same size where they are not.
#pragma once

#include <cstdint>

#include "core/analysis/neuron/facts/devices.h"

namespace accelscope::capture::sim {

// Clocks in GHz. The systolic array's peak is stated at 2.8 GHz; it takes one moving column per 1.4 GHz cycle.
inline constexpr double kPeClockGhz = 2.8;
inline constexpr double kCoreClockGhz = 1.4;
inline constexpr double kVectorClockGhz = 1.12;
inline constexpr double kScalarClockGhz = 1.4;
inline constexpr double kGpSimdClockGhz = 1.4;
inline constexpr std::int64_t kPeRows = 128;
inline constexpr std::int64_t kPeColumns = 128;

// Fixed cycles of an instruction on top of one cycle per element of the free dimension.
inline constexpr std::int64_t kMatmulOverheadCycles = 3;  // the pipeline is kept full by the next tile
inline constexpr std::int64_t kLoadWeightsCycles = 118;   // 128 rows, two per cycle, and the swap
inline constexpr std::int64_t kVectorOverheadCycles = 60;
inline constexpr std::int64_t kScalarOverheadCycles = 64;
inline constexpr std::int64_t kGpSimdCyclesPerElement = 2;
inline constexpr std::int64_t kActivationTableNs = 368;  // ACT_TABLE_LOAD; runs beside the engine's next wait
inline constexpr std::int64_t kTriggerNs = 37;           // DMA_TRIGGER: a write to a doorbell
inline constexpr std::int64_t kShortestWaitNs = 7;       // EVENT_SEMAPHORE whose condition holds already
inline constexpr std::int64_t kIssueNs = 5;              // between two instructions of an engine
inline constexpr std::int64_t kSemaphoreNs = 16;         // from a signal to the engine that waits for it

// Sixteen DMA engines share each transfer in equal packets and work in order, queues by turns of arrival.
inline constexpr std::int64_t kDmaEngines = 16;
// The tiles' rows are 1 KiB in each partition; descriptors that small reach less than half of the peak.
inline constexpr double kDmaEngineBytesPerNs = 12.5;     // 200 GB/s together
inline constexpr std::int64_t kDmaLatencyNs = 1150;      // from the trigger to the first byte
inline constexpr std::int64_t kDescriptorWriteNs = 420;  // more where GpSimd writes the descriptors
inline constexpr std::int64_t kSemaphorePacketNs = 7;    // 4 bytes that tell the semaphore of each packet's end
inline constexpr std::int64_t kSemaphorePacketBytes = 4;
inline constexpr double kHbmBytesPerSecond = 410e9;
inline constexpr double kDmaBytesPerSecond = 435e9;

// Ring AllReduce: all ranks arrive, then 2 (n - 1) steps of 1 / n of the bytes each.
inline constexpr std::int64_t kModelledRanks = 8;  // with one device, the other seven are drawn
inline constexpr std::int64_t kRankSkewNs = 4096;  // the last of the others arrives within this
inline constexpr double kLinkBytesPerNs = 40.0;
inline constexpr std::int64_t kRingStepNs = 350;

// A core that multiplied for kThrottleAfterBusyNs since the last time is held to 7 of 8 cycles for kThrottleNs.
inline constexpr std::int64_t kThrottleAfterBusyNs = 30'000;
inline constexpr std::int64_t kThrottleNs = 3'000;
inline constexpr std::int64_t kThrottleK = 7;
inline constexpr std::int64_t kThrottleN = 8;
inline constexpr std::int64_t kThrottleKind = 4;  // gpio_0: the board caps the power

inline constexpr std::int64_t kStartupNs = 1'863'000;   // loading of libraries and tables before the first kernel
inline constexpr std::int64_t kBetweenKernelsNs = 900;  // drain, clear the semaphores, notify, branch

inline constexpr std::int64_t kSbufBytes = 24LL << 20;
inline constexpr std::int64_t kPsumBankBytes = 256LL << 10;  // 2 KiB in each of 128 partitions
inline constexpr std::int64_t kPsumBanks = 8;
inline constexpr std::int64_t kHbmBytes = 16LL << 30;  // a core's share of the device's memory

// What differs between the chips that a core can be of: as it is, a core of the second generation.
struct CoreModel {
  analysis::neuron::Chip chip = analysis::neuron::Chip::trn1;
  double pe_clock_ghz = kPeClockGhz;
  double column_clock_ghz = kCoreClockGhz;  // of the moving columns; instructions are timed by it
  double core_clock_ghz = kCoreClockGhz;
  double vector_clock_ghz = kVectorClockGhz;
  double scalar_clock_ghz = kScalarClockGhz;
  double gpsimd_clock_ghz = kGpSimdClockGhz;
  double dma_engine_bytes_per_ns = kDmaEngineBytesPerNs;
  double hbm_bytes_per_second = kHbmBytesPerSecond;
  double dma_bytes_per_second = kDmaBytesPerSecond;
  double link_bytes_per_ns = kLinkBytesPerNs;
  std::int64_t sbuf_bytes = kSbufBytes;
};

// Of a later chip the clocks, sizes and bandwidths are those of the table of chips, DMA engines and links as much
// faster than those of the second generation as the table says.
[[nodiscard]] inline CoreModel core_model(analysis::neuron::Chip chip) {
  using enum analysis::neuron::ChipFigure;
  constexpr double kGiga = 1e9;
  if (chip == analysis::neuron::Chip::trn1) return {};
  const auto of = [&](analysis::neuron::ChipFigure figure) { return analysis::neuron::chip_figure(chip, figure); };
  const auto faster = [&](analysis::neuron::ChipFigure figure) {
    return of(figure) / analysis::neuron::chip_figure(analysis::neuron::Chip::trn1, figure);
  };
  return {.chip = chip,
          .pe_clock_ghz = of(tensor_clock) / kGiga,
          .column_clock_ghz = of(tensor_clock) / kGiga / 2,
          .core_clock_ghz = of(core_clock) / kGiga,
          .vector_clock_ghz = of(vector_clock) / kGiga,
          .scalar_clock_ghz = of(scalar_clock) / kGiga,
          .gpsimd_clock_ghz = of(gpsimd_clock) / kGiga,
          .dma_engine_bytes_per_ns = kDmaEngineBytesPerNs * faster(dma_engine_rate),
          .hbm_bytes_per_second = of(hbm_rate) / of(cores),
          .dma_bytes_per_second = of(dma_rate) / of(cores),
          .link_bytes_per_ns = kLinkBytesPerNs * faster(link_rate),
          .sbuf_bytes = static_cast<std::int64_t>(of(sbuf_bytes))};
}

}  // namespace accelscope::capture::sim
