#include "capture/sources/neuron/read/profile_schema.h"

#include <algorithm>
#include <utility>

#include "capture/sources/neuron/read/row_binding.h"
#include "capture/sources/neuron/read/table_rules.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

// Names of the columns, in their order: * for required ones, the kind of those that are no whole numbers (s texts, r
// real numbers, b truth values, a lists), the unit in brackets.
struct KnownTable {
  std::string_view name;
  std::string_view fields;
};
constexpr KnownTable kKnownTables[] = {
    {"ActiveTime", "start_ts*[ns] end_ts*[ns] engine*:s pcore_idx* duration_ns*[ns]"},
    {"AssemblyInstruction", "instruction_id* compiler_opcode*:s compiler_operands*:s compiler_pc*"},
    {"BirInstruction",
     "id* raw_bir_id* raw_penguin_id* raw_hlo_id* raw_framework_id* bir_name*:s modular_flow_invocation_idx* "
     "pcore_idx start_ts*[ns] end_ts*[ns] time_intervals*:s element_count_per_interval*:a "
     "transpose_element_count_per_interval*:a hbm_transfer_size_per_interval*:a[B] hbm_read_bytes*[B] "
     "hbm_write_bytes*[B] sbuf_read_bytes[B] sbuf_write_bytes[B] load_weight_bytes[B]"},
    {"CcInstruction",
     "start_ts*[ns] end_ts*[ns] duration_ns*[ns] core_idx* description*:s trigger_engine:s trigger_start_ts[ns]"},
    {"CcOp",
     "start_ts*[ns] end_ts*[ns] duration_ns*[ns] operation*:s algorithm*:s num_elements* dtype*:s op_id* stream_id* "
     "stream_index* trigger_engine*:s input_size[B] output_size[B] algorithm_bandwidth:r[B/s] bus_bandwidth:r[B/s] "
     "trigger_start_ts[ns] cc_trigger_start_delay[ns] replica_group_id replica_group:s"},
    {"CcStream", "stream_id* stream_index* cc_core_ids*:s"},
    {"CoreBarriers",
     "start_ts*[ns] end_ts*[ns] duration_ns*[ns] engine_name*:s id* semaphore* compiler_pc* compiler_opcode*:s "
     "compiler_operands*:s pcore_idx"},
    {"CpuUsage",
     "timestamp*[ns] util_percent*:r[%] cpu_id*:s instance_id*:s ultraserver_id ultraserver_instance_index"},
    {"DeviceProfileList", "device_profile_name*:s instance_id*:s process_id* nc_id* session_id model_id"},
    {"DmaPacket",
     "start_ts*[ns] end_ts*[ns] duration_ns*[ns] pcore_idx id* packet_idx* packet_aggregation_id* engine_idx "
     "read_bytes*[B] write_bytes*[B] transfer_bytes*[B] throughput*:r[B/s] queue_type*:s variable:s queue_name:s "
     "queue_idx crc*"},
    {"DmaPacketAggregated",
     "start_ts*[ns] end_ts*[ns] duration_ns*[ns] id* pcore_idx block_id* queue_idx* queue_name*:s queue_type:s "
     "op*:s variable*:s read_bytes*[B] write_bytes*[B] transfer_bytes*[B] throughput*:r[B/s] source*:s dest*:s "
     "semaphore_id*:s modular_flow_function:s read_sbuf_partitions*:s read_num_sbuf_partitions* read_shape*:s "
     "read_offset*:s read_steps*:s write_sbuf_partitions*:s write_num_sbuf_partitions* write_shape*:s "
     "write_offset*:s write_steps*:s is_transpose_mode:b transpose_element_size:s transpose_shape:s "
     "transpose_from_shape:s transpose_to_shape:s transpose_unroll_factor:s trigger completion"},
    {"DmaQueuesInfo", "name*:s type*:s pcore_idx* idx* engine_idx* axi_port* dram_channel*"},
    {"DmaUsage", "timestamp*[ns] current_throughput*:r[B/s] total_transfer_bytes*[B] pcore_idx"},
    {"DmaUsageSummary",
     "timestamp*[ns] pcore_idx* sum_current_throughput*:r sum_total_transfer_bytes* max_total_transfer_bytes* "
     "count* bucket_resolution_ns*[ns]"},
    {"Error", "description*:s error_type_id* metadata:s metadata_hex:s pcore_idx timestamp*[ns] type*:s"},
    {"ExecutionInfo",
     "execution_index* neff_name:s execution_start_ts[ns] execution_end_ts[ns] num_subgraphs row_count"},
    {"Flow", "in_id* out_id* in_table*:s out_table*:s dependency_type:s gap_time[ns]"},
    {"FrameworkInstruction",
     "id* raw_bir_id* raw_penguin_id* raw_hlo_id* raw_framework_id* modular_flow_invocation_idx framework_name:s "
     "start_ts*[ns] end_ts*[ns] time_intervals*:s element_count_per_interval*:a "
     "transpose_element_count_per_interval*:a hbm_transfer_size_per_interval*:a[B] hbm_read_bytes*[B] "
     "hbm_write_bytes*[B] sbuf_read_bytes[B] sbuf_write_bytes[B] load_weight_bytes[B] "
     "tensor_engine_instruction_count scalar_engine_instruction_count sync_engine_instruction_count "
     "gpsimd_engine_instruction_count vector_engine_instruction_count"},
    {"FrameworkNode",
     "node_name*:s children_names*:s parent_name*:s children_ids*:s start_ts*[ns] end_ts*[ns] time_intervals*:s "
     "element_count_per_interval:s transpose_element_count_per_interval:s hbm_transfer_size_per_interval:s[B] "
     "hfu:r[%] mfu:r[%] hfu_per_interval:s mfu_per_interval:s mbu_per_interval:s hbm_read_bytes[B] "
     "hbm_write_bytes[B] sbuf_read_bytes[B] sbuf_write_bytes[B] tensor_engine_instruction_count "
     "scalar_engine_instruction_count sync_engine_instruction_count gpsimd_engine_instruction_count "
     "vector_engine_instruction_count total_time_tensor:s[ns] total_time_scalar:s[ns] total_time_sync:s[ns] "
     "total_time_gpsimd:s[ns] total_time_vector:s[ns] load_weight_bytes[B] total_channels_scalar "
     "total_channels_vector"},
    {"HbmUsage", "timestamp*[ns] current_throughput*:r[B/s] total_transfer_bytes*[B] pcore_idx"},
    {"HbmUsageSummaryByType", "neuron_device_idx* neuroncore_idx* usage_type*:s usage_bytes*[B]"},
    {"HloInstruction",
     "id* raw_bir_id* raw_penguin_id* raw_hlo_id* raw_framework_id* hlo_name*:s modular_flow_invocation_idx "
     "start_ts*[ns] end_ts*[ns] time_intervals*:s element_count_per_interval*:a "
     "transpose_element_count_per_interval*:a hbm_transfer_size_per_interval*:a[B] hbm_read_bytes*[B] "
     "hbm_write_bytes*[B] sbuf_read_bytes[B] sbuf_write_bytes[B] load_weight_bytes[B]"},
    {"HostMemUsage",
     "timestamp*[ns] used_bytes*[B] used_percent*:r[%] instance_id*:s ultraserver_id ultraserver_instance_index"},
    {"Instruction",
     "start_ts*[ns] end_ts*[ns] duration_ns*[ns] engine*:s timeline_track:s pcore_idx opcode*:s operands*:s "
     "compiler_opcode:s compiler_operands:s id* pc* compiler_pc penguin_id:s raw_penguin_id bir_id*:s raw_bir_id "
     "bir_instruction_name:s kernel_instruction_name:s crc_in crc_out evt_wait_time_ns[ns] hlo_attrs:s hlo_name:s "
     "raw_hlo_id raw_framework_id layer:s stack_frame_ids:s nki_source_location:s bir_debug_info_source_location:s "
     "dma_trigger_start_ts dma_trigger_end_ts dma_wait_time_ns[ns] instruction_chain:s hbm_read_bytes "
     "hbm_write_bytes sbuf_read_bytes sbuf_write_bytes spill_save_bytes spill_reload_bytes psum_read_bytes "
     "psum_write_bytes psum_read_sbuf_write_bytes input_queue_bytes output_queue_bytes weight_queue_bytes "
     "performance_mode:s tensor_instruction_type:s tensor_elements raw_flops adjusted_flops "
     "tensor_elements_transpose flops_transpose adjusted_flops_transpose scalar_activation_fn:s"},
    {"KernelInstructions",
     "kernel_instruction_name*:s stack_frame_id stack_frame_depth iteration_variables_id iteration_variable_depth "
     "pcore_idx file_path:s line_number"},
    {"KernelIterationVariables",
     "iteration_variable_id* variable_name:s variable_value parent_iteration_variable_id pcore_idx file_path:s "
     "line_number"},
    {"KernelStackFrames",
     "stack_frame_id* fully_qualified_function_name:s parent_stack_frame_id pcore_idx file_path:s line_number"},
    {"Metadata",
     "profile_schema_version*:s ntff_version* num_physical_cores* vnc_enabled*:b first_hw_timestamp*[ns] "
     "last_hw_timestamp*[ns] first_ts*:s last_ts*:s dma_ddr_bandwidth*:r[B/s] num_dma_engines_per_neuroncore* "
     "hbm_ddr_bandwidth*:r[B/s] tensor_engine_num_rows* tensor_engine_num_cols* tensor_engine_clock_freq*:r[GHz] "
     "vector_engine_clock_freq*:r[GHz] vector_engine_num_channels* scalar_engine_clock_freq*:r[GHz] "
     "scalar_engine_num_channels* gpsimd_engine_clock_freq*:r[GHz] gpsimd_engine_num_channels* "
     "neuroncore_clock_freq*:r[GHz] ticks_per_nanosec* instance_type:s runtime_version:s collectives_version:s "
     "driver_version:s explorer_version:s compiler_version:s neuroncore_idx neuron_device_idx ultraserver_id "
     "ultraserver_type:s ultraserver_size ultraserver_instance_index s3_bucket_path:s profile_name:s "
     "explorer_build_time:s is_simulation:b"},
    {"NeffHeader",
     "network_name:s uuid:s hash:s enabled_features:s header_size[B] data_size[B] major_version minor_version "
     "package_version:s build_version:s cc_participant_count neuroncore_count logical_neuroncore_count "
     "pcore_count_per_lnc"},
    {"OpcodeSummary",
     "engine*:s opcode*:s instruction_count* instruction_time_ns*[ns] active_time_ns*[ns] active_time_percent*:r"},
    {"PendingDma", "timestamp*[ns] value* pcore_idx"},
    {"PenguinInstruction",
     "id* raw_bir_id* raw_penguin_id* raw_hlo_id* raw_framework_id* penguin_name*:s modular_flow_invocation_idx "
     "start_ts*[ns] end_ts*[ns] time_intervals*:s element_count_per_interval*:a "
     "transpose_element_count_per_interval*:a hbm_transfer_size_per_interval*:a[B] hbm_read_bytes*[B] "
     "hbm_write_bytes*[B] sbuf_read_bytes[B] sbuf_write_bytes[B] load_weight_bytes[B]"},
    {"PsumUsage",
     "timestamp*[ns] avg_util_percent:r[%] bank_0_util_percent:r[%] bank_1_util_percent:r[%] "
     "bank_2_util_percent:r[%] bank_3_util_percent:r[%] bank_4_util_percent:r[%] bank_5_util_percent:r[%] "
     "bank_6_util_percent:r[%] bank_7_util_percent:r[%] pcore_idx"},
    {"SbufAllocation",
     "start_ts*[ns] end_ts*[ns] start_address*[B] end_address*[B] partition* op_source_type:s opcode:s operands:s "
     "queue_name:s block_id tensor_name:s hlo_name:s pcore_idx"},
    {"SbufUsage",
     "timestamp*[ns] avg_util_percent:r[%] partition_0_util_percent:r[%] partition_32_util_percent:r[%] "
     "partition_64_util_percent:r[%] partition_96_util_percent:r[%] pcore_idx"},
    {"SchemaFields",
     "table_name*:s table_description*:s field_name*:s field_description*:s field_example:s field_type*:s "
     "field_required*:b field_format:s field_unit:s field_minimum:r field_maximum:r field_enum_values:s"},
    {"SemaphoreUpdate",
     "timestamp*[ns] id*:s value* update_source:s double_set_or_clear:b update_mode update_operation_type:s "
     "update_trigger_timing:s pcore_idx"},
    {"StackFrame", "id*:s file_location_id* parent_frame_id*:s"},
    {"StackFrameFileLocation", "id*:s file_name_id* function_name_id* line_number*"},
    {"StackFrameFileName", "id*:s name*:s"},
    {"StackFrameFunctionName", "id*:s name*:s"},
    {"Summary",
     "total_time:r[s] neuroncore_cycle_count[cycles] model_flops[flop] hardware_flops[flop] transpose_flops[flop] "
     "adjusted_hardware_flops[flop] adjusted_transpose_flops[flop] mm_arithmetic_intensity:r "
     "peak_flops_bandwidth_ratio:r trace_count event_count total_row_count dma_active_cycles[cycles] "
     "dma_active_time:r[s] dma_active_time_percent:r[%] static_dma_active_time:r[s] "
     "dynamic_dma_active_time_percent:r[%] static_dma_active_time_percent:r[%] dma_transfer_average_bytes:r[B] "
     "dma_packet_time:r[s] dma_transfer_time:r[s] dma_transfer_count dma_transfer_total_bytes[B] dma_queue_count "
     "inputs_and_weights_size_bytes[B] inputs_outputs_weights_size_bytes[B] weight_size_bytes[B] "
     "static_dma_packet_count static_dma_size[B] dynamic_dma_packet_percent:r[%] static_dma_packet_percent:r[%] "
     "dynamic_dma_size_percent:r[%] static_dma_size_percent:r[%] mbu_estimated_percent:r[%] "
     "mbu_min_read_util_percent:r[%] hbm_write_bytes[B] hbm_read_bytes[B] sbuf_write_bytes[B] sbuf_read_bytes[B] "
     "spill_save_bytes[B] spill_reload_bytes[B] psum_write_bytes[B] psum_read_bytes[B] psum_read_sbuf_write_count "
     "psum_read_sbuf_write_bytes[B] input_queue_bytes[B] output_queue_bytes[B] weight_queue_bytes[B] "
     "software_dynamic_dma_active_time:r[s] software_dynamic_dma_active_time_percent:r[%] "
     "software_dynamic_dma_packet_count software_dynamic_dma_size[B] software_dynamic_dma_packet_percent:r[%] "
     "software_dynamic_dma_size_percent:r[%] hardware_dynamic_dma_active_time:r[s] "
     "hardware_dynamic_dma_active_time_percent:r[%] hardware_dynamic_dma_packet_count hardware_dynamic_dma_size[B] "
     "hardware_dynamic_dma_packet_percent:r[%] hardware_dynamic_dma_size_percent:r[%] "
     "tensor_engine_instruction_time:r[s] tensor_engine_active_time:r[s] tensor_engine_active_time_percent:r[%] "
     "tensor_engine_instruction_count matmul_instruction_count mfu_estimated_percent:r[%] "
     "mfu_max_achievable_estimated_percent:r[%] mfu_hlo_estimated_percent:r[%] "
     "mfu_hlo_max_achievable_estimated_percent:r[%] mfu_inst_estimated_percent:r[%] "
     "mfu_inst_max_achievable_estimated_percent:r[%] hfu_estimated_percent:r[%] vector_engine_instruction_time:r[s] "
     "vector_engine_active_time:r[s] vector_engine_active_time_percent:r[%] vector_engine_instruction_count "
     "scalar_engine_instruction_time:r[s] scalar_engine_active_time:r[s] scalar_engine_active_time_percent:r[%] "
     "scalar_engine_instruction_count activate_instruction_time:r[s] activate_instruction_count "
     "sync_engine_instruction_time:r[s] sync_engine_active_time:r[s] sync_engine_active_time_percent:r[%] "
     "sync_engine_instruction_count gpsimd_engine_instruction_time:r[s] gpsimd_engine_active_time:r[s] "
     "gpsimd_engine_active_time_percent:r[%] gpsimd_engine_instruction_count cc_op_time:r[s] cc_op_active_time:r[s] "
     "cc_op_active_time_percent:r[%] cc_op_count cc_cores_instruction_time:r[s] "
     "cc_cores_instruction_active_time:r[s] cc_cores_instruction_active_time_percent:r[%] "
     "cc_cores_instruction_count total_exec_time:r[s] total_active_time:r[s] total_active_time_percent:r[%]"},
    {"SystemProfileEvents",
     "id* name*:s start_ts*[ns] end_ts*[ns] duration_ns*[ns] trace_event_source*:s instance_id*:s process_id* "
     "thread_id* nc_idx pcore_idx worker_gid flow_id:a framework_stream_id:s extra_attributes_json:s"},
    {"SystemProfileHbmUsage",
     "timestamp*[ns] total_bytes*[B] generic_bytes*[B] tensor_instructions_bytes*[B] scalar_instructions_bytes*[B] "
     "gpsimd_instructions_bytes*[B] io_bytes*[B] dram_spill_bytes*[B] weights_bytes*[B] profiler_buffers_bytes*[B] "
     "scalar_table_bytes*[B] vector_instructions_bytes*[B] sync_instructions_bytes*[B] shared_scratchpad_bytes*[B] "
     "tensors_bytes*[B] ucode_lib_bytes*[B] gpsimd_stdio_bytes*[B] collectives_bytes*[B] scratchpad_bytes*[B] "
     "dma_rings_runtime_bytes*[B] dma_rings_spill_bytes*[B] dma_rings_io_bytes*[B] dma_rings_collectives_bytes*[B] "
     "unknown_bytes*[B] device_idx* hbm_idx* instance_id*:s"},
    {"SystemProfileMetadata",
     "first_ts*:s last_ts*:s first_ts_ns*:s last_ts_ns*:s ntff_version* hbm_capacity_bytes*[B]"},
    {"TensorInfo",
     "variable_name:s type:s format:s shape:s size[B] node pcore_idx load_to_sbuf_avg_size_bytes "
     "load_to_sbuf_total_size_bytes load_to_sbuf_dma_count load_to_sbuf_repeat_factor:r"},
    {"Throttle", "duration*[ns] k* n* timestamp*[ns] type*:s pcore_idx"},
    {"ThrottleSummary",
     "nc_idx* throttle_type:s throttle_active_time_ns[ns] throttle_active_time_percent:r[%] "
     "max_achievable_util_with_throttling_percent:r[%]"},
    {"Warning", "message*:s category*:s"},
};

