#include "capture/sources/neuron/read/table_rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

namespace accelscope::capture::sources::neuron {
namespace {

constexpr TableRule kTableRulesRules[] = {
    {"instruction", NeuronTable::instruction, "engine", "", "label"},
    {"Instruction", NeuronTable::instruction, "engine", "", "label"},
    {"dma", NeuronTable::dma, "dma_queue", "", "subgroup"},
    {"DmaPacket", NeuronTable::dma, "dma_queue", "", "subgroup"},
    {"DmaPacketAggregated", NeuronTable::dma_transfer, "dma_queue", "", "subgroup"},
    {"semaphore_update", NeuronTable::semaphore_update, "semaphore", "", "id"},
    {"SemaphoreUpdate", NeuronTable::semaphore_update, "semaphore", "", "id"},
    {"cc_ops", NeuronTable::cc_op, "collective", "Collectives"},
    {"cc_op", NeuronTable::cc_op, "collective", "Collectives"},
    {"CcOp", NeuronTable::cc_op, "collective", "Collectives"},
    {"cc_instruction", NeuronTable::cc_instruction, "cc_core", "CC-core ", "core_idx"},
    {"cc_instructions", NeuronTable::cc_instruction, "cc_core", "CC-core ", "core_idx"},
    {"CcInstruction", NeuronTable::cc_instruction, "cc_core", "CC-core ", "core_idx"},
    {"cc_stream", NeuronTable::cc_stream, "table", "Collective streams"},
    {"CcStream", NeuronTable::cc_stream, "table", "Collective streams"},
    {"pending_dma", NeuronTable::pending_dma, "counter", "Pending DMA"},
    {"PendingDma", NeuronTable::pending_dma, "counter", "Pending DMA"},
    {"dma_throughput", NeuronTable::dma_throughput, "counter", "DMA throughput"},
    {"DmaUsage", NeuronTable::dma_throughput, "counter", "DMA throughput"},
    {"HbmUsage", NeuronTable::hbm_throughput, "counter", "HBM throughput"},
    {"instruction_usage", NeuronTable::sbuf_usage, "counter", "SBUF usage"},
    {"SbufUsage", NeuronTable::sbuf_usage, "counter", "SBUF usage"},
    {"PsumUsage", NeuronTable::psum_usage, "counter", "PSUM usage"},
    {"ham", NeuronTable::throttle, "throttle", "Throttling"},
    {"throttle", NeuronTable::throttle, "throttle", "Throttling"},
    {"Throttle", NeuronTable::throttle, "throttle", "Throttling"},
    {"active_time", NeuronTable::active_time, "table", "Active ", "engine"},
    {"ActiveTime", NeuronTable::active_time, "table", "Active ", "engine"},
    {"layer_summary", NeuronTable::layer_summary, "layer", "Layers"},
    {"neff_node", NeuronTable::neff_node, "table", "Tensors"},
    {"TensorInfo", NeuronTable::neff_node, "table", "Tensors"},
    {"dma_queues_info", NeuronTable::dma_queues_info, "table", "DMA queues"},
    {"DmaQueuesInfo", NeuronTable::dma_queues_info, "table", "DMA queues"},
    {"nc_mem_usage", NeuronTable::nc_mem_usage, "table", "Device memory"},
    {"HbmUsageSummaryByType", NeuronTable::nc_mem_usage, "table", "Device memory"},
    {"neff_header", NeuronTable::neff_header, "table", "Program"},
    {"NeffHeader", NeuronTable::neff_header, "table", "Program"},
    {"model_info", NeuronTable::model_info, "table", "Model"},
    {"warnings", NeuronTable::warnings, "table", "Warnings"},
    {"Warning", NeuronTable::warnings, "table", "Warnings"},
    {"Flow", NeuronTable::flow, "flow", "Dependencies"},
    {"error", NeuronTable::error, "error", "Errors"},
    {"errors", NeuronTable::error, "error", "Errors"},
    {"Error", NeuronTable::error, "error", "Errors"},
    {"sbuf_allocation", NeuronTable::memory, "memory", "SBUF partition ", "partition"},
    {"SbufAllocation", NeuronTable::memory, "memory", "SBUF partition ", "partition"},
    {"core_barriers", NeuronTable::core_barrier, "barrier", "Barrier ", "engine_name"},
    {"core_barrier", NeuronTable::core_barrier, "barrier", "Barrier ", "engine_name"},
    {"CoreBarriers", NeuronTable::core_barrier, "barrier", "Barrier ", "engine_name"},
    {"trace_events", NeuronTable::trace_event, "host_thread", "", "thread_id"},
    {"SystemProfileEvents", NeuronTable::trace_event, "host_thread", "", "thread_id"},
    {"mem_usage", NeuronTable::host_memory, "counter", "Host memory ", "instance_id"},
    {"HostMemUsage", NeuronTable::host_memory, "counter", "Host memory ", "instance_id"},
    {"cpu_util", NeuronTable::cpu_util, "counter", "CPU ", "cpu_id"},
    {"CpuUsage", NeuronTable::cpu_util, "counter", "CPU ", "cpu_id"},
};

constexpr std::array<std::string_view, 6> kFactTables = {"metadata",       "profile_info",        "summary",
                                                         "summary_groups", "summary_group_order", "terminology"};

// Names of the newer exports for these.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNewerFactTables = {
    {{"Metadata", "metadata"}, {"Summary", "summary"}, {"NeffHeader", "neff_header"}}};

// Operators of the framework are layers; other documented tables without a schema of their own here are tables.
constexpr PlainTableRule kPlainTables[] = {{"FrameworkNode", "layer", "Layers"}};

}  // namespace

