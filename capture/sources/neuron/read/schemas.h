// The schemas of a Neuron profile, shared by the JSON source and the simulated accelerator, so that a column has
// one name, unit and explanation wherever its events come from. Column names are the vendor's field names of the
// JSON tables; `timestamp` and `duration` are the built-in start and duration, and the field that became the
// built-in name is Schema::name_column. Columns that no JSON table has are marked "derived" below.
//
//   SchemaNumber number = writer.add_schema(neuron_schema(NeuronTable::instruction));
//   std::size_t pc = neuron_column(NeuronTable::instruction, "pc");   // once, not per event
//
// Tracks: see the comment of each table (Track::kind, one track per ...). Shares are fractions of one, unit "share".
// Holds no code that reads or writes a profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/model/schema.h"

namespace accelscope::capture::sources::neuron {

enum class NeuronTable : std::uint8_t {
  instruction,       // JSON instruction; "engine", one track per label (Tensor, TensorMatrix, Vector ...)
                     //   derived: raw_flops = 2 * elements of MATMUL; stack_frames from the stack_frame* tables
  dma,               // JSON dma, aggregated "no": packets; "dma_queue", one track per queue and DMA engine (subgroup)
  dma_transfer,      // JSON dma, aggregated "yes"; "dma_queue", one track per queue (subgroup)
  semaphore_update,  // JSON semaphore_update; counter of kind "semaphore", one track per id
  cc_op,             // JSON cc_ops: whole collectives; "collective"; derived: both bandwidths where absent
  cc_instruction,    // JSON cc_instruction; "cc_core", one track per CC-core
  pending_dma,       // JSON pending_dma; "counter"
  dma_throughput,    // JSON dma_throughput; "counter"
  hbm_throughput,    // the HBM part of JSON dma_throughput as a counter of its own
  sbuf_usage,        // JSON instruction_usage of type "sb"; "counter"
  psum_usage,        // JSON instruction_usage of type "psum"; "counter"
  pe_utilization,    // derived from MATMUL elements; "counter"
  throttle,          // JSON ham; "throttle"; name from `type`; derived: util_limit = k / n
  active_time,       // JSON active_time; "table", one track per engine: busy intervals, hidden from the timeline
  layer_summary,     // JSON layer_summary; "layer"
  neff_node,         // JSON neff_node; "table"
  dma_queues_info,   // JSON dma_queues_info; "table"
  nc_mem_usage,      // JSON nc_mem_usage; "table"
  neff_header,       // JSON neff_header; "table"
  model_info,        // JSON model_info; "table"
  warnings,          // JSON warnings; "table"
  error,             // JSON error; instants of kind "error"
  memory,            // scratchpad (HBM) allocations and releases; "memory"; a release repeats the address
  flow,              // JSON instruction.predecessors; "flow": instants at the start of the dependent event
  cc_stream,         // JSON cc_stream; "table"
  core_barrier,      // JSON core_barriers; "barrier", one track per engine
  trace_event,       // JSON trace_events of a system profile; "host_thread", one track per process and thread
  host_memory,       // JSON mem_usage of a system profile; "counter", one track per instance
  cpu_util,          // JSON cpu_util of a system profile; "counter", one track per processor core
};
inline constexpr std::size_t kNeuronTableCount = 29;

// Number 0; add_schema assigns one.
[[nodiscard]] Schema neuron_schema(NeuronTable table);

// Place of a column of that table. The column must exist.
[[nodiscard]] std::size_t neuron_column(NeuronTable table, std::string_view column);

// "activity_0" for 0, "unknown" for 99: the kinds of throttling, JSON ham.type.
[[nodiscard]] std::string_view neuron_throttle_kind(std::int64_t type) noexcept;

}  // namespace accelscope::capture::sources::neuron
