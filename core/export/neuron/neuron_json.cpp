#include "core/export/neuron/neuron_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "core/analysis/time/track_devices.h"
#include "core/base/json.h"

namespace accelscope::exporting::neuron {
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
      {.schema = "framework_event", .table = "trace_events"},
      {.schema = "host_transfer", .table = "", .comes_back = true},  // from the calls
      {.schema = "hbm_usage", .table = "", .left_out = "the vendor's JSON has no table of the use of HBM over time"},
      {.schema = "host_memory", .table = "mem_usage", .has_name = false},
      {.schema = "cpu_util", .table = "cpu_util", .has_name = false},
  };
  return kTables;
}

constexpr std::array<std::string_view, 1> kDerivedFlows = {"DMA_TRIGGER"};  // from the column trigger

[[nodiscard]] bool has_frame_tables(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.tracks, [](const TrackSnapshot& track) {
    return track.track->kind == "table" && track.track->name.starts_with("stack_frame");
  });
}

}  // namespace

bool is_neuron_session(const Snapshot& snapshot) {
  constexpr std::array<std::string_view, 4> kTelling = {"instruction", "dma_transfer", "neff_node", "trace_event"};
  return std::ranges::any_of(snapshot.schemas, [&](const auto& schema) {
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

namespace {

// Facts are kept as texts. Those that read as a number or a truth value are written as one, as the vendor does.
[[nodiscard]] bool is_bare_json(std::string_view text) {
  if (text == "true" || text == "false") return true;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || digits.front() < '0' || digits.front() > '9') return false;
  if (digits.size() > 1 && digits[0] == '0' && digits[1] != '.') return false;  // "007" is no number in JSON
  if (digits.back() < '0' || digits.back() > '9') return false;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) &&
         digits.find("..") == std::string_view::npos && digits.find(".e") == std::string_view::npos &&
         digits.find(".E") == std::string_view::npos;
}

[[nodiscard]] bool is_table_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Written from their events; the facts repeat them.
[[nodiscard]] bool has_events(const Snapshot& snapshot, std::string_view table) {
  return std::ranges::any_of(
      snapshot.lanes, [&](const LaneSnapshot& lane) { return lane.schema->name == table && lane.event_count > 0; });
}

// A row of the vendor's that an import kept, as JSON; empty if there is none.
[[nodiscard]] std::string_view retained_row(const Snapshot& snapshot, std::string_view table) {
  const std::string_view row = snapshot.meta_value(std::string(kRetainedRowPrefix).append(table));
  return row.size() > 2 && row.front() == '{' && row.back() == '}' ? row : std::string_view{};
}

// The physical cores of logical ones, where model_info states their figures.
[[nodiscard]] std::set<std::string> parts_of_cores(const Snapshot& snapshot) {
  std::set<std::string> parts;
  if (!has_events(snapshot, "model_info")) return parts;
  for (const TrackSnapshot& track : snapshot.tracks) {
    for (std::string& part : analysis::parts_of_device(track.track->device)) parts.insert(std::move(part));
  }
  return parts;
}

// One row of figures for each device, and the group of each figure where the vendor's own row of groups is not kept.
void add_summary(const Snapshot& snapshot, std::vector<FactTable>& tables) {
  std::vector<std::pair<std::string, JsonWriter>> rows;  // by device
  JsonWriter groups = JsonWriter().begin_object();
  std::set<std::string_view> grouped;
  const std::set<std::string> parts = parts_of_cores(snapshot);
  for (const Metric& metric : snapshot.metrics) {
    if (parts.contains(metric.device)) continue;
    auto row = std::ranges::find_if(rows, [&](const auto& r) { return r.first == metric.device; });
    if (row == rows.end()) row = rows.emplace(rows.end(), metric.device, JsonWriter().begin_object());
    row->second.add(metric.name, metric.text.empty() ? JsonValue(metric.value) : metric.text);
    if (grouped.insert(metric.name).second) groups.add(metric.name, metric.group);
  }
  if (!rows.empty()) {
    FactTable summary{"summary", {}};
    for (auto& [device, row] : rows) {
      if (rows.size() > 1) row.add("device", device);
      summary.rows.push_back(row.done());
    }
    tables.push_back(std::move(summary));
  }
  if (const std::string_view retained = retained_row(snapshot, "summary_groups"); !retained.empty()) {
    tables.push_back({"summary_groups", {std::string(retained)}});
  } else if (!grouped.empty()) {
    tables.push_back({"summary_groups", {groups.done()}});
  }
  if (const std::string_view retained = retained_row(snapshot, "terminology"); !retained.empty()) {
    tables.push_back({"terminology", {std::string(retained)}});
  }
}

// What an import notes for the viewer, and no vendor's table holds.
[[nodiscard]] bool is_our_own(std::string_view table) { return table == "source" || table == "capacity"; }

}  // namespace

std::vector<FactTable> fact_tables(const Snapshot& snapshot) {
  std::map<std::string, JsonWriter, std::less<>> rows;
  for (const MetaEntry& entry : snapshot.meta) {
    const std::size_t dot = entry.key.find('.');
    if (dot == std::string::npos) continue;
    const std::string_view table = std::string_view(entry.key).substr(0, dot);
    if (is_our_own(table) || !is_table_name(table) || has_events(snapshot, table)) continue;
    const auto row = rows.try_emplace(std::string(table), JsonWriter().begin_object()).first;
    row->second.add(std::string_view(entry.key).substr(dot + 1),
                    is_bare_json(entry.value) ? JsonValue::raw(entry.value) : entry.value);
  }
  std::vector<FactTable> tables;
  for (auto& [table, row] : rows) tables.push_back({table, {row.done()}});
  add_summary(snapshot, tables);
  return tables;
}

}  // namespace accelscope::exporting::neuron
