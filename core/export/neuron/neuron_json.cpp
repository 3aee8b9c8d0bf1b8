#include "core/export/neuron/neuron_json.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/base/format.h"
#include "core/export/neuron/neuron_facts.h"

namespace accelscope::neuron {
namespace {

using enum JsonForm;

constexpr ColumnJson kInstruction[] = {
    {"operands", plain, true},
    {"penguin_id", plain, true},
    {"bir_id", plain, true},
    {"bir_instruction_name", plain, true},
    {"hlo_name", plain, true},
    {"hlo_attrs", plain, true},
    {"layer", plain, true},
    {"activation_fn", plain, true},
    {"instruction_type", plain, true},
    {"fully_qualified_subgraph", plain, true},
    {"raw_framework_id", json},
    {"raw_flops", hidden},     // twice the elements
    {"stack_frames", hidden},  // made of the frame tables, which are written; stays last: see json_forms
};

constexpr ColumnJson kDma[] = {
    {"dma_engine", number_text}, {"dma_queue", number_text}, {"is_cc_dma", yes_no},
    {"duplicate", yes_no},       {"source", nested},         {"dest", words},
    {"op", plain, true},
};
constexpr ColumnJson kDmaTransfer[] = {
    {"dma_engine", number_text},
    {"dma_queue", number_text},
    {"is_cc_dma", yes_no},
    {"duplicate", yes_no},
    {"source", nested},
    {"dest", words},
    {"op", plain, true},
    {"read_shape", json},
    {"write_shape", json},
    {"source_sb_partitions", plain, true},
    {"dest_sb_partitions", plain, true},
};
constexpr ColumnJson kThroughput[] = {{"uses_hbm", true_false}};
constexpr ColumnJson kThrottle[] = {{"util_limit", hidden}};  // k / n
constexpr ColumnJson kNeffNode[] = {{"size", number_text},   {"variable_name", plain, true}, {"type", plain, true},
                                    {"format", plain, true}, {"shape", plain, true},         {"sg_name", plain, true}};
constexpr ColumnJson kNeffHeader[] = {{"major_version", number_text},
                                      {"minor_version", number_text},
                                      {"package_version", number_text},
                                      {"header_size", number_text},
                                      {"data_size", number_text},
                                      {"number_of_logical_neuroncores", number_text},
                                      {"number_of_neuroncores_per_lnc", number_text},
                                      {"build_version", plain, true}};
constexpr ColumnJson kAllocation[] = {{"address", extent, false, "start_address", "end_address"},
                                      {"allocation_bytes", hidden},
                                      {"tensor", hidden},
                                      {"pool", hidden}};

// In the order in which the tables are written.
const std::vector<TableJson>& tables() {
  static const std::vector<TableJson> kTables = {
      {.schema = "neff_header", .table = "neff_header", .columns = kNeffHeader},
      {.schema = "model_info", .table = "model_info"},
      {.schema = "neff_node", .table = "neff_node", .columns = kNeffNode},
      {.schema = "dma_queues_info", .table = "dma_queues_info"},
      {.schema = "nc_mem_usage", .table = "nc_mem_usage"},
      {.schema = "warnings", .table = "warnings"},
      {.schema = "instruction", .table = "instruction", .flows_key = "predecessors", .columns = kInstruction},
      {.schema = "dma", .table = "dma", .constant = "\"aggregated\":\"no\"", .columns = kDma},
      {.schema = "dma_transfer", .table = "dma", .constant = "\"aggregated\":\"yes\"", .columns = kDmaTransfer},
      {.schema = "semaphore_update", .table = "semaphore_update"},
      {.schema = "cc_op", .table = "cc_ops"},
      {.schema = "cc_instruction", .table = "cc_instruction"},
      {.schema = "cc_stream", .table = "cc_stream"},
      {.schema = "pending_dma", .table = "pending_dma", .has_name = false},
      {.schema = "dma_throughput", .table = "dma_throughput", .has_name = false, .columns = kThroughput},
      {.schema = "hbm_throughput", .table = "", .comes_back = true},  // part of dma_throughput
      {.schema = "pe_utilization",
       .table = "",
       .left_out = "a reader computes the use of the systolic array from the matrix multiplications again, at steps of "
                   "its own"},
      {.schema = "sbuf_usage", .table = "instruction_usage", .constant = "\"type\":\"sb\"", .has_name = false},
      {.schema = "psum_usage", .table = "instruction_usage", .constant = "\"type\":\"psum\"", .has_name = false},
      {.schema = "throttle", .table = "ham", .has_name = false, .columns = kThrottle},
      {.schema = "active_time",
       .table = "active_time",
       .start_key = "start_ts",
       .duration_key = "duration_ns",
       .end_key = "end_ts"},
      {.schema = "layer_summary", .table = "layer_summary", .start_key = "start", .end_key = "end"},
      {.schema = "error", .table = "error"},
      {.schema = "core_barrier", .table = "core_barriers"},
      // Blocks of device memory are made of the transfers and tensors; those of the state buffer have a table.
      {.schema = "memory_event",
       .table = "sbuf_allocation",
       .track_prefix = "SBUF partition ",
       .track_key = "partition",
       .columns = kAllocation,
       .left_out =
           "the vendor's table of allocations holds blocks of single partitions of the state buffer only; a reader "
           "estimates those of device memory from tensors and spills again"},
      {.schema = "dependency",
       .table = "",
       .left_out = "the vendor keeps dependencies with the instruction that waits; of transfers, a reader finds the "
                   "instruction "
                   "that set them off by its time"},
      {.schema = "trace_event", .table = "trace_events"},
      {.schema = "host_memory", .table = "mem_usage", .has_name = false},
      {.schema = "cpu_util", .table = "cpu_util", .has_name = false},
  };
  return kTables;
}

constexpr std::array<std::string_view, 1> kDerivedFlows = {"DMA_TRIGGER"};  // from the column trigger

[[nodiscard]] bool has_frame_tables(const Snapshot& snapshot) {
  return std::any_of(snapshot.tracks.begin(), snapshot.tracks.end(), [](const TrackSnapshot& track) {
    return track.track->kind == "table" && track.track->name.starts_with("stack_frame");
  });
}

}  // namespace

bool is_neuron_session(const Snapshot& snapshot) {
  constexpr std::array<std::string_view, 4> kTelling = {"instruction", "dma_transfer", "neff_node", "trace_event"};
  return std::any_of(snapshot.schemas.begin(), snapshot.schemas.end(), [&](const auto& schema) {
    return std::find(kTelling.begin(), kTelling.end(), schema->name) != kTelling.end();
  });
}

JsonForms json_forms(const Snapshot& snapshot) {
  JsonForms forms;
  forms.tables = tables();
  if (!has_frame_tables(snapshot)) {
    for (TableJson& table : forms.tables) {
      if (table.schema == "instruction") table.columns = table.columns.first(std::size(kInstruction) - 1);
    }
  }
  forms.facts = fact_tables(snapshot);
  forms.derived_flows = kDerivedFlows;
  forms.spliced_column = "extra";
  forms.keeps_ticks = true;
  return forms;
}

}  // namespace accelscope::neuron