[[nodiscard]] ValueKind kind_of_letter(char letter) noexcept {
  switch (letter) {
    case 's':
      return ValueKind::text;
    case 'r':
      return ValueKind::real;
    case 'b':
      return ValueKind::truth;
    default:
      return ValueKind::nested;
  }
}

[[nodiscard]] FieldFacts known_field(std::string_view text) {
  FieldFacts field;
  const std::size_t unit = text.find('[');
  if (unit != std::string_view::npos) field.unit = text.substr(unit + 1, text.size() - unit - 2);
  text = text.substr(0, unit);
  const std::size_t colon = text.find(':');
  field.kind = colon == std::string_view::npos ? ValueKind::integer : kind_of_letter(text[colon + 1]);
  text = text.substr(0, colon);
  field.required = text.ends_with('*');
  field.name = text.substr(0, text.size() - (field.required ? 1 : 0));
  return field;
}

// In the words of the column that the rules put it into.
[[nodiscard]] std::string description_of(const Schema& schema, const std::string& field) {
  if (schema.name_column == field) return schema.name_explanation;
  const auto column = schema.find(schema_column_of(schema, field));
  return column ? schema.columns[*column].title + ": " + schema.columns[*column].explanation : std::string{};
}

[[nodiscard]] std::vector<TableFacts> make_known_schema() {
  std::vector<TableFacts> tables;
  for (const KnownTable& known : kKnownTables) {
    TableFacts& table = tables.emplace_back();
    table.name = known.name;
    const TableRule* rule = find_table_rule(known.name);
    const std::optional<Schema> schema = rule == nullptr ? std::nullopt : std::optional(neuron_schema(rule->table));
    for (std::string_view rest = known.fields; !rest.empty();) {
      FieldFacts& field = table.fields.emplace_back(known_field(rest.substr(0, rest.find(' '))));
      if (schema) field.description = description_of(*schema, field.name);
      rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
    }
  }
  return tables;
}

