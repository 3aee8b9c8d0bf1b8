#include "tests/support/neuron/evolved_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <fstream>
#include <functional>
#include <map>
#include <random>

namespace accelscope::test {
namespace {

using Value = ParquetColumn::Value;
using Make = std::function<Value(std::int64_t row)>;

constexpr std::int64_t kLargeId = 9'007'199'254'740'993;  // beyond what a double holds exactly

// A column of a table of `rows` rows.
struct Columns {
  std::int64_t rows;
  std::vector<ProfileColumn> all = {};

  ProfileColumn& add(std::string name, std::string type, std::string unit, std::string description, const Make& make) {
    ProfileColumn& column = all.emplace_back();
    column.name = std::move(name);
    column.type = std::move(type);
    column.unit = std::move(unit);
    column.description = std::move(description);
    column.required = column.name.front() != '?';
    if (!column.required) column.name.erase(0, 1);
    column.stored = column.type == "number" ? kParquetDouble : column.type == "string" ? kParquetBytes : kParquetInt64;
    if (column.type == "boolean") column.stored = kParquetBoolean;
    for (std::int64_t row = 0; row < rows; ++row) column.values.push_back(make(row));
    return column;
  }
  void whole(std::string name, std::string unit, std::string description, const Make& make) {
    add(std::move(name), "integer", std::move(unit), std::move(description), make);
  }
  void real(std::string name, std::string unit, std::string description, const Make& make) {
    add(std::move(name), "number", std::move(unit), std::move(description), make);
  }
  ProfileColumn& text(std::string name, std::string description, std::vector<std::string> words) {
    return add(std::move(name), "string", "", std::move(description),
               [&](std::int64_t row) { return words[static_cast<std::size_t>(row) % words.size()]; });
  }
};

Make step(std::int64_t first, std::int64_t by) {
  return [=](std::int64_t row) { return first + by * row; };
}
Make cycle(std::int64_t by, std::int64_t modulus) {
  return [=](std::int64_t row) { return by * (row % modulus); };
}
Make part(double first, double by) {
  return [=](std::int64_t row) { return first + by * static_cast<double>(row); };
}

const char* const kCoreText = "Which physical core inside the logical core this row is about, 0 or 1.";

void add_span(Columns& columns, const std::string& what, std::int64_t first, std::int64_t every, std::int64_t length) {
  columns.whole("start_ts", "nanoseconds", fmt::format("Time stamp at which the {} began to execute.", what),
                step(first, every));
  columns.whole("end_ts", "nanoseconds", fmt::format("Time stamp at which the {} finished executing.", what),
                step(first + length, every));
  columns.whole("duration_ns", "nanoseconds", fmt::format("How long the {} executed.", what), step(length, 0));
}

ProfileTable instructions() {
  Columns c{48};
  add_span(c, "instruction", 1003, 97, 61);
  c.text("engine", "The compute engine on which the instruction ran, such as tensor.",
         {"Tensor", "Tensor", "Vector", "Scalar"});
  c.text("?timeline_track", "Track of the web page's timeline that shows this instruction, such as TensorMatrix.",
         {"TensorMatrix", "Tensor", "Vector", "Scalar"});
  c.whole("?pcore_idx", "", kCoreText, cycle(1, 2));
  c.text("opcode", "Opcode of this instruction, such as DRAIN.",
         {"MATMUL", "LDWEIGHTS", "TENSOR_COPY", "ACTIVATE", "EVENT_SEMAPHORE"});
  c.text("operands", "Operands that the instruction was given as input.", {"src=x", "dst=y size=4,4", "data=0xd"});
  c.text("?compiler_opcode", "Opcode at the time of compilation; at run time another may stand in its place.",
         {"PSEUDO", "MATMUL"});
  c.whole("id", "", "Identifies this execution of the instruction uniquely.", step(kLargeId, 3));
  c.whole("pc", "", "Runtime program counter: which instruction of the engine this is.", step(0, 1));
  c.text("?bir_id", "Identifier in the compiler's binary intermediate representation.", {"sg0000:1", "sg0000:2"});
  c.whole("?evt_wait_time_ns", "nanoseconds",
          "Time that went by waiting for events or semaphores before the instruction was ready.", cycle(7, 5));
  c.text("?hlo_name", "Name of the operation of the high level optimizer, such as dot.1.", {"dot.1", "add.2"});
  c.text("?layer", "Layer, as the framework's debug information calls it.", {"layer_1/mlp", "layer_2/attention"});
  c.text("?nki_source_location", "Line of kernel (NKI) source that this instruction was generated from.",
         {"kernel.py:10", "kernel.py:12"});
  c.whole("?hbm_read_bytes", "", "How many bytes this instruction read from HBM.", cycle(64, 3));
  c.whole("?sbuf_read_bytes", "", "How many bytes this instruction read from SBUF.", cycle(128, 4));
  c.whole("?sbuf_write_bytes", "", "How many bytes this instruction wrote to SBUF.", cycle(256, 5));
  c.text("?performance_mode", "Mode in which the engine performs: 2x or 4x throughput.", {"2x", "4x"}).choices = {"2x",
                                                                                                                  "4x"};
  c.text("?tensor_instruction_type", "Whether the tensor instruction is REGULAR or TRANSPOSE.",
         {"REGULAR", "TRANSPOSE", "REGULAR"});
  c.whole("?tensor_elements", "", "Elements of data that the tensor engine processed; will go away.", cycle(1000, 4));
  c.whole("?raw_flops", "", "Floating-point operations (FLOPs) of this instruction, two for each multiply-accumulate.",
          cycle(2000, 4));
  c.whole("?adjusted_flops", "", "FLOPs scaled to what BF16 would make of them.", cycle(3000, 4));
  c.text("?scalar_activation_fn", "Which activation function was used, such as COPY.", {"", "EXP", "GELU"});
  return {"Instruction", "Instructions that the compute engines of a core executed.", c.all};
}

ProfileTable packets() {
  Columns c{40};
  add_span(c, "packet", 1100, 53, 40);
  c.whole("?pcore_idx", "", kCoreText, cycle(1, 2));
  c.whole("id", "", "Identifies this DMA packet uniquely.", step(50'000, 1));
  c.whole("packet_idx", "", "Place of the packet among those of one transfer.", cycle(1, 16));
  c.whole("packet_aggregation_id", "", "Row of DmaPacketAggregated in which this packet is counted.", cycle(1, 4));
  c.whole("?engine_idx", "", "Number of the DMA engine that moved the packet.", cycle(1, 8));
  c.whole("read_bytes", "bytes", "Bytes of data that were read by this operation.", cycle(512, 3));
  c.whole("write_bytes", "bytes", "Bytes of data that were written by this operation.", cycle(512, 2));
  c.whole("transfer_bytes", "bytes", "Bytes of data that were transferred by this operation.", step(512, 8));
  c.real("throughput", "bytes_per_second", "Transferred data over the duration of the transfer.", part(1e9, 5e7));
  c.text("queue_type", "Kind of the DMA queue, which says where the packet comes from.", {"data", "input", "data"})
      .choices = {"instruction", "input", "output", "data", "software_dynamic", "hardware_dynamic", "unknown"};
  c.text("?variable", "Tensor or variable that goes with the data.", {"weights", "activations"});
  c.text("?queue_name", "Name of the queue into which the operation was put.", {"qSync0", "qAct1"});
  c.whole("?queue_idx", "", "Index of the queue into which the operation was put.", cycle(1, 2));
  c.whole("crc", "", "Cyclic redundancy check of the data.", step(77, 13));
  return {"DmaPacket", "Packets that DMA engines moved, each for itself.", c.all};
}

ProfileTable transfers() {
  Columns c{12};
  add_span(c, "transfer", 1100, 210, 190);
  c.whole("id", "", "Identifies this aggregated DMA uniquely.", step(70'000, 1));
  c.whole("?pcore_idx", "", kCoreText, cycle(1, 2));
  c.whole("queue_idx", "", "Index of the queue into which the operation was put.", cycle(1, 2));
  c.text("queue_name", "Name of the queue into which the operation was put.", {"qSync0", "qAct1"});
  c.text("?queue_type", "Kind of the DMA queue.", {"data", "input"}).choices = {"instruction", "input", "output",
                                                                                "data"};
  c.text("op", "Operation of the DMA, such as copy.", {"copy"});
  c.text("variable", "Tensor or variable that goes with the data.", {"weights", "activations", "spill"});
  c.whole("read_bytes", "bytes", "Bytes of data that were read by this operation.", step(4096, 16));
  c.whole("write_bytes", "bytes", "Bytes of data that were written by this operation.", step(4096, 16));
  c.whole("transfer_bytes", "bytes", "Bytes of data that were transferred by this operation.", step(4096, 16));
  c.text("source", "Where the data come from.", {"[[\"WEIGHT\"]]", "[[\"INPUT\"]]"});
  c.text("dest", "Where the data go.", {"[[\"SB\"]]"});
  c.text("semaphore_id", "Semaphore that is updated at completion; -1 for none.", {"5", "-1"});
  return {"DmaPacketAggregated", "Transfers of tensors, each the sum of its DMA packets.", c.all};
}

ProfileTable flows() {
  Columns c{40};
  c.whole("in_id", "", "Identifies the input of the flow, the event that comes before.", step(kLargeId, 3));
  c.whole("out_id", "", "Identifies the output of the flow, the event that comes after.", step(kLargeId + 3, 3));
  c.text("in_table", "Table that holds the input of the flow.", {"instruction"});
  c.text("out_table", "Table that holds the output of the flow.", {"instruction"});
  c.text("?dependency_type", "Of which type the dependency on the predecessor is.",
         {"FLOW_DEPENDENCE", "ANTI_DEPENDENCE"});
  c.whole("?gap_time", "nanoseconds", "Gap between the end of the input and the start of the output.", step(36, 0));
  return {"Flow", "Dependencies between events, an arrow each.", c.all};
}

ProfileTable throttles() {
  Columns c{6};
  c.whole("duration", "nanoseconds", "For how long it was throttled.", step(500, 0));
  c.whole("k", "", "Utilization level that is allowed, of the limit k/n.", step(4, 0));
  c.whole("n", "", "Utilization level that is possible at most, of the limit k/n.", step(8, 0));
  c.whole("timestamp", "nanoseconds", "Time stamp at which throttling occurred.", step(1200, 600));
  c.text("type", "Which type of throttling it is, such as activity_0.", {"activity_0", "activity_1", "gpio_2"});
  c.whole("?pcore_idx", "", kCoreText, cycle(1, 2));
  return {"Throttle", "When and how much engines were throttled.", c.all};
}

ProfileTable usage(const std::string& table, const std::string& what) {
  Columns c{20};
  c.whole("timestamp", "nanoseconds", "Time stamp of this measurement.", step(1000, 200));
  c.real("current_throughput", "bytes_per_second", fmt::format("Bytes per second that go over {} at this time.", what),
         part(1e9, 1e7));
  c.whole("total_transfer_bytes", "bytes", fmt::format("All bytes transferred over {} so far, added up.", what),
          step(0, 4096));
  c.whole("?pcore_idx", "", kCoreText, cycle(1, 2));
  return {table, fmt::format("Use of {} over time.", what), c.all};
}

ProfileTable memory_use(const std::string& table, const std::string& word, int by, int count) {
  Columns c{16};
  c.whole("timestamp", "nanoseconds", "Time stamp of this measurement.", step(1000, 250));
  c.real("?avg_util_percent", "percent", fmt::format("Utilization of all {}s on average.", word), part(0.1, 0.01));
  for (int i = 0; i < count; ++i) {
    c.real(fmt::format("?{}_{}_util_percent", word, i * by), "percent", fmt::format("How full {} {} is.", word, i * by),
           part(0.2 + 0.05 * i, 0.01));
  }
  c.whole("?pcore_idx", "", kCoreText, cycle(1, 2));
  return {table, fmt::format("Utilization of the {}s of on-chip memory.", word), c.all};
}

ProfileTable pending() {
  Columns c{20};
  c.whole("timestamp", "nanoseconds", "Time stamp of this count.", step(1000, 200));
  c.whole("value", "", "How many DMAs are pending.", cycle(1, 2));
  c.whole("?pcore_idx", "", kCoreText, cycle(1, 2));
  return {"PendingDma", "Count of pending DMAs over time.", c.all};
}

ProfileTable semaphores() {
  Columns c{24};
  c.whole("timestamp", "nanoseconds", "Time stamp at which the semaphore was updated.", step(1010, 90));
  c.text("id", "Identifies the semaphore that is updated.", {"S[5] (Tensor)", "S[8] (qSync0)"});
  c.whole("value", "", "New value of the semaphore.", cycle(1, 7));
  c.text("?update_source", "What generated the update: Tensor, Scalar, Vector, Sync, GpSimd or AXI.",
         {"Tensor", "AXI"});
  c.add("?double_set_or_clear", "boolean", "", "The event was set or cleared twice.", cycle(1, 2));
  c.text("?update_operation_type", "Type of operation that was decoded from the update mode.", {"sem_inc", "sem_dec"});
  c.whole("?pcore_idx", "", kCoreText, cycle(1, 2));
  return {"SemaphoreUpdate", "Updates of semaphores.", c.all};
}

ProfileTable collectives() {
  Columns c{5};
  add_span(c, "collective operation", 1500, 700, 650);
  c.text("operation", "Which collective operation it is, such as AllReduce.", {"AllReduce", "AllGather"});
  c.text("algorithm", "Algorithm of the collective, such as Ring.", {"Ring", "Mesh"});
  c.whole("num_elements", "", "Number of elements of the collective.", step(1024, 0));
  c.text("dtype", "Data type of the elements.", {"bf16"});
  c.whole("op_id", "", "Identifies the collective operation.", step(1, 1));
  c.whole("stream_id", "", "Identifies the stream of collectives.", cycle(1, 2));
  c.text("trigger_engine", "Engine that triggered the collective.", {"Sync"});
  c.whole("?input_size", "bytes", "Bytes of the collective's input.", step(2048, 0));
  c.whole("?output_size", "bytes", "Bytes of the collective's output.", step(4096, 0));
  c.whole("?cc_trigger_start_delay", "nanoseconds", "Delay from trigger to start.", step(15, 1));
  c.text("?replica_group", "Group of replicas that take part.", {"[[0, 1, 2, 3]]"});
  return {"CcOp", "Collective operations, whole.", c.all};
}

ProfileTable errors() {
  Columns c{3};
  c.text("description", "What the error is, in words.", {"sem 5 overflow", "NaN"});
  c.whole("error_type_id", "", "Number of the type of error.", step(4, 1));
  c.text("?metadata", "What the hardware adds to the error.", {"sem 5", "addr 7"});
  c.whole("timestamp", "nanoseconds", "Time stamp at which the error occurred.", step(1300, 900));
  c.text("type", "Type of the notification.", {"Errors", "Warnings", "Custom Notification"}).choices = {
      "Custom Notification", "Errors", "Warnings"};
  c.whole("?pcore_idx", "", kCoreText, cycle(1, 2));
  return {"Error", "Errors and notifications of the device.", c.all};
}

ProfileTable tensors() {
  Columns c{4};
  c.text("?variable_name", "Name of the tensor.", {"weights", "activations", "out", "spill"});
  c.text("?type", "Type of the tensor: IN, OUT or WEIGHT.", {"WEIGHT", "IN", "OUT", ""});
  c.text("?format", "Order of the tensor's dimensions.", {"NC"});
  c.text("?shape", "Shape of the tensor.", {"[128 512]", "[64 64]"});
  c.whole("?size", "bytes", "Size of the tensor.", step(65536, 1024));
  c.whole("?load_to_sbuf_dma_count", "", "How many DMAs loaded the tensor to SBUF.", step(1, 1));
  c.whole("?load_to_sbuf_total_size_bytes", "", "How much of it DMAs loaded to SBUF in total.", step(65536, 1024));
  return {"TensorInfo", "Tensors of the compiled program.", c.all};
}

ProfileTable framework() {
  Columns c{6};
  c.text("node_name", "Name of this node of the framework.", {"attention", "mlp", "norm"});
  c.text("parent_name", "Name of the node above.", {"layer_1", "layer_2"});
  c.whole("start_ts", "nanoseconds", "Time stamp at which the node began to execute.", step(1000, 700));
  c.whole("end_ts", "nanoseconds", "Time stamp at which the node finished executing.", step(1600, 700));
  c.real("?mfu", "percent", "Model FLOPs utilization of the node.", part(0.3, 0.02));
  c.whole("?hbm_read_bytes", "bytes", "Bytes that the node read from HBM.", step(4096, 64));
  return {"FrameworkNode", "Operators of the framework, as a tree.", c.all};
}

ProfileTable metadata() {
  Columns c{1};
  c.text("profile_schema_version", "Version of the schema of this profile.", {"7.4.0"});
  c.whole("ntff_version", "", "Version of the trace file.", step(4, 0));
  c.whole("num_physical_cores", "", "Number of physical cores in the logical core.", step(2, 0));
  c.whole("first_hw_timestamp", "nanoseconds", "First time stamp of the hardware.", step(1000, 0));
  c.whole("last_hw_timestamp", "nanoseconds", "Last time stamp of the hardware.", step(5623, 0));
  c.real("hbm_ddr_bandwidth", "bytes_per_second", "Bandwidth of HBM.", part(716e9, 0));
  c.whole("tensor_engine_num_rows", "", "Number of rows of the tensor engine.", step(128, 0));
  c.whole("tensor_engine_num_cols", "", "Number of columns of the tensor engine.", step(128, 0));
  c.real("tensor_engine_clock_freq", "gigahertz", "Clock frequency of the tensor engine.", part(2.4, 0));
  c.text("?instance_type", "Type of the instance.", {"trn2.48xlarge"});
  c.whole("?neuroncore_idx", "", "Index of the core on its device.", step(4, 0));
  c.text("?profile_name", "Name of the profile.", {"attention"});
  return {"Metadata", "Facts of the profile.", c.all};
}

ProfileTable summary() {
  Columns c{1};
  c.real("?total_time", "seconds", "Duration of the whole profile.", part(4.6e-6, 0));
  c.whole("?hardware_flops", "flops", "FLOPs that the hardware executed.", step(96'000, 0));
  c.real("?dma_active_time", "seconds", "For how long at least one DMA was active.", part(2.1e-6, 0));
  c.real("?dma_active_time_percent", "percent", "Share of the total time in which at least one DMA was active.",
         part(0.45, 0));
  c.real("?mfu_estimated_percent", "percent", "Model FLOPs utilization, estimated.", part(0.21, 0));
  c.real("?hfu_estimated_percent", "percent", "Hardware FLOPs utilization, estimated.", part(0.27, 0));
  c.whole("?hbm_read_bytes", "bytes", "Bytes read from HBM.", step(131072, 0));
  c.whole("?hbm_write_bytes", "bytes", "Bytes written to HBM.", step(65536, 0));
  c.whole("?dma_transfer_count", "", "Number of transfers over DMA.", step(12, 0));
  c.whole("?matmul_instruction_count", "", "Number of MATMUL instructions.", step(10, 0));
  for (const char* engine : {"tensor", "vector", "scalar", "gpsimd", "sync"}) {
    c.real(fmt::format("?{}_engine_active_time", engine), "seconds",
           fmt::format("For how long the {} engine was active.", engine), part(1e-6, 0));
    c.real(fmt::format("?{}_engine_active_time_percent", engine), "percent",
           fmt::format("Share of the total time in which the {} engine was active.", engine), part(0.22, 0));
    c.whole(fmt::format("?{}_engine_instruction_count", engine), "",
            fmt::format("Number of instructions on the {} engine.", engine), step(9, 0));
  }
  return {"Summary", "Figures of the whole profile.", c.all};
}

// Names that a later schema might have.
const std::map<std::string, std::vector<std::string>>& later_names() {
  static const std::map<std::string, std::vector<std::string>> kNames = {
      {"start_ts", {"begin_timestamp", "start_time", "startTs", "t_begin"}},
      {"end_ts", {"finish_timestamp", "end_time", "endTs", "t_end"}},
      {"duration_ns", {"elapsed_ns", "duration_time", "length"}},
      {"timestamp", {"sample_time", "ts", "time"}},
      {"engine", {"compute_engine", "engine_unit", "processor"}},
      {"opcode", {"op_code", "instruction_opcode", "mnemonic"}},
      {"id", {"uid", "event_id", "identifier"}},
      {"pcore_idx", {"physical_core", "core_index", "pcore"}},
      {"queue_name", {"dma_queue_name", "queue_label"}},
      {"transfer_bytes", {"moved_bytes", "transfer_size", "bytes_transferred"}},
      {"in_id", {"predecessor_id", "source_event_id", "from_id"}},
      {"out_id", {"successor_id", "target_event_id", "to_id"}},
      {"in_table", {"predecessor_table", "from_table"}},
      {"out_table", {"successor_table", "to_table"}},
      {"value", {"count", "sample_value", "val"}},
      {"evt_wait_time_ns", {"event_wait_ns", "semaphore_wait_time"}},
      {"profile_schema_version", {"schema_version", "profileSchemaVersion"}},
      {"throughput", {"transfer_rate", "bandwidth"}},
      {"Instruction", {"EngineInstruction", "ExecutedInstructions", "InstructionEvent"}},
      {"DmaPacket", {"DmaDescriptor", "PacketTransfer"}},
      {"DmaPacketAggregated", {"DmaTransfer", "DmaBlock"}},
      {"Flow", {"EventDependency", "Dependency"}},
      {"Throttle", {"ThrottleEvent", "ClockLimits"}},
      {"SemaphoreUpdate", {"SemaphoreEvent", "SyncUpdates"}},
      {"CcOp", {"CollectiveOp", "CollectiveOperation"}},
      {"HbmUsage", {"HbmBandwidth", "HbmTraffic"}},
      {"DmaUsage", {"DmaBandwidth", "DmaTraffic"}},
      {"SbufUsage", {"StateBufferUsage", "SbufUtilization"}},
      {"PsumUsage", {"PartialSumUsage", "PsumUtilization"}},
      {"PendingDma", {"DmaInFlight", "PendingTransfers"}},
      {"Metadata", {"ProfileMetadata", "ProfileInfo"}},
      {"Error", {"DeviceError", "Notification"}},
      {"TensorInfo", {"Tensors", "TensorTable"}},
      {"Summary", {"ProfileSummary", "OverallFigures"}},
      {"FrameworkNode", {"FrameworkOperator", "OperatorTree"}},
  };
  return kNames;
}

std::string later_name(const std::string& name, std::mt19937_64& random) {
  if (const auto known = later_names().find(name); known != later_names().end()) {
    return known->second[random() % known->second.size()];
  }
  switch (random() % 3) {
    case 0:
      return "event_" + name;
    case 1: {
      std::string camel;
      for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '_') continue;
        camel += i > 0 && name[i - 1] == '_' ? static_cast<char>(std::toupper(name[i])) : name[i];
      }
      return camel == name ? name + "_value" : camel;
    }
    default:
      return fmt::format("field_{}", random() % 90 + 10);  // says nothing: its description must do
  }
}

// One step from a profile to a later one.
class Step {
 public:
  Step(Evolution& evolution, std::mt19937_64& random) : evolution_(evolution), random_(random) {}
  void apply(const std::string& kind);

 private:
  struct Picked {
    ProfileTable* table = nullptr;
    ProfileColumn* column = nullptr;
  };
  // A column that was not changed yet.
  template <typename Fits>
  Picked pick(const Fits& fits) {
    for (int tries = 0; tries < 400; ++tries) {
      ProfileTable& table = evolution_.profile.tables[random_() % evolution_.profile.tables.size()];
      ProfileColumn& column = table.columns[random_() % table.columns.size()];
      if (!is_changed(table.name, column.name) && fits(table, column)) return {&table, &column};
    }
    return {};
  }
  [[nodiscard]] bool is_changed(const std::string& table, const std::string& column) const {
    return std::any_of(evolution_.changes.begin(), evolution_.changes.end(), [&](const SchemaChange& change) {
      const bool same_table = change.table == first_name(table) || change.kind == "table renamed";
      return (same_table && change.table == first_name(table) && !change.column.empty() &&
              (change.column == column || change.now == column));
    });
  }
  [[nodiscard]] std::string first_name(const std::string& table) const {
    for (const SchemaChange& change : evolution_.changes) {
      if (change.kind == "table renamed" && change.now == table) return change.table;
    }
    return table;
  }
  void note(const std::string& kind, const std::string& table, const std::string& column, const std::string& now) {
    evolution_.changes.push_back({kind, first_name(table), column, now});
  }
  void rename_table();
  void rename_column();
  void remove(bool required);
  void retype();
  void move_unit();
  void number_choices();
  void make_list();
  void nest();
  void encode();
  void store_as(ProfileColumn& column, ParquetType type) const;

  Evolution& evolution_;
  std::mt19937_64& random_;
};

double number_of(const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
}

void Step::rename_table() {
  ProfileTable& table = evolution_.profile.tables[random_() % evolution_.profile.tables.size()];
  if (!later_names().contains(table.name)) return;
  const std::string now = later_name(table.name, random_);
  note("table renamed", table.name, "", now);
  // Dependencies name tables too.
  const auto snake = [](const std::string& name) {
    std::string word;
    for (const char c : name) {
      if (std::isupper(c) != 0 && !word.empty()) word += '_';
      word += static_cast<char>(std::tolower(c));
    }
    return word;
  };
  for (ProfileTable& flow : evolution_.profile.tables) {
    for (ProfileColumn& column : flow.columns) {
      for (Value& value : column.values) {
        auto* text = std::get_if<std::string>(&value);
        const bool names_table = column.description.find("of the flow") != std::string::npos;
        if (names_table && text != nullptr && *text == snake(table.name)) *text = snake(now);
      }
    }
  }
  table.name = now;
}

void Step::rename_column() {
  const Picked picked = pick([](const ProfileTable&, const ProfileColumn& column) { return column.record.empty(); });
  if (picked.column == nullptr) return;
  const std::string now = later_name(picked.column->name, random_);
  if (picked.table->find(now) != nullptr) return;
  note("column renamed", picked.table->name, picked.column->name, now);
  picked.column->name = now;
}

void Step::remove(bool required) {
  const Picked picked = pick([&](const ProfileTable& table, const ProfileColumn& column) {
    return column.required == required && table.columns.size() > 2;
  });
  if (picked.column == nullptr) return;
  note(required ? "required column removed" : "column removed", picked.table->name, picked.column->name, "");
  picked.table->columns.erase(picked.table->columns.begin() + (picked.column - picked.table->columns.data()));
}

void Step::store_as(ProfileColumn& column, ParquetType type) const {
  for (Value& value : column.values) {
    if (type == kParquetDouble) value = number_of(value);
    if (type == kParquetBytes) {
      const auto* whole = std::get_if<std::int64_t>(&value);
      value = whole != nullptr ? fmt::format("{}", *whole) : fmt::format("{}", std::get<double>(value));
    }
  }
  column.stored = type;
  column.encoding = kPlain;
  column.type = type == kParquetDouble ? "number" : type == kParquetBytes ? "string" : "integer";
}

void Step::retype() {
  const Picked picked = pick([](const ProfileTable&, const ProfileColumn& column) {
    return column.type == "integer" || column.type == "number";
  });
  if (picked.column == nullptr) return;
  ProfileColumn& column = *picked.column;
  const bool is_small =
      column.type == "integer" && std::all_of(column.values.begin(), column.values.end(),
                                              [](const Value& value) { return std::abs(number_of(value)) < 1e9; });
  const int choice = static_cast<int>(random_() % 3);
  if (choice == 0 && is_small) {
    column.stored = kParquetInt32;
    column.encoding = kPlain;
    note("retyped", picked.table->name, column.name, "int32");
  } else if (choice == 1 && column.type == "integer") {
    note("retyped", picked.table->name, column.name, "double");
    store_as(column, kParquetDouble);
  } else {
    note("retyped", picked.table->name, column.name, "string");
    store_as(column, kParquetBytes);
    if ((random_() & 1) != 0) column.encoding = kDictionary;
  }
}

void Step::move_unit() {
  const Picked picked = pick([](const ProfileTable&, const ProfileColumn& column) {
    return !column.unit.empty() && column.unit != "flops" && column.type != "string";
  });
  if (picked.column == nullptr) return;
  ProfileColumn& column = *picked.column;
  double factor = 1;
  std::string now;
  const bool coarse = (random_() & 1) != 0;
  if (column.unit == "nanoseconds") {
    now = coarse ? "milliseconds" : "microseconds";
    factor = coarse ? 1e-6 : 1e-3;
  } else if (column.unit == "seconds") {
    now = coarse ? "milliseconds" : "nanoseconds";
    factor = coarse ? 1e3 : 1e9;
  } else if (column.unit == "bytes") {
    now = coarse ? "kibibytes" : "MB";
    factor = coarse ? 1.0 / 1024 : 1e-6;
  } else if (column.unit == "bytes_per_second") {
    now = coarse ? "GB/s" : "MB/s";
    factor = coarse ? 1e-9 : 1e-6;
  } else if (column.unit == "gigahertz") {
    now = "MHz";
    factor = 1e3;
  } else if (column.unit == "percent") {
    now = coarse ? "percent" : "%";
    factor = 100;
    column.maximum = 100;
  } else {
    return;
  }
  store_as(column, kParquetDouble);
  for (Value& value : column.values) value = number_of(value) * factor;
  note("unit moved", picked.table->name, column.name, now);
  column.unit = now;
}

void Step::number_choices() {
  const Picked picked = pick([](const ProfileTable&, const ProfileColumn& column) {
    return !column.choices.empty() && column.type == "string";
  });
  if (picked.column == nullptr) return;
  ProfileColumn& column = *picked.column;
  for (Value& value : column.values) {
    const auto place = std::find(column.choices.begin(), column.choices.end(), std::get<std::string>(value));
    value = static_cast<std::int64_t>(place - column.choices.begin());
  }
  column.type = "integer";
  column.stored = kParquetInt32;
  column.encoding = kPlain;
  note("choice as number", picked.table->name, column.name, "int32");
}

void Step::make_list() {
  if ((random_() & 1) != 0) {
    const Picked at = pick([](const ProfileTable& table, const ProfileColumn&) { return !table.has("listed"); });
    if (at.table == nullptr) return;
    ProfileColumn column{"listed", "array", "", "Numbers of what belongs to this row.", {}};
    for (std::size_t row = 0; row < at.table->columns.front().values.size(); ++row) {
      column.values.emplace_back(ParquetColumn::List{static_cast<std::int64_t>(row), 7});
    }
    note("list", at.table->name, "", "listed");
    at.table->columns.push_back(column);
    return;
  }
  const Picked picked = pick([](const ProfileTable& table, const ProfileColumn& column) {
    return column.type == "string" && column.choices.empty() && column.record.empty() && column.name != "type" &&
           table.columns.front().values.size() > 1;
  });
  if (picked.column == nullptr) return;
  note("list", picked.table->name, picked.column->name, "array of string");
  picked.column->type = "array";
  for (Value& value : picked.column->values) value = ParquetColumn::Texts{std::get<std::string>(value)};
}

// Two neighbours become members of one record, or a new record comes.
void Step::nest() {
  const Picked picked = pick([&](const ProfileTable& table, const ProfileColumn& column) {
    const std::size_t at = static_cast<std::size_t>(&column - table.columns.data());
    return at + 1 < table.columns.size() && column.type != "array" && table.columns[at + 1].type != "array" &&
           column.record.empty() && table.columns[at + 1].record.empty() &&
           !is_changed(table.name, table.columns[at + 1].name) && !table.has("nested");
  });
  if (picked.column == nullptr) return;
  ProfileColumn* second = picked.column + 1;
  if ((random_() & 1) != 0) {
    for (const char* name : {"first", "second"}) {
      ProfileColumn column{name, "integer", "", "A member of something new.", {}};
      column.record = "nested";
      for (std::size_t row = 0; row < picked.table->columns.front().values.size(); ++row)
        column.values.emplace_back(static_cast<std::int64_t>(row));
      picked.table->columns.push_back(column);
    }
    note("nested", picked.table->name, "", "nested");
    return;
  }
  note("nested", picked.table->name, picked.column->name, "nested");
  note("nested", picked.table->name, second->name, "nested");
  picked.column->record = "nested";
  second->record = "nested";
}

void Step::encode() {
  ParquetLayout& layout = evolution_.profile.layout;
  constexpr ParquetCodec kCodecs[] = {kNoCodec, kSnappy, kZstd, kLz4Raw, kGzip};
  layout.codec = kCodecs[random_() % std::size(kCodecs)];
  layout.page_version = static_cast<int>(random_() % 2) + 1;
  layout.rows_per_page = random_() % 20 + 3;
  layout.rows_per_group = random_() % 40 + 10;
  for (ProfileTable& table : evolution_.profile.tables) {
    for (ProfileColumn& column : table.columns) {
      if (column.type == "array") continue;
      constexpr ParquetEncoding kTexts[] = {kPlain, kDictionary, kDeltaLength, kDeltaBytes};
      constexpr ParquetEncoding kNumbers[] = {kPlain, kDictionary, kDelta};
      if (column.stored == kParquetBytes) column.encoding = kTexts[random_() % std::size(kTexts)];
      if (column.stored == kParquetInt64 || column.stored == kParquetInt32)
        column.encoding = kNumbers[random_() % std::size(kNumbers)];
      if (column.stored == kParquetDouble) column.encoding = (random_() & 1) != 0 ? kDictionary : kSplit;
    }
  }
  note("encoding", "", "", fmt::format("codec {}, pages of version {}", layout.codec, layout.page_version));
}

void Step::apply(const std::string& kind) {
  if (kind == "table renamed") rename_table();
  if (kind == "column renamed") rename_column();
  if (kind == "column removed") remove(false);
  if (kind == "required column removed") remove(true);
  if (kind == "retyped") retype();
  if (kind == "unit moved") move_unit();
  if (kind == "choice as number") number_choices();
  if (kind == "list") make_list();
  if (kind == "nested") nest();
  if (kind == "encoding") encode();
  if (kind == "parts") {
    ProfileTable& table = evolution_.profile.tables[random_() % evolution_.profile.tables.size()];
    if (table.columns.front().values.size() < 2 || table.parts > 1) return;
    table.parts = random_() % 3 + 2;
    note("parts", table.name, "", fmt::format("{} files", table.parts));
  }
  if (kind == "table absent") {
    const std::size_t at = random_() % evolution_.profile.tables.size();
    if (evolution_.profile.tables[at].name == "Metadata") return;
    note("table absent", evolution_.profile.tables[at].name, "", "");
    evolution_.profile.tables.erase(evolution_.profile.tables.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (kind == "column new") {
    const Picked at = pick([](const ProfileTable& table, const ProfileColumn&) { return !table.has("retry_policy"); });
    if (at.table == nullptr) return;
    ProfileColumn column{"retry_policy", "string", "", "How often a failed attempt is made again.", {}};
    column.stored = kParquetBytes;
    for (std::size_t row = 0; row < at.table->columns.front().values.size(); ++row) column.values.emplace_back("never");
    at.table->columns.insert(
        at.table->columns.begin() + static_cast<std::ptrdiff_t>(random_() % (at.table->columns.size() + 1)), column);
    note("column new", at.table->name, "", "retry_policy");
  }
  if (kind == "table new") {
    if (evolution_.profile.find("PowerSample") != nullptr) return;
    Columns c{5};
    c.whole("timestamp", "nanoseconds", "Time stamp of the sample.", step(1000, 100));
    c.real("watts", "watts", "Power that the device draws.", part(210, 1.5));
    evolution_.profile.tables.push_back({"PowerSample", "Power over time.", c.all});
    note("table new", "", "", "PowerSample");
  }
}

ParquetColumn parquet_column(const ProfileColumn& column, std::size_t first, std::size_t last) {
  ParquetColumn out{column.name,
                    column.stored,
                    {column.values.begin() + static_cast<std::ptrdiff_t>(first),
                     column.values.begin() + static_cast<std::ptrdiff_t>(last)}};
  out.encoding = column.encoding;
  out.is_list = column.type == "array";
  if (out.is_list && !column.values.empty()) {
    out.type = std::holds_alternative<ParquetColumn::Texts>(column.values.front()) ? kParquetBytes : kParquetInt64;
    out.encoding = kPlain;
  }
  out.record = column.record;
  return out;
}

std::string joined_choices(const std::vector<std::string>& choices) {
  std::string text;
  for (const std::string& choice : choices) text += (text.empty() ? "" : ",") + choice;
  return text;
}

ProfileTable schema_fields(const Profile& profile) {
  Columns c{0};
  for (const char* name : {"table_name", "table_description", "field_name", "field_description", "field_type",
                           "field_format", "field_unit", "field_enum_values"}) {
    c.text(name, "", {""});
  }
  ProfileColumn& required = c.add("field_required", "boolean", "", "", step(0, 0));
  required.stored = kParquetBoolean;
  c.real("field_maximum", "", "", part(0, 0));
  for (const ProfileTable& table : profile.tables) {
    for (const ProfileColumn& column : table.columns) {
      const std::string format = column.type == "integer"  ? column.stored == kParquetInt32 ? "int32" : "int64"
                                 : column.type == "number" ? "double"
                                                           : "";
      std::size_t i = 0;
      for (const std::string& text : {table.name, table.description, column.name, column.description, column.type,
                                      format, column.unit, joined_choices(column.choices)}) {
        c.all[i++].values.emplace_back(text);
      }
      c.all[i++].values.emplace_back(static_cast<std::int64_t>(column.required));
      Value& maximum = c.all[i].values.emplace_back();
      if (column.maximum) maximum = *column.maximum;
    }
  }
  return {"SchemaFields", "", c.all};
}

void write_table(const ProfileTable& table, const ParquetLayout& layout, const std::filesystem::path& folder) {
  const std::size_t rows = table.columns.front().values.size();
  for (std::size_t part = 0; part < table.parts; ++part) {
    std::vector<ParquetColumn> columns;
    for (const ProfileColumn& column : table.columns) {
      columns.push_back(parquet_column(column, rows * part / table.parts, rows * (part + 1) / table.parts));
    }
    const std::string name = table.parts == 1 ? table.name : fmt::format("{}_{}", table.name, part);
    std::ofstream(folder / (name + ".parquet"), std::ios::binary) << parquet_file(columns, layout);
  }
}

}  // namespace

ProfileColumn* ProfileTable::find(const std::string& column) {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const ProfileColumn& each) { return each.name == column; });
  return found == columns.end() ? nullptr : &*found;
}

bool ProfileTable::has(const std::string& column) const {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const ProfileColumn& each) { return each.name == column || each.record == column; });
}

ProfileTable* Profile::find(const std::string& table) {
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const ProfileTable& each) { return each.name == table; });
  return found == tables.end() ? nullptr : &*found;
}

const std::vector<std::string>& kinds_of_change() {
  static const std::vector<std::string> kKinds = {"table renamed",
                                                  "column renamed",
                                                  "column removed",
                                                  "required column removed",
                                                  "retyped",
                                                  "unit moved",
                                                  "choice as number",
                                                  "list",
                                                  "nested",
                                                  "encoding",
                                                  "parts",
                                                  "table absent",
                                                  "column new",
                                                  "table new"};
  return kKinds;
}

Profile profile_of_7_4_0() {
  Profile profile;
  profile.tables = {instructions(),
                    packets(),
                    transfers(),
                    flows(),
                    throttles(),
                    usage("HbmUsage", "HBM"),
                    usage("DmaUsage", "DMA"),
                    memory_use("SbufUsage", "partition", 32, 4),
                    memory_use("PsumUsage", "bank", 1, 8),
                    pending(),
                    semaphores(),
                    collectives(),
                    errors(),
                    tensors(),
                    framework(),
                    metadata(),
                    summary()};
  return profile;
}

Evolution evolved(const Profile& profile, std::uint64_t seed) {
  Evolution evolution{profile, {}};
  std::mt19937_64 random(seed * 7919 + 17);
  Step next(evolution, random);
  const std::vector<std::string>& kinds = kinds_of_change();
  for (std::size_t tries = 0; evolution.changes.empty() && tries < 20; ++tries) next.apply(kinds[seed % kinds.size()]);
  for (std::size_t more = random() % 4; more > 0; --more) next.apply(kinds[random() % kinds.size()]);
  for (ProfileTable& table : evolution.profile.tables) {
    for (ProfileColumn& column : table.columns) {
      for (Value& value : column.values) {
        if (auto* text = std::get_if<std::string>(&value); text != nullptr && *text == "7.4.0") *text = "12.0.1";
      }
    }
  }
  return evolution;
}

void write_profile(const Profile& profile, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const ProfileTable& table : profile.tables) write_table(table, profile.layout, folder);
  write_table(schema_fields(profile), profile.layout, folder);
}

}  // namespace accelscope::test
