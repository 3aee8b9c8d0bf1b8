// Which table of the file becomes which schema and on which tracks its rows go. A table that is not in the list is
// imported with columns inferred from its first rows (importer.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "capture/sources/neuron/read/row_binding.h"
#include "core/model/column_spec.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::neuron {

// The tables of a Neuron profile and their columns, as constants: what schemas.h makes schemas of. Column names are the
// vendor's field names.

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
  trace_event,       // JSON trace_events of a system profile: the runtime's calls, "host_thread", one track per thread,
                     //   and what devices executed, "stream", "collective", "barrier", one track per core
  framework_event,   // those of the framework; "host_thread", one track per thread
  host_memory,       // JSON mem_usage of a system profile; "counter", one track per instance
  cpu_util,          // JSON cpu_util of a system profile; "counter", one track per processor core
  host_transfer,     // derived from calls that move data; "counter", one track per core and direction
  hbm_usage,         // SystemProfileHbmUsage; "counter", one track per HBM and use
};
inline constexpr std::size_t kNeuronTableCount = 32;

namespace tables {

using namespace columns;

inline constexpr ColumnSpec kInstruction[] = {
    {"evt_wait_time", kInt, "ns", kTiming, "Waited before",
     "How long the instruction was ready to issue but had to wait for its semaphore condition.", Role::wait_ns},
    {"trigger", kInt, "ns", kTiming, "DMA triggered at", "Start of the DMA transfer that this instruction set off."},
    {"label", kString, "", kOperation, "Row",
     "Timeline row of the instruction; matrix multiplications have their own."},
    {"subgroup", kString, "", kOperation, "Engine", "Engine whose instruction stream holds the instruction."},
    {"operands", kText, "", kOperation, "Operands",
     "Operands as executed: semaphore conditions and updates, data types, addresses, strides and shapes.",
     Role::operands},
    {"compiler_opcode", kString, "", kOperation, "Compiler opcode",
     "Opcode that the compiler emitted, where the runtime replaced it by another."},
    {"compiler_operands", kText, "", kOperation, "Compiler operands",
     "Operands that the compiler emitted, where the runtime replaced them."},
    {"instruction_type", kString, "", kOperation, "Type",
     "REGULAR for work of the model, TRANSPOSE for a matrix multiplication that only moves data about."},
    {"activation_fn", kString, "", kOperation, "Activation", "Function that the Scalar engine applied."},
    {"elements", kInt, "", kOperation, "Elements",
     "Multiply-accumulates of a matrix multiplication: K times M times N of its tile."},
    {"raw_flops", kInt, "flop", kOperation, "Work",
     "Floating point operations of a matrix multiplication: two for each multiply-accumulate.", Role::flops},
    {"performance_mode", kString, "", kOperation, "Performance mode",
     "Whether the Vector engine ran at two or four elements per lane and cycle."},
    {"hbm_read_bytes", kInt, "B", kMemory, "HBM read", "Bytes that the DMA set off by the instruction read from HBM."},
    {"hbm_write_bytes", kInt, "B", kMemory, "HBM write", "Bytes that the DMA set off by the instruction wrote to HBM."},
    {"sbuf_read_bytes", kInt, "B", kMemory, "SBUF read", "Bytes that the instruction read from the state buffer."},
    {"sbuf_write_bytes", kInt, "B", kMemory, "SBUF write", "Bytes that the instruction wrote to the state buffer."},
    {"psum_read_bytes", kInt, "B", kMemory, "PSUM read", "Bytes that the instruction read from the partial sums."},
    {"psum_write_bytes", kInt, "B", kMemory, "PSUM write", "Bytes that the instruction wrote to the partial sums."},
    {"psum_read_sbuf_write_bytes", kInt, "B", kMemory, "PSUM to SBUF",
     "Bytes written to the state buffer by an instruction that drained the partial sums."},
    {"is_psum_read_sbuf_write", kFlag, "", kMemory, "Drains PSUM",
     "The instruction reads the partial sums and writes the state buffer."},
    {"spill_save_bytes", kInt, "B", kMemory, "Spill save",
     "Bytes moved out to HBM because the state buffer had no room for them."},
    {"spill_reload_bytes", kInt, "B", kMemory, "Spill reload",
     "Bytes read back that had been moved out for lack of room."},
    {"weight_queue_bytes", kInt, "B", kMemory, "Weight bytes", "Bytes that came through the queues that load weights."},
    {"input_queue_bytes", kInt, "B", kMemory, "Input bytes", "Bytes that came through the queues that load inputs."},
    {"output_queue_bytes", kInt, "B", kMemory, "Output bytes",
     "Bytes that left through the queues that store outputs."},
    {"id", kUnsigned, "", kIds, "Instruction", "The profile's own number of this execution of the instruction.",
     Role::key},
    {"pc", kInt, "", kIds, "PC", "Place in the engine's instruction stream."},
    {"compiler_pc", kInt, "", kIds, "Compiler PC", "Place in the instruction stream as the compiler laid it out."},
    {"bir_id", kText, "", kIds, "BIR", "The instruction in the compiler's last representation, with its subgraph."},
    {"raw_bir_id", kInt, "", kIds, "Raw BIR",
     "The same as one number: subgraph in bits 48 to 63, function in 32 to 47, instruction below."},
    {"bir_instruction_name", kString, "", kIds, "BIR name",
     "Name that the compiler's last stage gave the instruction."},
    {"penguin_id", kString, "", kIds, "Penguin",
     "The operation in the compiler's tiled representation, with its subgraph."},
    {"penguin_name", kString, "", kIds, "Penguin name", "Name of that operation, with its type, shape and indices."},
    {"raw_penguin_id", kInt, "", kIds, "Raw Penguin", "The same as one number."},
    {"raw_hlo_id", kInt, "", kIds, "HLO number", "Number of the graph operation that the instruction is part of."},
    {"raw_framework_id", kString, "", kIds, "Framework", "Numbers of the framework operations that it came from."},
    {"crc_in", kInt, "", kIds, "CRC in", "Checksum of the data read; 65535 means that none was taken."},
    {"crc_out", kInt, "", kIds, "CRC out",
     "Checksum of the data written: it differs between two runs where their numbers differ; 65535 means none."},
    {"layer", kString, "", kLayerAndSource, "Layer", "Path of the model's layer.", Role::layer},
    {"nki_source_location", kString, "", kLayerAndSource, "Source", "Line of the kernel that produced the instruction.",
     Role::source_location},
    {"bir_debug_info_source_location", kString, "", kLayerAndSource, "BIR source",
     "Line that the compiler's debug information names; it knows more instructions than the kernel's own lines do."},
    {"stack_frames", kString, "", kLayerAndSource, "Stack",
     "Calls that led to this line when the kernel was traced, innermost first.", Role::stack},
    {"other_stack_frames", kString, "", kLayerAndSource, "Also from",
     "The innermost calls of other stacks that led to the same instruction: the compiler made one of several.",
     Role::stack},
    {"loop_variables", kString, "", kLayerAndSource, "Loop variables",
     "Values of the variables of the kernel's loops around the instruction, outermost first."},
    {"stack_frame_ids", kString, "", kLayerAndSource, "Stack frame ids",
     "Numbers of those calls in the profile's frame tables."},
    {"hlo_name", kString, "", kLayerAndSource, "HLO", "Operation of the compiler's input graph."},
    {"hlo_attrs", kString, "", kLayerAndSource, "HLO attributes",
     "Framework operation, file and line that the graph operation carries."},
    {"fully_qualified_subgraph", kString, "", kLayerAndSource, "Subgraph",
     "Compiled graph that the instruction belongs to."},
    {"subgraph", kString, "", kDetails, "Subgraph name", "Short name of that compiled graph."},
    {"kernel_instruction_name", kString, "", kDetails, "Kernel instruction",
     "Name of the instruction inside its kernel."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
    // Of the newer exports only.
    {"dma_trigger_end_ts", kInt, "ns", kTiming, "DMA ended at",
     "End of the DMA transfer that this instruction set off."},
    {"dma_wait_time_ns", kInt, "ns", kTiming, "DMA waited", "Time from the request to the start of that transfer."},
    {"adjusted_flops", kInt, "flop", kOperation, "Adjusted work",
     "The work weighted by data type, so that slow types count for the time they take."},
    {"tensor_elements_transpose", kInt, "", kOperation, "Transposed elements",
     "Elements of a matrix multiplication that only transposes."},
    {"flops_transpose", kInt, "flop", kOperation, "Transposing work",
     "Floating point operations of a matrix multiplication that only transposes."},
    {"adjusted_flops_transpose", kInt, "flop", kOperation, "Adjusted transposing work",
     "The same weighted by data type."},
    {"instruction_chain", kText, "", kIds, "Chain", "Numbers of the instructions that depend on each other around it."},
};

// Packets and transfers share one JSON table and most of its fields.
inline constexpr ColumnSpec kDma[] = {
    {"transfer_rate", kInt, "B/s", kTiming, "Rate", "Bytes moved over the time that the move took."},
    {"dma_queue", kInt, "", kOperation, "Queue number", "Ring of the DMA engine that the descriptor was taken from."},
    {"dma_engine", kInt, "", kOperation, "DMA engine", "Which of the sixteen DMA engines did the work."},
    {"subgroup", kString, "", kOperation, "Queue", "Queue by name; packets add ring and engine."},
    {"queue_type", kString, "", kOperation, "Queue type",
     "What the queue carries: data, instructions, or moves described while running."},
    {"op", kString, "", kOperation, "Operation", "What the DMA engine did with the data; usually copy."},
    {"semaphore_id", kString, "", kOperation, "Signals", "Semaphore that completion adds to; -1 means none."},
    {"is_cc_dma", kFlag, "", kOperation, "Collective", "The move is part of a collective operation."},
    {"duplicate", kFlag, "", kOperation, "Duplicate", "The profile holds the same move a second time."},
    {"transfer_size", kInt, "B", kMemory, "Size", "Bytes moved.", Role::bytes},
    {"read_size", kInt, "B", kMemory, "Read", "Bytes read at the source."},
    {"write_size", kInt, "B", kMemory, "Written", "Bytes written at the destination."},
    {"source", kString, "", kMemory, "From",
     "Kind of memory or tensor at the source: WEIGHT, INPUT, SB, VIRTUAL (spill) ..."},
    {"dest", kString, "", kMemory, "To", "Kind of memory or tensor at the destination."},
    {"id", kUnsigned, "", kIds, "DMA", "The profile's own number of the move.", Role::key},
    {"packet_idx", kInt, "", kIds, "Packet", "Place of the packet within its transfer on this engine."},
    {"packet_aggregation_id", kUnsigned, "", kIds, "Transfer", "Number of the transfer that the packet belongs to."},
    {"block_id", kInt, "", kIds, "Block", "Block of descriptors that the move was taken from."},
    {"crc", kInt, "", kIds, "CRC", "Checksum of the data: it differs between two runs where their numbers differ."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
    {"subgraph", kString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
};

inline constexpr ColumnSpec kDmaTransferOnly[] = {
    {"trigger", kInt, "ns", kTiming, "Triggered at", "Start of the instruction that set off the transfer."},
    {"read_shape", kString, "", kMemory, "Read shape", "Shape of the access pattern at the source."},
    {"write_shape", kString, "", kMemory, "Write shape", "Shape of the access pattern at the destination."},
    {"source_offset", kText, "", kMemory, "Read offset", "Where the access pattern begins at the source."},
    {"dest_offset", kText, "", kMemory, "Write offset", "Where the access pattern begins at the destination."},
    {"source_steps", kString, "", kMemory, "Read steps", "Distances between elements at the source, per dimension."},
    {"dest_steps", kString, "", kMemory, "Write steps",
     "Distances between elements at the destination, per dimension."},
    {"source_sb_partitions", kString, "", kMemory, "Read partitions", "State buffer partitions read."},
    {"dest_sb_partitions", kString, "", kMemory, "Write partitions", "State buffer partitions written."},
    {"source_num_sb_partitions", kInt, "", kMemory, "Partitions read", "How many state buffer partitions were read."},
    {"dest_num_sb_partitions", kInt, "", kMemory, "Partitions written",
     "How many state buffer partitions were written."},
    {"nki_source_location", kString, "", kLayerAndSource, "Source", "Line of the kernel that asked for the transfer.",
     Role::source_location},
    // Of the newer exports only.
    {"completion", kInt, "ns", kTiming, "Completed at", "When the completion of the transfer was seen."},
    {"modular_flow_function", kString, "", kLayerAndSource, "Function", "Compiled function and call of it."},
    {"is_transpose_mode", kFlag, "", kOperation, "Transposes", "The DMA engine transposed the data on its way."},
    {"transpose_element_size", kString, "", kOperation, "Transposed element",
     "Bytes of an element that was transposed."},
    {"transpose_shape", kString, "", kOperation, "Transposed shape", "Shape of what was transposed."},
    {"transpose_from_shape", kString, "", kOperation, "Shape before", "Shape before it was transposed."},
    {"transpose_to_shape", kString, "", kOperation, "Shape after", "Shape after it was transposed."},
    {"transpose_unroll_factor", kString, "", kOperation, "Unrolled", "How often the transpose was unrolled."},
};

inline constexpr ColumnSpec kSemaphoreUpdate[] = {
    {"value", kInt, "", kOperation, "Value", "Value of the semaphore after the update.", Role::value, true},
    {"update_source", kString, "", kOperation, "Updated by", "Engine or port that changed the semaphore."},
    {"update_operation_type", kString, "", kOperation, "Operation",
     "How the value was changed: incremented, set, cleared ..."},
    {"double_set_or_clear", kFlag, "", kDetails, "Set twice",
     "The semaphore was set while set, or cleared while clear: a likely race."},
    {"update_mode", kInt, "", kDetails, "Mode", "Number of the way in which the value was changed."},
    {"update_trigger_timing", kString, "", kDetails, "Updated when",
     "At which moment of an instruction it was changed."},
    {"subgraph", kString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};

inline constexpr ColumnSpec kCcOp[] = {
    {"cc_trigger", kInt, "ns", kTiming, "Triggered at", "When the engine asked for the collective."},
    {"cc_trigger_start_delay", kInt, "ns", kTiming, "Start delay",
     "Time from the request to the start, most of it waiting for the other ranks.", Role::wait_ns},
    {"algorithm_bandwidth", kReal, "B/s", kTiming, "Algorithm bandwidth",
     "The larger of input and output size over the duration."},
    {"bus_bandwidth", kReal, "B/s", kTiming, "Bus bandwidth",
     "Algorithm bandwidth times what the algorithm sends per byte, to compare with the speed of the links."},
    {"algorithm", kString, "", kOperation, "Algorithm", "How the ranks exchange their parts, such as a ring."},
    {"dtype", kString, "", kOperation, "Type", "Data type of the elements."},
    {"num_elements", kInt, "", kOperation, "Elements", "Elements of the result on one rank."},
    {"replica_group", kString, "", kOperation, "Ranks", "Ranks that take part."},
    {"trigger_engine", kString, "", kOperation, "Triggered by", "Engine that asked for the collective."},
    {"input_size", kInt, "B", kMemory, "Input", "Bytes that each rank brings.", Role::bytes},
    {"output_size", kInt, "B", kMemory, "Output", "Bytes that each rank receives."},
    {"op_id", kUnsigned, "", kIds, "Operation id", "The profile's own number of the collective.", Role::key},
    {"stream_id", kInt, "", kIds, "Stream", "Stream of collectives that it ran on."},
    {"stream_index", kInt, "", kIds, "Stream index", "Number of the stream within the execution."},
    {"replica_group_id", kInt, "", kIds, "Group of ranks", "Number of the group of ranks that takes part."},
    {"layer", kString, "", kLayerAndSource, "Layer", "Path of the model's layer.", Role::layer},
    {"nki_source_location", kString, "", kLayerAndSource, "Source", "Line of the kernel that asked for the collective.",
     Role::source_location},
};

inline constexpr ColumnSpec kCcInstruction[] = {
    {"core_idx", kInt, "", kOperation, "CC-core", "Collective core that ran the step."},
    {"trigger_engine", kString, "", kOperation, "Triggered by", "Engine that asked for the collective."},
    {"trigger_start_ts", kInt, "ns", kTiming, "Triggered at", "When the engine asked for the collective."},
    {"op_id", kUnsigned, "", kIds, "Collective", "Number of the collective that the step is part of."},
};

inline constexpr ColumnSpec kPendingDma[] = {
    {"value", kInt, "", kOperation, "Pending", "DMA transfers that were asked for and have not completed.", Role::value,
     true},
    {"subgraph", kString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
inline constexpr ColumnSpec kDmaThroughput[] = {
    {"transfer_rate", kReal, "B/s", kMemory, "Throughput", "Bytes per second over all DMA engines at this moment.",
     Role::value, true},
    {"total_transfer_bytes", kInt, "B", kMemory, "Moved so far", "Bytes moved since the start."},
    {"hbm_transfer_rate", kReal, "B/s", kMemory, "HBM throughput", "The part of it that reads or writes HBM."},
    {"hbm_total_transfer_bytes", kInt, "B", kMemory, "HBM so far", "Bytes moved from or to HBM since the start."},
    {"uses_hbm", kFlag, "", kMemory, "Uses HBM", "Some of the traffic at this moment reads or writes HBM."},
    {"subgraph", kString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
inline constexpr ColumnSpec kHbmThroughput[] = {
    {"hbm_transfer_rate", kReal, "B/s", kMemory, "HBM throughput", "Bytes per second from or to HBM at this moment.",
     Role::value, true},
    {"hbm_total_transfer_bytes", kInt, "B", kMemory, "HBM so far", "Bytes moved from or to HBM since the start."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
inline constexpr ColumnSpec kSbufUsage[] = {
    {"usage_avg", kReal, "share", kMemory, "Average",
     "Share of the state buffer in use, mean of the sampled partitions.", Role::value, true},
    {"partition_0_usage", kReal, "share", kMemory, "Partition 0", "Share of partition 0 in use."},
    {"partition_32_usage", kReal, "share", kMemory, "Partition 32", "Share of partition 32 in use."},
    {"partition_64_usage", kReal, "share", kMemory, "Partition 64", "Share of partition 64 in use."},
    {"partition_96_usage", kReal, "share", kMemory, "Partition 96", "Share of partition 96 in use."},
    {"subgraph", kString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
inline constexpr ColumnSpec kPsumUsage[] = {
    {"usage_avg", kReal, "share", kMemory, "Average", "Share of the partial sum memory in use, mean of its banks.",
     Role::value, true},
    {"bank_0_usage", kReal, "share", kMemory, "Bank 0", "Share of bank 0 in use."},
    {"bank_1_usage", kReal, "share", kMemory, "Bank 1", "Share of bank 1 in use."},
    {"bank_2_usage", kReal, "share", kMemory, "Bank 2", "Share of bank 2 in use."},
    {"bank_3_usage", kReal, "share", kMemory, "Bank 3", "Share of bank 3 in use."},
    {"bank_4_usage", kReal, "share", kMemory, "Bank 4", "Share of bank 4 in use."},
    {"bank_5_usage", kReal, "share", kMemory, "Bank 5", "Share of bank 5 in use."},
    {"bank_6_usage", kReal, "share", kMemory, "Bank 6", "Share of bank 6 in use."},
    {"bank_7_usage", kReal, "share", kMemory, "Bank 7", "Share of bank 7 in use."},
    {"subgraph", kString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
inline constexpr ColumnSpec kPeUtilization[] = {
    {"utilization", kReal, "share", kOperation, "Utilisation",
     "Share of the systolic array's multiply-accumulates that did work since the last sample.", Role::value, true},
};

inline constexpr ColumnSpec kThrottle[] = {
    {"util_limit", kReal, "share", kOperation, "Limit", "Share of cycles in which the engine may work: k of n."},
    {"k", kInt, "", kDetails, "k", "Cycles out of n that are allowed."},
    {"n", kInt, "", kDetails, "n", "Length of the throttling pattern in cycles."},
    {"type", kInt, "", kDetails, "Type", "Number of the cause: 0 is activity, 99 unknown."},
    {"subgraph", kString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
inline constexpr ColumnSpec kActiveTime[] = {
    {"end_ts", kInt, "ns", kTiming, "Stated end",
     "The end as the file states it: begin, end and duration are each cut to whole ns by themselves."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core that the engine belongs to."},
    {"subgraph", kString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
};

inline constexpr ColumnSpec kNeffNode[] = {
    {"type", kString, "", kOperation, "Kind", "IN, OUT or WEIGHT."},
    {"format", kString, "", kOperation, "Format", "Order of the dimensions."},
    {"shape", kString, "", kOperation, "Shape", "Extent of each dimension."},
    {"size", kInt, "B", kMemory, "Size", "Bytes of the tensor."},
    {"load_to_sbuf_dma_count", kInt, "", kMemory, "Loads", "How many transfers loaded it into the state buffer."},
    {"load_to_sbuf_avg_size_bytes", kInt, "B", kMemory, "Mean load", "Mean size of these transfers."},
    {"load_to_sbuf_total_size_bytes", kInt, "B", kMemory, "Loaded", "Bytes that these transfers loaded."},
    {"load_to_sbuf_repeat_factor", kReal, "", kMemory, "Times loaded",
     "Bytes loaded over the tensor's size; above two the same data is read again and again."},
    {"node", kString, "", kIds, "Node", "Number of the compiled graph's node."},
    {"sg_name", kString, "", kIds, "Subgraph", "Compiled graph that it belongs to."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
inline constexpr ColumnSpec kDmaQueuesInfo[] = {
    {"q_type", kString, "", kOperation, "Type", "What the queue was made for."},
    {"q_idx", kInt, "", kIds, "Ring", "Ring number on its DMA engine."},
    {"q_eng_idx", kInt, "", kIds, "DMA engine", "DMA engine that serves the queue."},
    {"q_axi_port", kInt, "", kDetails, "AXI port", "Port of the DMA engine on the chip's interconnect."},
    {"q_dram_channel", kInt, "", kDetails, "DRAM channel", "Memory channel of the descriptors."},
    {"q_event_id", kInt, "", kDetails, "Event", "Event number of the queue; -1 means none."},
    {"subgraph", kString, "", kIds, "Subgraph", "Compiled graph that uses the queue."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
inline constexpr ColumnSpec kNcMemUsage[] = {
    {"amount_bytes", kInt, "B", kMemory, "Size", "Device memory that this use takes."},
    {"nd", kInt, "", kIds, "Device", "Number of the accelerator in its host."},
    {"nc", kInt, "", kIds, "Core", "Number of the core on its device."},
};
inline constexpr ColumnSpec kNeffHeader[] = {
    {"uuid", kString, "", kIds, "UUID", "Identity of the compiled file."},
    {"hash", kString, "", kIds, "Hash", "Checksum of the compiled file's content; pairs a trace with its program."},
    {"major_version", kInt, "", kDetails, "Major version", "Version of the file format."},
    {"minor_version", kInt, "", kDetails, "Minor version", "Minor version of the file format."},
    {"package_version", kInt, "", kDetails, "Package version", "Version of the package layout."},
    {"build_version", kString, "", kDetails, "Build", "Build of the compiler's packager."},
    {"enabled_features", kString, "", kDetails, "Features", "Device features that the program needs."},
    {"header_size", kInt, "B", kDetails, "Header size", "Bytes of the file's header."},
    {"data_size", kInt, "B", kDetails, "Data size", "Bytes after the header."},
    {"number_of_logical_neuroncores", kInt, "", kDetails, "Logical cores",
     "Logical cores that the program was compiled for."},
    {"neuroncore_count", kInt, "", kDetails, "Cores", "Cores that the program uses."},
    {"cc_participant_count", kInt, "", kDetails, "Participants", "Ranks that take part in its collectives."},
    {"number_of_neuroncores_per_lnc", kInt, "", kDetails, "Cores per logical core",
     "Physical cores that make up one logical core."},
};
inline constexpr ColumnSpec kModelInfo[] = {
    {"event_count", kInt, "", kOperation, "Events", "Hardware events in the trace."},
    {"trace_count", kInt, "", kOperation, "Traces", "Trace records of all kinds."},
    {"dma_queue_count", kInt, "", kOperation, "DMA queues", "Queues that were in use."},
    {"neuroncore_cycle_count", kInt, "cycles", kTiming, "Cycles",
     "Core clock cycles from the first to the last event."},
    {"tensor_engine_instruction_count", kInt, "", kOperation, "Tensor", "Instructions of the Tensor engine."},
    {"vector_engine_instruction_count", kInt, "", kOperation, "Vector", "Instructions of the Vector engine."},
    {"scalar_engine_instruction_count", kInt, "", kOperation, "Scalar", "Instructions of the Scalar engine."},
    {"gpsimd_engine_instruction_count", kInt, "", kOperation, "GpSimd", "Instructions of the GpSimd engine."},
    {"sync_engine_instruction_count", kInt, "", kOperation, "Sync", "Instructions of the Sync engine."},
    {"nd_idx", kInt, "", kIds, "Device", "Number of the accelerator in its host."},
    {"nc_idx", kInt, "", kIds, "Core", "Number of the core on its device."},
};
inline constexpr ColumnSpec kWarnings[] = {
    {"message", kText, "", kDetails, "Message", "What the vendor's tool noticed about the trace."},
};
inline constexpr ColumnSpec kNeuronError[] = {
    {"type", kString, "", kOperation, "Type",
     "Class of the report: an error, a warning or a notification of the program."},
    {"error_type_id", kInt, "", kIds, "Type number", "Number of the error's kind."},
    {"metadata", kText, "", kDetails, "Data", "What the hardware reported with it, such as a semaphore or an address."},
    {"metadata_hex", kString, "", kDetails, "Data (hex)", "The same as the hardware's raw word."},
    {"nki_source_location", kString, "", kLayerAndSource, "Source", "Line of the kernel that was running.",
     Role::source_location},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
inline constexpr ColumnSpec kMemoryEvents[] = {
    {"allocation_bytes", kInt, "B", kMemory, "Size", "Bytes allocated, or released where negative.", Role::allocation,
     true},
    {"address", kUnsigned, "", kMemory, "Address", "First byte of the block within its pool.", Role::address},
    {"tensor", kString, "", kMemory, "Tensor", "Tensor that the block holds.", Role::tensor, true},
    {"pool", kString, "", kMemory, "Pool", "Memory that the block lies in.", Role::pool, true},
    {"nki_source_location", kString, "", kLayerAndSource, "Source", "Line of the kernel that needs the block.",
     Role::source_location},
    {"op_source_type", kString, "", kOperation, "Made by", "Whether an instruction or a transfer filled the block."},
    {"opcode", kString, "", kOperation, "Opcode", "Of the instruction that filled it."},
    {"operands", kText, "", kOperation, "Operands", "Of that instruction."},
    {"queue_name", kString, "", kOperation, "Queue", "Queue of the transfer that filled it."},
    {"block_id", kInt, "", kIds, "Descriptors", "Block of descriptors of that transfer."},
    {"hlo_name", kString, "", kLayerAndSource, "HLO", "Operation of the compiler's input graph that needs the block."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
inline constexpr ColumnSpec kFlow[] = {
    {"in_id", kUnsigned, "", kIds, "From", "The event that had to finish first.", Role::flow_source, true},
    {"out_id", kUnsigned, "", kIds, "To", "The event that depends on it.", Role::flow_target, true},
    {"gap_time", kInt, "ns", kTiming, "Gap", "Time between the end of the first and the start of the second."},
    {"in_table", kString, "", kDetails, "Table of the first", "Table of the profile that holds the first event."},
    {"out_table", kString, "", kDetails, "Table of the second", "Table of the profile that holds the second event."},
};

inline constexpr ColumnSpec kCcStream[] = {
    {"stream_index", kInt, "", kIds, "Index", "Number of the stream within the execution."},
    {"cc_core_ids", kString, "", kOperation, "CC-cores", "Collective cores that serve the stream."},
};
inline constexpr ColumnSpec kCoreBarrier[] = {
    {"id", kUnsigned, "", kIds, "Barrier", "Number of the barrier.", Role::key},
    {"semaphore", kInt, "", kOperation, "Semaphore", "Semaphore that the barrier is made of."},
    {"compiler_pc", kInt, "", kIds, "Compiler PC", "Place in the instruction stream as the compiler laid it out."},
    {"compiler_opcode", kString, "", kOperation, "Compiler opcode", "Opcode that the compiler emitted."},
    {"compiler_operands", kText, "", kOperation, "Compiler operands", "Operands that the compiler emitted."},
    {"pcore_idx", kInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
inline constexpr ColumnSpec kTraceEvent[] = {
    {"group", kString, "", kOperation, "Group", "Part of the software stack that reported the event."},
    {"type", kInt, "", kOperation, "Type", "Number of the event's kind; 99999 stands for events of the framework."},
    {"size", kInt, "B", kMemory, "Size", "Bytes that the call moved or allocated.", Role::bytes},
    {"tensor_id", kUnsigned, "", kIds, "Tensor number", "The runtime's number of the tensor."},
    {"tensor_name", kString, "", kMemory, "Tensor", "Tensor that the call worked on.", Role::tensor},
    {"id", kUnsigned, "", kIds, "Event", "The profile's own number of the event.", Role::key},
    {"parent_id", kUnsigned, "", kIds, "Parent", "Number of the event that this one is part of."},
    {"instance_id", kString, "", kIds, "Instance", "Machine that the event happened on."},
    {"process_id", kInt, "", kIds, "Process", "Process that made the call."},
    {"thread_id", kInt, "", kIds, "Thread", "Thread that made the call."},
    {"lnc_idx", kInt, "", kIds, "Logical core", "Logical core that the call was for."},
    {"pcore_idx", kInt, "", kIds, "Physical core", "Physical core that the call was for."},
    {"worker_gid", kInt, "", kIds, "Worker", "Number of the worker among all of the job."},
    {"flow_id", kString, "", kIds, "Flow", "Numbers of the flows that the event is part of."},
    {"framework_stream_id", kString, "", kIds, "Framework stream", "Stream of the framework that it belongs to."},
    {"extra_attributes_json", kText, "", kDetails, "Attributes", "Further attributes, as JSON."},
};
// What newer exports keep in extra_attributes_json.
inline constexpr ColumnSpec kCallAttributes[] = {
    {"total_size", kInt, "B", kMemory, "Bytes of the batch", "Bytes that all operations of the batch moved."},
    {"num_batches", kInt, "", kOperation, "Batches", "How many batches the call was made of."},
    {"total_num_ops", kInt, "", kOperation, "Operations", "How many operations the batches held."},
    {"offset", kInt, "B", kMemory, "Offset", "Where in the tensor the access began."},
    {"mem_handle", kUnsigned, "", kIds, "Memory handle", "The runtime's number of the device memory."},
    {"ref_count", kInt, "", kDetails, "References", "How many held the memory after the call."},
    {"hbm_idx", kInt, "", kMemory, "HBM", "Number of the HBM on its device."},
    {"usage_type", kString, "", kMemory, "Use", "What the device memory is used for."},
    {"allocated_bytes", kInt, "B", kMemory, "Allocated", "Bytes of device memory that the call allocated."},
    {"freed_bytes", kInt, "B", kMemory, "Freed", "Bytes of device memory that the call gave back."},
    {"physical_address", kUnsigned, "", kMemory, "Physical address", "Where the memory lies on the device."},
    {"total_bytes", kInt, "B", kMemory, "In use", "Bytes of this HBM in use after the call."},
    {"usage_type_total_bytes", kInt, "B", kMemory, "In use for it", "Bytes of this HBM in use for the same purpose."},
    {"model_id", kUnsigned, "", kIds, "Model", "The runtime's number of the model that was executed."},
    {"exec_id", kUnsigned, "", kIds, "Execution", "Number of the execution."},
    {"request_id", kUnsigned, "", kIds, "Request", "Number of the request that the call served."},
    {"peer_id", kInt, "", kIds, "Peer", "Number of the peer that data was exchanged with."},
    {"op_id", kUnsigned, "", kIds, "Operation id", "Number of the collective operation."},
    {"gid", kInt, "", kIds, "Group", "Number of the group of ranks."},
    {"stream_id", kInt, "", kIds, "Stream", "Stream of collectives that it ran on."},
    {"nc_timestamp_ns", kInt, "ns", kTiming, "Device time", "What the device's own clock showed then."},
    {"cpu_timestamp_ns", kInt, "ns", kTiming, "Host time", "What the host's clock showed at the same moment."},
};
inline constexpr ColumnSpec kFrameworkOnly[] = {
    {"source_location", kString, "", kLayerAndSource, "Source", "Line of the program where the function begins.",
     Role::source_location},
};
inline constexpr ColumnSpec kHostTransfer[] = {
    {"rate", kReal, "B/s", kMemory, "Rate", "Sum over the transfers under way: bytes of each over its duration.",
     Role::value, true},
};
inline constexpr ColumnSpec kHbmUsage[] = {
    {"bytes", kInt, "B", kMemory, "In use", "Bytes of the HBM in use from here to the next sample.", Role::value, true},
};
inline constexpr ColumnSpec kHostMemory[] = {
    {"usage", kInt, "B", kMemory, "Used", "Memory of the machine in use.", Role::value, true},
    {"percent_usage", kReal, "%", kMemory, "Share used", "The same as a percentage of all memory."},
    {"duration", kInt, "ns", kTiming, "Sampled over", "Time that the sample stands for."},
    {"instance_id", kString, "", kIds, "Instance", "Machine that was sampled."},
    {"ultraserver_id", kInt, "", kIds, "UltraServer", "Number of the group of machines that it is one of."},
    {"ultraserver_instance_index", kInt, "", kIds, "Place in it", "Which of these machines it is."},
};
inline constexpr ColumnSpec kCpuUtil[] = {
    {"util", kReal, "%", kOperation, "Utilisation", "How busy the processor core was since the sample before.",
     Role::value, true},
    {"cpu_id", kString, "", kIds, "Processor core", "Number of the core; average stands for all of them."},
    {"duration", kInt, "ns", kTiming, "Sampled over", "Time that the sample stands for."},
    {"instance_id", kString, "", kIds, "Instance", "Machine that was sampled."},
    {"ultraserver_id", kInt, "", kIds, "UltraServer", "Number of the group of machines that it is one of."},
    {"ultraserver_instance_index", kInt, "", kIds, "Place in it", "Which of these machines it is."},
};

inline constexpr std::string_view kWaitInstructions[] = {"EVENT_SEMAPHORE"};
inline constexpr std::string_view kWaitSteps[] = {"SEMAPHORE_WAIT", "BARRIER_WAIT"};

struct TableSpec {
  SchemaSpec schema;
  std::span<const ColumnSpec> columns;
  std::span<const ColumnSpec> more = {};
};

// In the order of NeuronTable.
inline constexpr std::array<TableSpec, kNeuronTableCount> kTables = {{
    {{"instruction", EventKind::slice, "opcode", "What the engine executed.", kWaitInstructions}, kInstruction},
    {{"dma", EventKind::slice, "variable", "Tensor that the packet carries; unknown without descriptor notifications."},
     kDma},
    {{"dma_transfer", EventKind::slice, "variable", "Tensor that the transfer moves."}, kDma, kDmaTransferOnly},
    {{"semaphore_update", EventKind::counter, "id", "The semaphore, with the engine or queue that owns it."},
     kSemaphoreUpdate},
    {{"cc_op", EventKind::slice, "operation", "The collective: AllReduce, AllGather ..."}, kCcOp},
    {{"cc_instruction", EventKind::slice, "description", "Step that the collective core executed.", kWaitSteps},
     kCcInstruction},
    {{"pending_dma", EventKind::counter, "counter", "The counter."}, kPendingDma},
    {{"dma_throughput", EventKind::counter, "counter", "The counter."}, kDmaThroughput},
    {{"hbm_throughput", EventKind::counter, "counter", "The counter."}, kHbmThroughput},
    {{"sbuf_usage", EventKind::counter, "counter", "The counter."}, kSbufUsage},
    {{"psum_usage", EventKind::counter, "counter", "The counter."}, kPsumUsage},
    {{"pe_utilization", EventKind::counter, "counter", "The counter."}, kPeUtilization},
    {{"throttle", EventKind::slice, "kind", "Why the core was slowed down."}, kThrottle},
    {{"active_time", EventKind::slice, "engine", "The engine that was busy."}, kActiveTime},
    {{"layer_summary", EventKind::slice, "name", "Path of the layer, from its first to its last event."}, {}},
    {{"neff_node", EventKind::table, "variable_name", "The tensor."}, kNeffNode},
    {{"dma_queues_info", EventKind::table, "q_name", "The queue."}, kDmaQueuesInfo},
    {{"nc_mem_usage", EventKind::table, "usage_type", "What the device memory is used for."}, kNcMemUsage},
    {{"neff_header", EventKind::table, "network_name", "The compiled program."}, kNeffHeader},
    {{"model_info", EventKind::table, "sg_name", "The compiled graph."}, kModelInfo},
    {{"warnings", EventKind::table, "category", "Kind of the warning."}, kWarnings},
    {{"error", EventKind::instant, "description", "What went wrong."}, kNeuronError},
    {{"memory_event", EventKind::memory, "tensor_name", "Tensor that the block holds."}, kMemoryEvents},
    {{"dependency", EventKind::flow, "dependency_type", "Why the second event had to wait for the first."}, kFlow},
    {{"cc_stream", EventKind::table, "stream_id", "The stream of collectives."}, kCcStream},
    {{"core_barrier", EventKind::slice, "engine_name", "Engine that waited for its twin on the other core."},
     kCoreBarrier},
    {{"trace_event", EventKind::slice, "name", "The call or phase."}, kTraceEvent, kCallAttributes},
    {{"framework_event", EventKind::slice, "name", "The function or operator."}, kTraceEvent, kFrameworkOnly},
    {{"host_memory", EventKind::counter, "counter", "The counter."}, kHostMemory},
    {{"cpu_util", EventKind::counter, "counter", "The counter."}, kCpuUtil},
    {{"host_transfer", EventKind::counter, "counter", "The counter."}, kHostTransfer},
    {{"hbm_usage", EventKind::counter, "counter", "The counter."}, kHbmUsage},
}};

}  // namespace tables

// Place of a column of that table, which must have it. Those of layers are not known before their schema is made.
[[nodiscard]] constexpr std::size_t neuron_column(NeuronTable table, std::string_view column) {
  const tables::TableSpec& spec = tables::kTables[static_cast<std::size_t>(table)];
  std::size_t place = 0;
  for (const std::span<const ColumnSpec> part : {spec.columns, spec.more}) {
    for (const ColumnSpec& each : part) {
      if (each.name == column) return place;
      ++place;
    }
  }
  std::abort();  // does not compile where the name is known
}

// The schemas of a Neuron profile, shared by the JSON source and the simulated accelerator, so that a column has
// one name, unit and explanation wherever its events come from. Column names are the vendor's field names of the
// JSON tables; `timestamp` and `duration` are the built-in start and duration, and the field that became the
// built-in name is Schema::name_column. Columns that no JSON table has are marked "derived" below.
//
//   SchemaNumber number = writer.add_schema(neuron_schema(NeuronTable::instruction));
//   constexpr std::size_t kPc = neuron_column(NeuronTable::instruction, "pc");
//
// Tracks: see the comment of each table (Track::kind, one track per ...). Shares are fractions of one, unit "share".
// Holds no code that reads or writes a profile.

// Number 0; add_schema assigns one.
[[nodiscard]] Schema neuron_schema(NeuronTable table);

// "activity_0" for 0, "unknown" for 99: the kinds of throttling, JSON ham.type.
[[nodiscard]] std::string_view neuron_throttle_kind(std::int64_t type) noexcept;

struct TableRule {
  std::string_view json_name;
  NeuronTable table;
  std::string_view track_kind;
  std::string_view track_name;  // of the only track, or put before the key
  Captured key;                 // field that names the track; none: one track for all rows
};

// Nothing if the table is not known as one of events.
[[nodiscard]] const TableRule* find_table_rule(std::string_view json_name) noexcept;

// Tables that become metadata and metrics rather than events: metadata, summary ...
[[nodiscard]] bool is_fact_table(std::string_view json_name) noexcept;
// "summary" for "Summary", as newer exports call it; other names as they are.
[[nodiscard]] std::string_view fact_table_name(std::string_view table) noexcept;

// Tables that are imported with the columns that they come with, on tracks that are not called after them.
struct PlainTableRule {
  std::string_view table;
  std::string_view track_kind = "table";
  std::string_view track_name = {};  // "": the table's
};
[[nodiscard]] const PlainTableRule* find_plain_table(std::string_view table) noexcept;

// "n_" and forty hexadecimal digits, of a device, or "s_" and as many, of the system: the key of a summary's figures.
[[nodiscard]] bool is_summary_key(std::string_view json_name) noexcept;

}  // namespace accelscope::capture::sources::neuron