[[nodiscard]] ValueKind kind_of_type(std::string_view type) {
  constexpr std::pair<std::string_view, ValueKind> kTypeWords[] = {
      {"int", ValueKind::integer},  {"number", ValueKind::real}, {"float", ValueKind::real},
      {"double", ValueKind::real},  {"bool", ValueKind::truth},  {"str", ValueKind::text},
      {"array", ValueKind::nested}, {"list", ValueKind::nested}, {"object", ValueKind::nested}};
  const std::string lower = lower_case(type);
  for (const auto& [begin, kind] : kTypeWords) {
    if (lower.starts_with(begin)) return kind;
  }
  return ValueKind::unknown;
}

// "instruction,input", as a list of JSON too.
[[nodiscard]] std::vector<std::string> values_of(std::string_view text) {
  std::vector<std::string> values;
  const auto add = [&](std::string_view value) {
    value = trimmed(value);
    if (!value.empty()) values.emplace_back(value);
  };
  const bool is_list = json::each_element(text, [&](const json::JsonField& item) {
    add(item.text);
    return true;
  });
  if (is_list) return values;
  values.clear();
  for (std::size_t comma = 0; comma != std::string_view::npos; text.remove_prefix(std::min(comma + 1, text.size()))) {
    comma = text.find_first_of(",|;");
    add(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
  }
  return values;
}

struct StatedUnit {
  std::string_view names;  // between blanks
  UnitFacts facts;
};
using Quantity = UnitFacts::Quantity;
constexpr StatedUnit kStatedUnits[] = {
    {" ns nanosecond nanoseconds nsec ", {Quantity::time, 1}},
    {" us µs microsecond microseconds usec ", {Quantity::time, 1e3}},
    {" ms millisecond milliseconds msec ", {Quantity::time, 1e6}},
    {" s sec second seconds ", {Quantity::time, 1e9}},
    {" ps picosecond picoseconds ", {Quantity::time, 1e-3}},
    {" b byte bytes ", {Quantity::bytes, 1}},
    {" kb kilobyte kilobytes ", {Quantity::bytes, 1e3}},
    {" mb megabyte megabytes ", {Quantity::bytes, 1e6}},
    {" gb gigabyte gigabytes ", {Quantity::bytes, 1e9}},
    {" kib kibibyte kibibytes ", {Quantity::bytes, 1024}},
    {" mib mebibyte mebibytes ", {Quantity::bytes, 1 << 20}},
    {" gib gibibyte gibibytes ", {Quantity::bytes, 1 << 30}},
    {" hz hertz ", {Quantity::frequency, 1}},
    {" khz kilohertz ", {Quantity::frequency, 1e3}},
    {" mhz megahertz ", {Quantity::frequency, 1e6}},
    {" ghz gigahertz ", {Quantity::frequency, 1e9}},
    {" % percent percentage pct ", {Quantity::share, 0.01}},
    {" share fraction ratio ", {Quantity::share, 1}},
};

}  // namespace

