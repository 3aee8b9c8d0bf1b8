// What a run of the simulated accelerator is made of.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "capture/sim/kernel/program.h"
#include "capture/sim/kernel/time_model.h"

namespace accelscope::capture::sim {

enum class Detail : std::uint8_t {
  full,   // every table of a Neuron profile: see capture/sources/neuron/read/schemas.h
  slim,   // one slice schema of six columns, made for rate: instructions, data packets and collectives
  ranks,  // of each rank what it computes between two collectives as a few slices, and the collectives: for many ranks
};

// Of Detail::ranks: what goes wrong.
struct RankFaults {
  std::optional<std::uint32_t> straggler;  // a rank that computes longer in nine of ten steps
  std::int64_t late_ns = 40'000;           // and by how much
  std::optional<std::uint32_t> missing;    // a rank that takes part but is not told of
  // Hosts of eight ranks have clocks of their own, each off by up to so much; 0: all share one.
  std::int64_t clock_skew_ns = 0;
};

inline constexpr std::uint32_t kMostDevices = 64;  // and so many physical cores together
inline constexpr std::uint32_t kMostCoresPerDevice = 4;

// The run ends after the first limit that is reached; with none given, after two kernels (full), 100 (slim) or 48
// steps (ranks).
struct SimulationOptions {
  std::uint64_t seed = 1;
  std::uint64_t events = 0;   // ends after the kernel (slim: after the operation) that reaches so many; 0: no limit
  std::uint64_t kernels = 0;  // passes through the layer on each device, of ranks steps; 0: no limit
  double seconds = 0;         // wall clock; 0: no limit
  std::uint32_t devices = 1;  // logical cores, each a rank of the collectives; 1 to 64
  std::uint32_t cores_per_device = 1;  // physical cores of a logical one, as the chip allows; 64 together at most
  Detail detail = Detail::full;
  RankFaults faults;
  // Also the fields and facts that only files of the vendor's tool hold: for what is to become one.
  bool vendor_file = false;
  bool resident_weights = false;  // the MLP keeps its weights in SBUF instead of reading them for every block of rows
  KernelShape shape;
  std::function<void(KernelProgram&)> change;                  // of the kernels, before they run; null: none
  double dma_latency_ns = static_cast<double>(kDmaLatencyNs);  // from a DMA's trigger to its first byte
  double slower = 0;  // every operation of the kernels takes so much longer, as a share: a change that is known
  // The operation of each pass whose result differs from that of other runs, and with it all that comes after it and
  // depends on it: their checksums say so.
  std::optional<std::uint32_t> diverging_operation;
  // Paced by the wall clock, flushed every 100 ms; infinity: as fast as possible.
  double rate_events_per_second = std::numeric_limits<double>::infinity();
};

}  // namespace accelscope::capture::sim