const TableRule* find_table_rule(std::string_view json_name) noexcept {
  const auto* const found = std::find_if(std::begin(kTableRulesRules), std::end(kTableRulesRules),
                                         [&](const TableRule& rule) { return rule.json_name == json_name; });
  return found == std::end(kTableRulesRules) ? nullptr : found;
}

bool is_fact_table(std::string_view json_name) noexcept {
  return std::find(kFactTables.begin(), kFactTables.end(), fact_table_name(json_name)) != kFactTables.end();
}

std::string_view fact_table_name(std::string_view table) noexcept {
  for (const auto& [newer, known] : kNewerFactTables) {
    if (newer == table) return known;
  }
  return table;
}

const PlainTableRule* find_plain_table(std::string_view table) noexcept {
  const auto* const found = std::find_if(std::begin(kPlainTables), std::end(kPlainTables),
                                         [&](const PlainTableRule& rule) { return rule.table == table; });
  return found == std::end(kPlainTables) ? nullptr : found;
}

bool is_summary_key(std::string_view json_name) noexcept {
  constexpr std::size_t kHashDigits = 40;
  return json_name.size() == kHashDigits + 2 && (json_name.starts_with("n_") || json_name.starts_with("s_")) &&
         json_name.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
}

namespace {

using namespace columns;

constexpr ColumnSpec kLayerWork[] = {
    {"tensor_engine_flop_count", kInt, "flop", kOperation, "Work",
     "Floating point operations of the layer's matrix multiplications, transposes included.", Role::flops},
    {"tensor_engine_model_flop_count", kInt, "flop", kOperation, "Model work",
     "The part of it that the model asks for."},
    {"tensor_engine_mfu", kReal, "share", kOperation, "MFU",
     "Model work over what the Tensor engine could have done in the layer's duration."},
    {"tensor_engine_hfu", kReal, "share", kOperation, "HFU",
     "All work over what the Tensor engine could have done in the layer's duration."},
};

// The same four figures for each of the five engines, and the work of the Tensor engine.
void append_layer_columns(Schema& schema) {
  const auto append = [&](const ColumnSpec& column) { schema.columns.push_back(make_column(column)); };
  append({"end", kInt, "ns", kTiming, "Stated end",
          "The end as the file states it: begin, end and duration are each cut to whole ns by themselves."});
  append({"fully_qualified_subgraph", kString, "", kLayerAndSource, "Subgraph",
          "Compiled graph that the layer belongs to.", Role::layer});
  constexpr std::pair<std::string_view, std::string_view> kEngines[] = {
      {"tensor", "Tensor"}, {"vector", "Vector"}, {"scalar", "Scalar"}, {"gpsimd", "GpSimd"}, {"sync", "Sync"}};
  for (const auto& [key, title] : kEngines) {
    const std::string prefix = std::string(key) + "_engine_";
    const std::string engine(title);
    append({prefix + "instruction_count", kInt, "", kOperation, engine + " instructions",
            "Instructions of the layer on the " + engine + " engine."});
    append({prefix + "instruction_time", kInt, "ns", kTiming, engine + " instruction time",
            "Durations of these instructions added up, waits included."});
    append({prefix + "active_time", kInt, "ns", kTiming, engine + " active",
            "Time in which at least one of them was working rather than waiting."});
    append({prefix + "active_percent", kReal, "share", kTiming, engine + " active share",
            "That time over the duration of the layer."});
  }
  append_columns(schema, kLayerWork);
}

}  // namespace

Schema neuron_schema(NeuronTable table) {
  const tables::TableSpec& spec = tables::kTables[static_cast<std::size_t>(table)];
  Schema schema = make_schema(spec.schema, spec.columns);
  append_columns(schema, spec.more);
  if (table == NeuronTable::layer_summary) append_layer_columns(schema);
  return schema;
}

std::string_view neuron_throttle_kind(std::int64_t type) noexcept {
  constexpr std::string_view kKinds[] = {"activity_0", "activity_1", "activity_2", "activity_3", "gpio_0",
                                         "gpio_1",     "gpio_2",     "gpio_3",     "gpio_4",     "gpio_5",
                                         "gpio_6",     "gpio_7",     "sw_0",       "sw_1",       "periodic"};
  return type >= 0 && type < std::ssize(kKinds) ? kKinds[type] : "unknown";
}

}  // namespace accelscope::capture::sources::neuron