const FieldFacts* TableFacts::find(std::string_view field) const noexcept {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const FieldFacts& each) { return each.name == field; });
  return found == fields.end() ? nullptr : &*found;
}

const TableFacts* find_table(std::span<const TableFacts> tables, std::string_view name) noexcept {
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const TableFacts& each) { return each.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

const std::vector<TableFacts>& known_schema() {
  static const std::vector<TableFacts> kSchema = make_known_schema();
  return kSchema;
}

void StatedSchema::add(std::span<const json::JsonField> row) {
  constexpr std::size_t kMostTables = 1000;
  constexpr std::size_t kMostFields = 1000;  // of a table
  FieldFacts field;
  std::string table;
  std::string about_table;
  ValueKind format = ValueKind::unknown;
  for (const json::JsonField& value : row) {
    if (value.kind == json::JsonKind::null) continue;
    if (value.key == "table_name") table = value.text;
    if (value.key == "table_description") about_table = value.text;
    if (value.key == "field_name") field.name = value.text;
    if (value.key == "field_description") field.description = value.text;
    if (value.key == "field_type") field.kind = kind_of_type(value.text);
    if (value.key == "field_format") format = kind_of_type(value.text);
    if (value.key == "field_required") field.required = json::to_boolean(value).value_or(false);
    if (value.key == "field_unit") field.unit = trimmed(value.text);
    if (value.key == "field_maximum") field.maximum = json::to_double(value);
    if (value.key == "field_enum_values") field.values = values_of(value.text);
  }
  if (field.kind == ValueKind::unknown) field.kind = format;
  if (table.empty() || field.name.empty()) return;
  auto into = std::find_if(tables_.begin(), tables_.end(), [&](const TableFacts& each) { return each.name == table; });
  if (into == tables_.end()) {
    if (tables_.size() >= kMostTables) return;
    into = tables_.insert(into, {std::move(table), std::move(about_table), {}});
  }
  if (into->fields.size() < kMostFields && into->find(field.name) == nullptr) into->fields.push_back(std::move(field));
}

UnitFacts unit_facts(std::string_view unit) {
  std::string name = lower_case(trimmed(unit));
  bool is_rate = false;
  for (const std::string_view ending : {"/s", "/sec", "/second", "_per_second", " per second", "_per_sec"}) {
    if (is_rate || !name.ends_with(ending) || name.size() == ending.size()) continue;
    is_rate = true;
    name.resize(name.size() - ending.size());
  }
  name = " " + name + " ";
  for (const StatedUnit& row : kStatedUnits) {
    if (row.names.find(name) == std::string_view::npos) continue;
    if (!is_rate) return row.facts;
    if (row.facts.quantity == Quantity::bytes) return {Quantity::rate, row.facts.factor};
  }
  return {};
}

}  // namespace accelscope::capture::sources::neuron
