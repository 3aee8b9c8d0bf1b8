#include "capture/sources/neuron/read/schemas.h"

#include <array>
#include <cassert>
#include <span>
#include <string>

namespace accelscope::capture::sources::neuron {
namespace {

struct ColumnText {
  std::string_view name;
  ColumnType type;
  std::string_view unit;
  std::string_view group;
  std::string_view title;
  std::string_view explanation;
  Role role = Role::none;
  bool required = false;
};

constexpr auto kNeuronInt = ColumnType::int64;
constexpr auto kNeuronId = ColumnType::uint64;
constexpr auto kNeuronReal = ColumnType::float64;
constexpr auto kBool = ColumnType::boolean;
constexpr auto kNeuronString = ColumnType::string;
constexpr auto kNeuronText = ColumnType::text;

constexpr std::string_view kTiming = "Timing";
constexpr std::string_view kNeuronOperation = "Operation";
constexpr std::string_view kNeuronMemory = "Memory";
constexpr std::string_view kNeuronIds = "IDs";
constexpr std::string_view kSource = "Layer & source";
constexpr std::string_view kDetails = "Details";

constexpr ColumnText kInstruction[] = {
    {"evt_wait_time", kNeuronInt, "ns", kTiming, "Waited before",
     "How long the instruction was ready to issue but had to wait for its semaphore condition.", Role::wait_ns},
    {"trigger", kNeuronInt, "ns", kTiming, "DMA triggered at",
     "Start of the DMA transfer that this instruction set off."},
    {"label", kNeuronString, "", kNeuronOperation, "Row",
     "Timeline row of the instruction; matrix multiplications have their own."},
    {"subgroup", kNeuronString, "", kNeuronOperation, "Engine",
     "Engine whose instruction stream holds the instruction."},
    {"operands", kNeuronText, "", kNeuronOperation, "Operands",
     "Operands as executed: semaphore conditions and updates, data types, addresses, strides and shapes.",
     Role::operands},
    {"compiler_opcode", kNeuronString, "", kNeuronOperation, "Compiler opcode",
     "Opcode that the compiler emitted, where the runtime replaced it by another."},
    {"compiler_operands", kNeuronText, "", kNeuronOperation, "Compiler operands",
     "Operands that the compiler emitted, where the runtime replaced them."},
    {"instruction_type", kNeuronString, "", kNeuronOperation, "Type",
     "REGULAR for work of the model, TRANSPOSE for a matrix multiplication that only moves data about."},
    {"activation_fn", kNeuronString, "", kNeuronOperation, "Activation", "Function that the Scalar engine applied."},
    {"elements", kNeuronInt, "", kNeuronOperation, "Elements",
     "Multiply-accumulates of a matrix multiplication: K times M times N of its tile."},
    {"raw_flops", kNeuronInt, "flop", kNeuronOperation, "Work",
     "Floating point operations of a matrix multiplication: two for each multiply-accumulate.", Role::flops},
    {"performance_mode", kNeuronString, "", kNeuronOperation, "Performance mode",
     "Whether the Vector engine ran at two or four elements per lane and cycle."},
    {"hbm_read_bytes", kNeuronInt, "B", kNeuronMemory, "HBM read",
     "Bytes that the DMA set off by the instruction read from HBM."},
    {"hbm_write_bytes", kNeuronInt, "B", kNeuronMemory, "HBM write",
     "Bytes that the DMA set off by the instruction wrote to HBM."},
    {"sbuf_read_bytes", kNeuronInt, "B", kNeuronMemory, "SBUF read",
     "Bytes that the instruction read from the state buffer."},
    {"sbuf_write_bytes", kNeuronInt, "B", kNeuronMemory, "SBUF write",
     "Bytes that the instruction wrote to the state buffer."},
    {"psum_read_bytes", kNeuronInt, "B", kNeuronMemory, "PSUM read",
     "Bytes that the instruction read from the partial sums."},
    {"psum_write_bytes", kNeuronInt, "B", kNeuronMemory, "PSUM write",
     "Bytes that the instruction wrote to the partial sums."},
    {"psum_read_sbuf_write_bytes", kNeuronInt, "B", kNeuronMemory, "PSUM to SBUF",
     "Bytes written to the state buffer by an instruction that drained the partial sums."},
    {"is_psum_read_sbuf_write", kBool, "", kNeuronMemory, "Drains PSUM",
     "The instruction reads the partial sums and writes the state buffer."},
    {"spill_save_bytes", kNeuronInt, "B", kNeuronMemory, "Spill save",
     "Bytes moved out to HBM because the state buffer had no room for them."},
    {"spill_reload_bytes", kNeuronInt, "B", kNeuronMemory, "Spill reload",
     "Bytes read back that had been moved out for lack of room."},
    {"weight_queue_bytes", kNeuronInt, "B", kNeuronMemory, "Weight bytes",
     "Bytes that came through the queues that load weights."},
    {"input_queue_bytes", kNeuronInt, "B", kNeuronMemory, "Input bytes",
     "Bytes that came through the queues that load inputs."},
    {"output_queue_bytes", kNeuronInt, "B", kNeuronMemory, "Output bytes",
     "Bytes that left through the queues that store outputs."},
    {"id", kNeuronId, "", kNeuronIds, "Instruction", "The profile's own number of this execution of the instruction.",
     Role::key},
    {"pc", kNeuronInt, "", kNeuronIds, "PC", "Place in the engine's instruction stream."},
    {"compiler_pc", kNeuronInt, "", kNeuronIds, "Compiler PC",
     "Place in the instruction stream as the compiler laid it out."},
    {"bir_id", kNeuronText, "", kNeuronIds, "BIR",
     "The instruction in the compiler's last representation, with its subgraph."},
    {"raw_bir_id", kNeuronInt, "", kNeuronIds, "Raw BIR",
     "The same as one number: subgraph in bits 48 to 63, function in 32 to 47, instruction below."},
    {"bir_instruction_name", kNeuronString, "", kNeuronIds, "BIR name",
     "Name that the compiler's last stage gave the instruction."},
    {"penguin_id", kNeuronString, "", kNeuronIds, "Penguin",
     "The operation in the compiler's tiled representation, with its subgraph."},
    {"raw_penguin_id", kNeuronInt, "", kNeuronIds, "Raw Penguin", "The same as one number."},
    {"raw_hlo_id", kNeuronInt, "", kNeuronIds, "HLO number",
     "Number of the graph operation that the instruction is part of."},
    {"raw_framework_id", kNeuronString, "", kNeuronIds, "Framework",
     "Numbers of the framework operations that it came from."},
    {"crc_in", kNeuronInt, "", kNeuronIds, "CRC in", "Checksum of the data read; 65535 means that none was taken."},
    {"crc_out", kNeuronInt, "", kNeuronIds, "CRC out",
     "Checksum of the data written: it differs between two runs where their numbers differ; 65535 means none."},
    {"layer", kNeuronString, "", kSource, "Layer", "Path of the model's layer.", Role::layer},
    {"nki_source_location", kNeuronString, "", kSource, "Source", "Line of the kernel that produced the instruction.",
     Role::source_location},
    {"bir_debug_info_source_location", kNeuronString, "", kSource, "BIR source",
     "Line that the compiler's debug information names; it knows more instructions than the kernel's own lines do."},
    {"stack_frames", kNeuronString, "", kSource, "Stack",
     "Calls that led to this line when the kernel was traced, innermost first.", Role::stack},
    {"stack_frame_ids", kNeuronString, "", kSource, "Stack frame ids",
     "Numbers of those calls in the profile's frame tables."},
    {"hlo_name", kNeuronString, "", kSource, "HLO", "Operation of the compiler's input graph."},
    {"hlo_attrs", kNeuronString, "", kSource, "HLO attributes",
     "Framework operation, file and line that the graph operation carries."},
    {"fully_qualified_subgraph", kNeuronString, "", kSource, "Subgraph",
     "Compiled graph that the instruction belongs to."},
    {"subgraph", kNeuronString, "", kDetails, "Subgraph name", "Short name of that compiled graph."},
    {"kernel_instruction_name", kNeuronString, "", kDetails, "Kernel instruction",
     "Name of the instruction inside its kernel."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};

// Packets and transfers share one JSON table and most of its fields.
constexpr ColumnText kDma[] = {
    {"transfer_rate", kNeuronInt, "B/s", kTiming, "Rate", "Bytes moved over the time that the move took."},
    {"dma_queue", kNeuronInt, "", kNeuronOperation, "Queue number",
     "Ring of the DMA engine that the descriptor was taken from."},
    {"dma_engine", kNeuronInt, "", kNeuronOperation, "DMA engine", "Which of the sixteen DMA engines did the work."},
    {"subgroup", kNeuronString, "", kNeuronOperation, "Queue", "Queue by name; packets add ring and engine."},
    {"queue_type", kNeuronString, "", kNeuronOperation, "Queue type",
     "What the queue carries: data, instructions, or moves described while running."},
    {"op", kNeuronString, "", kNeuronOperation, "Operation", "What the DMA engine did with the data; usually copy."},
    {"semaphore_id", kNeuronString, "", kNeuronOperation, "Signals",
     "Semaphore that completion adds to; -1 means none."},
    {"is_cc_dma", kBool, "", kNeuronOperation, "Collective", "The move is part of a collective operation."},
    {"duplicate", kBool, "", kNeuronOperation, "Duplicate", "The profile holds the same move a second time."},
    {"transfer_size", kNeuronInt, "B", kNeuronMemory, "Size", "Bytes moved.", Role::bytes},
    {"read_size", kNeuronInt, "B", kNeuronMemory, "Read", "Bytes read at the source."},
    {"write_size", kNeuronInt, "B", kNeuronMemory, "Written", "Bytes written at the destination."},
    {"source", kNeuronString, "", kNeuronMemory, "From",
     "Kind of memory or tensor at the source: WEIGHT, INPUT, SB, VIRTUAL (spill) ..."},
    {"dest", kNeuronString, "", kNeuronMemory, "To", "Kind of memory or tensor at the destination."},
    {"id", kNeuronId, "", kNeuronIds, "DMA", "The profile's own number of the move.", Role::key},
    {"packet_idx", kNeuronInt, "", kNeuronIds, "Packet", "Place of the packet within its transfer on this engine."},
    {"packet_aggregation_id", kNeuronId, "", kNeuronIds, "Transfer",
     "Number of the transfer that the packet belongs to."},
    {"block_id", kNeuronInt, "", kNeuronIds, "Block", "Block of descriptors that the move was taken from."},
    {"crc", kNeuronInt, "", kNeuronIds, "CRC",
     "Checksum of the data: it differs between two runs where their numbers differ."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
    {"subgraph", kNeuronString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
};

constexpr ColumnText kDmaTransferOnly[] = {
    {"trigger", kNeuronInt, "ns", kTiming, "Triggered at", "Start of the instruction that set off the transfer."},
    {"read_shape", kNeuronString, "", kNeuronMemory, "Read shape", "Shape of the access pattern at the source."},
    {"write_shape", kNeuronString, "", kNeuronMemory, "Write shape", "Shape of the access pattern at the destination."},
    {"source_offset", kNeuronText, "", kNeuronMemory, "Read offset", "Where the access pattern begins at the source."},
    {"dest_offset", kNeuronText, "", kNeuronMemory, "Write offset",
     "Where the access pattern begins at the destination."},
    {"source_steps", kNeuronString, "", kNeuronMemory, "Read steps",
     "Distances between elements at the source, per dimension."},
    {"dest_steps", kNeuronString, "", kNeuronMemory, "Write steps",
     "Distances between elements at the destination, per dimension."},
    {"source_sb_partitions", kNeuronString, "", kNeuronMemory, "Read partitions", "State buffer partitions read."},
    {"dest_sb_partitions", kNeuronString, "", kNeuronMemory, "Write partitions", "State buffer partitions written."},
    {"source_num_sb_partitions", kNeuronInt, "", kNeuronMemory, "Partitions read",
     "How many state buffer partitions were read."},
    {"dest_num_sb_partitions", kNeuronInt, "", kNeuronMemory, "Partitions written",
     "How many state buffer partitions were written."},
    {"nki_source_location", kNeuronString, "", kSource, "Source", "Line of the kernel that asked for the transfer.",
     Role::source_location},
};

constexpr ColumnText kSemaphoreUpdate[] = {
    {"value", kNeuronInt, "", kNeuronOperation, "Value", "Value of the semaphore after the update.", Role::value, true},
    {"update_source", kNeuronString, "", kNeuronOperation, "Updated by", "Engine or port that changed the semaphore."},
    {"update_operation_type", kNeuronString, "", kNeuronOperation, "Operation",
     "How the value was changed: incremented, set, cleared ..."},
    {"double_set_or_clear", kBool, "", kDetails, "Set twice",
     "The semaphore was set while set, or cleared while clear: a likely race."},
    {"subgraph", kNeuronString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};

constexpr ColumnText kCcOp[] = {
    {"cc_trigger", kNeuronInt, "ns", kTiming, "Triggered at", "When the engine asked for the collective."},
    {"cc_trigger_start_delay", kNeuronInt, "ns", kTiming, "Start delay",
     "Time from the request to the start, most of it waiting for the other ranks.", Role::wait_ns},
    {"algorithm_bandwidth", kNeuronReal, "B/s", kTiming, "Algorithm bandwidth",
     "The larger of input and output size over the duration."},
    {"bus_bandwidth", kNeuronReal, "B/s", kTiming, "Bus bandwidth",
     "Algorithm bandwidth times what the algorithm sends per byte, to compare with the speed of the links."},
    {"algorithm", kNeuronString, "", kNeuronOperation, "Algorithm",
     "How the ranks exchange their parts, such as a ring."},
    {"dtype", kNeuronString, "", kNeuronOperation, "Type", "Data type of the elements."},
    {"num_elements", kNeuronInt, "", kNeuronOperation, "Elements", "Elements of the result on one rank."},
    {"replica_group", kNeuronString, "", kNeuronOperation, "Ranks", "Ranks that take part."},
    {"trigger_engine", kNeuronString, "", kNeuronOperation, "Triggered by", "Engine that asked for the collective."},
    {"input_size", kNeuronInt, "B", kNeuronMemory, "Input", "Bytes that each rank brings.", Role::bytes},
    {"output_size", kNeuronInt, "B", kNeuronMemory, "Output", "Bytes that each rank receives."},
    {"op_id", kNeuronId, "", kNeuronIds, "Operation id", "The profile's own number of the collective.", Role::key},
    {"stream_id", kNeuronInt, "", kNeuronIds, "Stream", "Stream of collectives that it ran on."},
    {"layer", kNeuronString, "", kSource, "Layer", "Path of the model's layer.", Role::layer},
    {"nki_source_location", kNeuronString, "", kSource, "Source", "Line of the kernel that asked for the collective.",
     Role::source_location},
};

constexpr ColumnText kCcInstruction[] = {
    {"core_idx", kNeuronInt, "", kNeuronOperation, "CC-core", "Collective core that ran the step."},
    {"trigger_engine", kNeuronString, "", kNeuronOperation, "Triggered by", "Engine that asked for the collective."},
    {"trigger_start_ts", kNeuronInt, "ns", kTiming, "Triggered at", "When the engine asked for the collective."},
    {"op_id", kNeuronId, "", kNeuronIds, "Collective", "Number of the collective that the step is part of."},
};

constexpr ColumnText kPendingDma[] = {
    {"value", kNeuronInt, "", kNeuronOperation, "Pending", "DMA transfers that were asked for and have not completed.",
     Role::value, true},
    {"subgraph", kNeuronString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
constexpr ColumnText kDmaThroughput[] = {
    {"transfer_rate", kNeuronReal, "B/s", kNeuronMemory, "Throughput",
     "Bytes per second over all DMA engines at this moment.", Role::value, true},
    {"total_transfer_bytes", kNeuronInt, "B", kNeuronMemory, "Moved so far", "Bytes moved since the start."},
    {"hbm_transfer_rate", kNeuronReal, "B/s", kNeuronMemory, "HBM throughput",
     "The part of it that reads or writes HBM."},
    {"hbm_total_transfer_bytes", kNeuronInt, "B", kNeuronMemory, "HBM so far",
     "Bytes moved from or to HBM since the start."},
    {"uses_hbm", kBool, "", kNeuronMemory, "Uses HBM", "Some of the traffic at this moment reads or writes HBM."},
    {"subgraph", kNeuronString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
constexpr ColumnText kHbmThroughput[] = {
    {"hbm_transfer_rate", kNeuronReal, "B/s", kNeuronMemory, "HBM throughput",
     "Bytes per second from or to HBM at this moment.", Role::value, true},
    {"hbm_total_transfer_bytes", kNeuronInt, "B", kNeuronMemory, "HBM so far",
     "Bytes moved from or to HBM since the start."},
};
constexpr ColumnText kSbufUsage[] = {
    {"usage_avg", kNeuronReal, "share", kNeuronMemory, "Average",
     "Share of the state buffer in use, mean of the sampled partitions.", Role::value, true},
    {"partition_0_usage", kNeuronReal, "share", kNeuronMemory, "Partition 0", "Share of partition 0 in use."},
    {"partition_32_usage", kNeuronReal, "share", kNeuronMemory, "Partition 32", "Share of partition 32 in use."},
    {"partition_64_usage", kNeuronReal, "share", kNeuronMemory, "Partition 64", "Share of partition 64 in use."},
    {"partition_96_usage", kNeuronReal, "share", kNeuronMemory, "Partition 96", "Share of partition 96 in use."},
    {"subgraph", kNeuronString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
constexpr ColumnText kPsumUsage[] = {
    {"usage_avg", kNeuronReal, "share", kNeuronMemory, "Average",
     "Share of the partial sum memory in use, mean of its banks.", Role::value, true},
    {"bank_0_usage", kNeuronReal, "share", kNeuronMemory, "Bank 0", "Share of bank 0 in use."},
    {"bank_1_usage", kNeuronReal, "share", kNeuronMemory, "Bank 1", "Share of bank 1 in use."},
    {"bank_2_usage", kNeuronReal, "share", kNeuronMemory, "Bank 2", "Share of bank 2 in use."},
    {"bank_3_usage", kNeuronReal, "share", kNeuronMemory, "Bank 3", "Share of bank 3 in use."},
    {"bank_4_usage", kNeuronReal, "share", kNeuronMemory, "Bank 4", "Share of bank 4 in use."},
    {"bank_5_usage", kNeuronReal, "share", kNeuronMemory, "Bank 5", "Share of bank 5 in use."},
    {"bank_6_usage", kNeuronReal, "share", kNeuronMemory, "Bank 6", "Share of bank 6 in use."},
    {"bank_7_usage", kNeuronReal, "share", kNeuronMemory, "Bank 7", "Share of bank 7 in use."},
    {"subgraph", kNeuronString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
constexpr ColumnText kPeUtilization[] = {
    {"utilization", kNeuronReal, "share", kNeuronOperation, "Utilisation",
     "Share of the systolic array's multiply-accumulates that did work since the last sample.", Role::value, true},
};

constexpr ColumnText kThrottle[] = {
    {"util_limit", kNeuronReal, "share", kNeuronOperation, "Limit",
     "Share of cycles in which the engine may work: k of n."},
    {"k", kNeuronInt, "", kDetails, "k", "Cycles out of n that are allowed."},
    {"n", kNeuronInt, "", kDetails, "n", "Length of the throttling pattern in cycles."},
    {"type", kNeuronInt, "", kDetails, "Type", "Number of the cause: 0 is activity, 99 unknown."},
    {"subgraph", kNeuronString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
constexpr ColumnText kActiveTime[] = {
    {"end_ts", kNeuronInt, "ns", kTiming, "Stated end",
     "The end as the file states it: begin, end and duration are each cut to whole ns by themselves."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core that the engine belongs to."},
    {"subgraph", kNeuronString, "", kDetails, "Subgraph name", "Short name of the compiled graph that it belongs to."},
};

constexpr ColumnText kNeffNode[] = {
    {"type", kNeuronString, "", kNeuronOperation, "Kind", "IN, OUT or WEIGHT."},
    {"format", kNeuronString, "", kNeuronOperation, "Format", "Order of the dimensions."},
    {"shape", kNeuronString, "", kNeuronOperation, "Shape", "Extent of each dimension."},
    {"size", kNeuronInt, "B", kNeuronMemory, "Size", "Bytes of the tensor."},
    {"load_to_sbuf_dma_count", kNeuronInt, "", kNeuronMemory, "Loads",
     "How many transfers loaded it into the state buffer."},
    {"load_to_sbuf_avg_size_bytes", kNeuronInt, "B", kNeuronMemory, "Mean load", "Mean size of these transfers."},
    {"load_to_sbuf_total_size_bytes", kNeuronInt, "B", kNeuronMemory, "Loaded", "Bytes that these transfers loaded."},
    {"load_to_sbuf_repeat_factor", kNeuronReal, "", kNeuronMemory, "Times loaded",
     "Bytes loaded over the tensor's size; above two the same data is read again and again."},
    {"node", kNeuronString, "", kNeuronIds, "Node", "Number of the compiled graph's node."},
    {"sg_name", kNeuronString, "", kNeuronIds, "Subgraph", "Compiled graph that it belongs to."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
constexpr ColumnText kDmaQueuesInfo[] = {
    {"q_type", kNeuronString, "", kNeuronOperation, "Type", "What the queue was made for."},
    {"q_idx", kNeuronInt, "", kNeuronIds, "Ring", "Ring number on its DMA engine."},
    {"q_eng_idx", kNeuronInt, "", kNeuronIds, "DMA engine", "DMA engine that serves the queue."},
    {"q_axi_port", kNeuronInt, "", kDetails, "AXI port", "Port of the DMA engine on the chip's interconnect."},
    {"q_dram_channel", kNeuronInt, "", kDetails, "DRAM channel", "Memory channel of the descriptors."},
    {"q_event_id", kNeuronInt, "", kDetails, "Event", "Event number of the queue; -1 means none."},
    {"subgraph", kNeuronString, "", kNeuronIds, "Subgraph", "Compiled graph that uses the queue."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
constexpr ColumnText kNcMemUsage[] = {
    {"amount_bytes", kNeuronInt, "B", kNeuronMemory, "Size", "Device memory that this use takes."},
    {"nd", kNeuronInt, "", kNeuronIds, "Device", "Number of the accelerator in its host."},
    {"nc", kNeuronInt, "", kNeuronIds, "Core", "Number of the core on its device."},
};
constexpr ColumnText kNeffHeader[] = {
    {"uuid", kNeuronString, "", kNeuronIds, "UUID", "Identity of the compiled file."},
    {"hash", kNeuronString, "", kNeuronIds, "Hash",
     "Checksum of the compiled file's content; pairs a trace with its program."},
    {"major_version", kNeuronInt, "", kDetails, "Major version", "Version of the file format."},
    {"minor_version", kNeuronInt, "", kDetails, "Minor version", "Minor version of the file format."},
    {"package_version", kNeuronInt, "", kDetails, "Package version", "Version of the package layout."},
    {"build_version", kNeuronString, "", kDetails, "Build", "Build of the compiler's packager."},
    {"enabled_features", kNeuronString, "", kDetails, "Features", "Device features that the program needs."},
    {"header_size", kNeuronInt, "B", kDetails, "Header size", "Bytes of the file's header."},
    {"data_size", kNeuronInt, "B", kDetails, "Data size", "Bytes after the header."},
    {"number_of_logical_neuroncores", kNeuronInt, "", kDetails, "Logical cores",
     "Logical cores that the program was compiled for."},
    {"number_of_neuroncores_per_lnc", kNeuronInt, "", kDetails, "Cores per logical core",
     "Physical cores that make up one logical core."},
};
constexpr ColumnText kModelInfo[] = {
    {"event_count", kNeuronInt, "", kNeuronOperation, "Events", "Hardware events in the trace."},
    {"trace_count", kNeuronInt, "", kNeuronOperation, "Traces", "Trace records of all kinds."},
    {"dma_queue_count", kNeuronInt, "", kNeuronOperation, "DMA queues", "Queues that were in use."},
    {"neuroncore_cycle_count", kNeuronInt, "cycles", kTiming, "Cycles",
     "Core clock cycles from the first to the last event."},
    {"tensor_engine_instruction_count", kNeuronInt, "", kNeuronOperation, "Tensor",
     "Instructions of the Tensor engine."},
    {"vector_engine_instruction_count", kNeuronInt, "", kNeuronOperation, "Vector",
     "Instructions of the Vector engine."},
    {"scalar_engine_instruction_count", kNeuronInt, "", kNeuronOperation, "Scalar",
     "Instructions of the Scalar engine."},
    {"gpsimd_engine_instruction_count", kNeuronInt, "", kNeuronOperation, "GpSimd",
     "Instructions of the GpSimd engine."},
    {"sync_engine_instruction_count", kNeuronInt, "", kNeuronOperation, "Sync", "Instructions of the Sync engine."},
    {"nd_idx", kNeuronInt, "", kNeuronIds, "Device", "Number of the accelerator in its host."},
    {"nc_idx", kNeuronInt, "", kNeuronIds, "Core", "Number of the core on its device."},
};
constexpr ColumnText kWarnings[] = {
    {"message", kNeuronText, "", kDetails, "Message", "What the vendor's tool noticed about the trace."},
};
constexpr ColumnText kNeuronError[] = {
    {"type", kNeuronString, "", kNeuronOperation, "Type",
     "Class of the report: an error, a warning or a notification of the program."},
    {"error_type_id", kNeuronInt, "", kNeuronIds, "Type number", "Number of the error's kind."},
    {"metadata", kNeuronText, "", kDetails, "Data",
     "What the hardware reported with it, such as a semaphore or an address."},
    {"metadata_hex", kNeuronString, "", kDetails, "Data (hex)", "The same as the hardware's raw word."},
    {"nki_source_location", kNeuronString, "", kSource, "Source", "Line of the kernel that was running.",
     Role::source_location},
};
constexpr ColumnText kMemoryEvents[] = {
    {"allocation_bytes", kNeuronInt, "B", kNeuronMemory, "Size", "Bytes allocated, or released where negative.",
     Role::allocation, true},
    {"address", kNeuronId, "", kNeuronMemory, "Address", "First byte of the block within its pool.", Role::address},
    {"tensor", kNeuronString, "", kNeuronMemory, "Tensor", "Tensor that the block holds.", Role::tensor, true},
    {"pool", kNeuronString, "", kNeuronMemory, "Pool", "Memory that the block lies in.", Role::pool, true},
    {"nki_source_location", kNeuronString, "", kSource, "Source", "Line of the kernel that needs the block.",
     Role::source_location},
};
constexpr ColumnText kFlow[] = {
    {"in_id", kNeuronId, "", kNeuronIds, "From", "The event that had to finish first.", Role::flow_source, true},
    {"out_id", kNeuronId, "", kNeuronIds, "To", "The event that depends on it.", Role::flow_target, true},
    {"gap_time", kNeuronInt, "ns", kTiming, "Gap", "Time between the end of the first and the start of the second."},
};

constexpr ColumnText kCcStream[] = {
    {"stream_index", kNeuronInt, "", kNeuronIds, "Index", "Number of the stream within the execution."},
    {"cc_core_ids", kNeuronString, "", kNeuronOperation, "CC-cores", "Collective cores that serve the stream."},
};
constexpr ColumnText kCoreBarrier[] = {
    {"id", kNeuronId, "", kNeuronIds, "Barrier", "Number of the barrier.", Role::key},
    {"semaphore", kNeuronInt, "", kNeuronOperation, "Semaphore", "Semaphore that the barrier is made of."},
    {"compiler_pc", kNeuronInt, "", kNeuronIds, "Compiler PC",
     "Place in the instruction stream as the compiler laid it out."},
    {"compiler_opcode", kNeuronString, "", kNeuronOperation, "Compiler opcode", "Opcode that the compiler emitted."},
    {"compiler_operands", kNeuronText, "", kNeuronOperation, "Compiler operands",
     "Operands that the compiler emitted."},
    {"pcore_idx", kNeuronInt, "", kDetails, "Physical core", "Physical core of a logical core made of several."},
};
constexpr ColumnText kTraceEvent[] = {
    {"group", kNeuronString, "", kNeuronOperation, "Group", "Part of the software stack that reported the event."},
    {"type", kNeuronInt, "", kNeuronOperation, "Type",
     "Number of the event's kind; 99999 stands for events of the framework."},
    {"size", kNeuronInt, "B", kNeuronMemory, "Size", "Bytes that the call moved or allocated.", Role::bytes},
    {"tensor_id", kNeuronId, "", kNeuronIds, "Tensor number", "The runtime's number of the tensor."},
    {"tensor_name", kNeuronString, "", kNeuronMemory, "Tensor", "Tensor that the call worked on.", Role::tensor},
    {"id", kNeuronId, "", kNeuronIds, "Event", "The profile's own number of the event.", Role::key},
    {"parent_id", kNeuronId, "", kNeuronIds, "Parent", "Number of the event that this one is part of."},
    {"instance_id", kNeuronString, "", kNeuronIds, "Instance", "Machine that the event happened on."},
    {"process_id", kNeuronInt, "", kNeuronIds, "Process", "Process that made the call."},
    {"thread_id", kNeuronInt, "", kNeuronIds, "Thread", "Thread that made the call."},
    {"lnc_idx", kNeuronInt, "", kNeuronIds, "Logical core", "Logical core that the call was for."},
};
constexpr ColumnText kHostMemory[] = {
    {"usage", kNeuronInt, "B", kNeuronMemory, "Used", "Memory of the machine in use.", Role::value, true},
    {"percent_usage", kNeuronReal, "%", kNeuronMemory, "Share used", "The same as a percentage of all memory."},
    {"duration", kNeuronInt, "ns", kTiming, "Sampled over", "Time that the sample stands for."},
    {"instance_id", kNeuronString, "", kNeuronIds, "Instance", "Machine that was sampled."},
};
constexpr ColumnText kCpuUtil[] = {
    {"util", kNeuronReal, "%", kNeuronOperation, "Utilisation",
     "How busy the processor core was since the sample before.", Role::value, true},
    {"cpu_id", kNeuronString, "", kNeuronIds, "Processor core", "Number of the core; average stands for all of them."},
    {"duration", kNeuronInt, "ns", kTiming, "Sampled over", "Time that the sample stands for."},
    {"instance_id", kNeuronString, "", kNeuronIds, "Instance", "Machine that was sampled."},
};

struct TableText {
  std::string_view name;
  EventKind kind;
  std::string_view name_column;
  std::string_view name_explanation;
  std::span<const ColumnText> columns;
  std::span<const ColumnText> more = {};
};

// In the order of NeuronTable.
constexpr std::array<TableText, kNeuronTableCount> kTables = {{
    {"instruction", EventKind::slice, "opcode", "What the engine executed.", kInstruction},
    {"dma", EventKind::slice, "variable", "Tensor that the packet carries; unknown without descriptor notifications.",
     kDma},
    {"dma_transfer", EventKind::slice, "variable", "Tensor that the transfer moves.", kDma, kDmaTransferOnly},
    {"semaphore_update", EventKind::counter, "id", "The semaphore, with the engine or queue that owns it.",
     kSemaphoreUpdate},
    {"cc_op", EventKind::slice, "operation", "The collective: AllReduce, AllGather ...", kCcOp},
    {"cc_instruction", EventKind::slice, "description", "Step that the collective core executed.", kCcInstruction},
    {"pending_dma", EventKind::counter, "counter", "The counter.", kPendingDma},
    {"dma_throughput", EventKind::counter, "counter", "The counter.", kDmaThroughput},
    {"hbm_throughput", EventKind::counter, "counter", "The counter.", kHbmThroughput},
    {"sbuf_usage", EventKind::counter, "counter", "The counter.", kSbufUsage},
    {"psum_usage", EventKind::counter, "counter", "The counter.", kPsumUsage},
    {"pe_utilization", EventKind::counter, "counter", "The counter.", kPeUtilization},
    {"throttle", EventKind::slice, "kind", "Why the core was slowed down.", kThrottle},
    {"active_time", EventKind::slice, "engine", "The engine that was busy.", kActiveTime},
    {"layer_summary", EventKind::slice, "name", "Path of the layer, from its first to its last event.", {}},
    {"neff_node", EventKind::table, "variable_name", "The tensor.", kNeffNode},
    {"dma_queues_info", EventKind::table, "q_name", "The queue.", kDmaQueuesInfo},
    {"nc_mem_usage", EventKind::table, "usage_type", "What the device memory is used for.", kNcMemUsage},
    {"neff_header", EventKind::table, "network_name", "The compiled program.", kNeffHeader},
    {"model_info", EventKind::table, "sg_name", "The compiled graph.", kModelInfo},
    {"warnings", EventKind::table, "category", "Kind of the warning.", kWarnings},
    {"error", EventKind::instant, "description", "What went wrong.", kNeuronError},
    {"memory_event", EventKind::memory, "tensor_name", "Tensor that the block holds.", kMemoryEvents},
    {"dependency", EventKind::flow, "dependency_type", "Why the second event had to wait for the first.", kFlow},
    {"cc_stream", EventKind::table, "stream_id", "The stream of collectives.", kCcStream},
    {"core_barrier", EventKind::slice, "engine_name", "Engine that waited for its twin on the other core.",
     kCoreBarrier},
    {"trace_event", EventKind::slice, "name", "The call or phase.", kTraceEvent},
    {"host_memory", EventKind::counter, "counter", "The counter.", kHostMemory},
    {"cpu_util", EventKind::counter, "counter", "The counter.", kCpuUtil},
}};

void append_columns(Schema& schema, std::span<const ColumnText> columns) {
  for (const ColumnText& column : columns) {
    schema.columns.push_back({.name = std::string(column.name),
                              .type = column.type,
                              .unit = std::string(column.unit),
                              .group = std::string(column.group),
                              .title = std::string(column.title),
                              .explanation = std::string(column.explanation),
                              .role = column.role,
                              .required = column.required});
  }
}

void append_column(Schema& schema, std::string name, ColumnType type, std::string unit, std::string_view group,
                   std::string title, std::string explanation, Role role = Role::none) {
  schema.columns.push_back({.name = std::move(name),
                            .type = type,
                            .unit = std::move(unit),
                            .group = std::string(group),
                            .title = std::move(title),
                            .explanation = std::move(explanation),
                            .role = role});
}

// The same four figures for each of the five engines, and the work of the Tensor engine.
void append_layer_columns(Schema& schema) {
  append_column(schema, "end", kNeuronInt, "ns", kTiming, "Stated end",
                "The end as the file states it: begin, end and duration are each cut to whole ns by themselves.");
  append_column(schema, "fully_qualified_subgraph", kNeuronString, "", kSource, "Subgraph",
                "Compiled graph that the layer belongs to.", Role::layer);
  constexpr std::pair<std::string_view, std::string_view> kEngines[] = {
      {"tensor", "Tensor"}, {"vector", "Vector"}, {"scalar", "Scalar"}, {"gpsimd", "GpSimd"}, {"sync", "Sync"}};
  for (const auto& [key, title] : kEngines) {
    const std::string prefix = std::string(key) + "_engine_";
    const std::string engine(title);
    append_column(schema, prefix + "instruction_count", kNeuronInt, "", kNeuronOperation, engine + " instructions",
                  "Instructions of the layer on the " + engine + " engine.");
    append_column(schema, prefix + "instruction_time", kNeuronInt, "ns", kTiming, engine + " instruction time",
                  "Durations of these instructions added up, waits included.");
    append_column(schema, prefix + "active_time", kNeuronInt, "ns", kTiming, engine + " active",
                  "Time in which at least one of them was working rather than waiting.");
    append_column(schema, prefix + "active_percent", kNeuronReal, "share", kTiming, engine + " active share",
                  "That time over the duration of the layer.");
  }
  append_column(schema, "tensor_engine_flop_count", kNeuronInt, "flop", kNeuronOperation, "Work",
                "Floating point operations of the layer's matrix multiplications, transposes included.", Role::flops);
  append_column(schema, "tensor_engine_model_flop_count", kNeuronInt, "flop", kNeuronOperation, "Model work",
                "The part of it that the model asks for.");
  append_column(schema, "tensor_engine_mfu", kNeuronReal, "share", kNeuronOperation, "MFU",
                "Model work over what the Tensor engine could have done in the layer's duration.");
  append_column(schema, "tensor_engine_hfu", kNeuronReal, "share", kNeuronOperation, "HFU",
                "All work over what the Tensor engine could have done in the layer's duration.");
}

}  // namespace

Schema neuron_schema(NeuronTable table) {
  const TableText& text = kTables[static_cast<std::size_t>(table)];
  Schema schema;
  schema.name = text.name;
  schema.kind = text.kind;
  schema.name_column = text.name_column;
  schema.name_explanation = text.name_explanation;
  append_columns(schema, text.columns);
  append_columns(schema, text.more);
  if (table == NeuronTable::layer_summary) append_layer_columns(schema);
  if (table == NeuronTable::instruction) schema.wait_names = {"EVENT_SEMAPHORE"};
  if (table == NeuronTable::cc_instruction) schema.wait_names = {"SEMAPHORE_WAIT", "BARRIER_WAIT"};
  return schema;
}

std::size_t neuron_column(NeuronTable table, std::string_view column) {
  const Schema schema = neuron_schema(table);
  std::size_t place = 0;
  while (place < schema.columns.size() && schema.columns[place].name != column) ++place;
  assert(place < schema.columns.size());
  return place;
}

std::string_view neuron_throttle_kind(std::int64_t type) noexcept {
  constexpr std::string_view kKinds[] = {"activity_0", "activity_1", "activity_2", "activity_3", "gpio_0",
                                         "gpio_1",     "gpio_2",     "gpio_3",     "gpio_4",     "gpio_5",
                                         "gpio_6",     "gpio_7",     "sw_0",       "sw_1",       "periodic"};
  return type >= 0 && type < std::ssize(kKinds) ? kKinds[type] : "unknown";
}

}  // namespace accelscope::capture::sources::neuron
