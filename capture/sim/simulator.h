// A simulated accelerator: a seeded discrete-event model of NeuronCores that run the kernels of
// assets/demo/transformer_layer.py (a tiled MLP and attention) over and over. It needs no hardware, writes into any
// sink (a store, or the wire), and gives identical bytes for identical options. Its clocks, costs and rules are in
// time_model.h and capture/sim/README.md. It is a model of the schedule, not of the numbers that are computed.
//
//   SimulationOptions options;
//   options.kernels = 2;
//   Result<void> done = simulate(options, sink);
//
// write_neuron_json (neuron_json_writer.h) writes the same run as a Neuron Profile JSON file.
#pragma once

#include <cstdint>
#include <limits>

#include "core/base/result.h"
#include "core/model/event_sink.h"

namespace accelscope::capture {

enum class Detail : std::uint8_t {
  full,  // every table of a Neuron profile: see capture/sources/neuron/neuron_schemas.h
  slim,  // one slice schema of six columns, made for rate: instructions, data packets and collectives
};

// The run ends after the first limit that is reached; with none given, after two kernels (full) or 100 (slim).
struct SimulationOptions {
  std::uint64_t seed = 1;
  std::uint64_t events = 0;   // ends after the kernel (slim: after the operation) that reaches so many; 0: no limit
  std::uint64_t kernels = 0;  // passes through the layer on each device; 0: no limit
  double seconds = 0;         // wall clock; 0: no limit
  std::uint32_t devices = 1;  // cores, each a rank of the collectives; 1 to 64
  Detail detail = Detail::full;
  bool resident_weights = false;  // the MLP keeps its weights in SBUF instead of reading them for every block of rows
  // Paced by the wall clock, flushed every 100 ms; infinity: as fast as possible.
  double rate_events_per_second = std::numeric_limits<double>::infinity();
};

// Returns early, without error, once the sink is cancelled. Fails on options out of range and when the sink fails.
[[nodiscard]] Result<void> simulate(const SimulationOptions& options, EventSink& sink);

}  // namespace accelscope::capture
