// What is known when a simulated run is over: the vendor's figures, and tables about tensors, queues and the program.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "capture/sim/kernel/demo_source.h"
#include "capture/sim/kernel/run_metrics.h"
#include "capture/sim/output/session_events.h"
#include "core/base/text.h"
#include "core/export/neuron/neuron_json.h"

namespace accelscope::capture::sim {
namespace {

using sources::neuron::NeuronTable;

[[nodiscard]] std::string core_name(std::size_t core) { return fmt::format("nc{}", core); }
[[nodiscard]] std::string graph_name(std::size_t part) { return fmt::format("sg{:02}", part); }

// The group of the figures that a summary has such a count in.
[[nodiscard]] std::string group_of_count(std::string_view name) {
  constexpr std::string_view kInstructions = "_instruction_count";
  if (name.ends_with(kInstructions)) return std::string(name.substr(0, name.size() - kInstructions.size()));
  return name == "dma_queue_count" ? "data_movement" : "overall_stats";
}

// A row of a table, its fields by their names.
class TableRow {
 public:
  TableRow(SessionWriter& writer, TrackNumber track, NeuronTable table, std::string_view name)
      : writer_(writer), row_(writer.begin_event(track, 0, 0, writer.intern(name))), table_(table) {}
  TableRow& set(std::string_view column, std::int64_t value) {
    row_.integer(place(column), value);
    return *this;
  }
  TableRow& set(std::string_view column, double value) {
    row_.real(place(column), value);
    return *this;
  }
  TableRow& set(std::string_view column, std::string_view value) {
    row_.string(place(column), writer_.intern(value));
    return *this;
  }

 private:
  [[nodiscard]] std::size_t place(std::string_view column) const {
    return sources::neuron::neuron_column(table_, column);
  }
  SessionWriter& writer_;
  Row row_;
  NeuronTable table_;
};

// Rows of texts that name each other.
class IdTable {
 public:
  IdTable(SessionWriter& writer, std::string name, std::initializer_list<const char*> columns) : writer_(writer) {
    Schema schema{.name = name, .kind = EventKind::table, .name_column = "row"};
    for (const char* column : columns) schema.columns.push_back({.name = column, .type = ColumnType::string});
    const SchemaNumber number = writer.add_schema(std::move(schema));
    track_ = writer.add_track({.name = std::move(name), .kind = "table", .device = "nc0", .schema = number});
  }
  void add(const std::vector<std::string>& values) {
    Row row = writer_.begin_event(track_, 0, 0, 0);
    for (std::size_t i = 0; i < values.size(); ++i) row.string(i, writer_.intern(values[i]));
  }

 private:
  SessionWriter& writer_;
  TrackNumber track_;
};

}  // namespace

void SessionEvents::write_tables(const KernelProgram& program, std::span<const RunMetrics> parts,
                                 const RunMetrics& whole) {
  for (std::size_t part = 0; part < parts.size(); ++part) write_layer(parts[part].whole_graph(), part, devices_[part]);
  for (Metric& metric : whole.summary()) {
    if (parts_ > 1) metric.device = whole_;
    writer_.add_metric(std::move(metric));
  }
  if (parts_ > 1) writer_.set_meta("metadata.num_physical_cores", std::to_string(parts_));
  if (vendor_file_) {
    write_vendor_facts(whole);
    write_frame_tables(program);
  }
  write_tensors(program, parts);
  write_program_tables(program, parts);
}

// What the vendor's tool states of a profile and of its device.
void SessionEvents::write_vendor_facts(const RunMetrics& metrics) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t last = metrics.last_ns();
  const auto whole = [](double value) { return fmt::format("{:.0f}", value); };
  const std::pair<const char*, std::string> facts[] = {
      {"metadata.first_hw_timestamp", "0"},
      {"metadata.last_hw_timestamp", fmt::format("{}", last)},
      {"metadata.first_ts", "1970-01-01T00:00:00Z"},
      {"metadata.last_ts", fmt::format("1970-01-01T{:02}:{:02}:{:02}.{:09}Z", last / kSecond / 3600 % 24,
                                       last / kSecond / 60 % 60, last / kSecond % 60, last % kSecond)},
      {"metadata.ntff_version", "5"},
      {"metadata.data_version", "8"},
      {"metadata.hbm_ddr_bandwidth", whole(core_.hbm_bytes_per_second * parts_)},
      {"metadata.dma_ddr_bandwidth", whole(core_.dma_bytes_per_second)},
      {"metadata.pe_clock_freq", fmt::format("{}", core_.pe_clock_ghz)},
      {"metadata.pe_clock_others", fmt::format("{}", core_.core_clock_ghz)},
      {"metadata.pe_num_rows", fmt::format("{}", kPeRows)},
      {"metadata.pe_num_cols", fmt::format("{}", kPeColumns)},
      {"metadata.ticks_per_nanosec", "1000"},
      {"metadata.num_physical_cores", fmt::format("{}", parts_)},
      {"metadata.num_subgraphs", fmt::format("{}", parts_)},
      {"metadata.vnc_enabled", parts_ > 1 ? "true" : "false"},
      {"metadata.is_ext", "true"},
      {"metadata.is_simulation", "true"},
      {"metadata.total_point_count", fmt::format("{}", metrics.trace_count())},
      {"profile_info.profile_name", std::string(kNetworkName)},
      {"profile_info.neff_name", std::string(kNetworkName)},
      {"profile_info.ntff_filename", "transformer_layer.ntff"},
      {"profile_info.profile_type", "normal"},
      {"profile_info.profiler_version", "simulated"},
      {"profile_info.cc_only", "false"},
  };
  for (const auto& [key, value] : facts) writer_.set_meta(key, value);
  writer_.add_metric({.name = "instance_type", .group = "system", .text = instance_type(core_)});
  writer_.add_metric({.name = "profiler_version", .group = "summary", .text = "simulated"});
  for (const char* index : {"nd_idx", "nc_idx"}) writer_.add_metric({.name = index, .group = "summary"});
  std::map<std::string, std::size_t> groups;  // in the order in which the figures name them
  std::string terminology;
  for (const Metric& metric : metrics.summary()) {
    const auto [group, is_new] = groups.try_emplace(metric.group, groups.size());
    if (is_new) writer_.set_meta("summary_group_order." + metric.group, fmt::format("{}", group->second));
    terminology += fmt::format("{}\"{}\":\"The {} of the simulated run.\"", terminology.empty() ? "{" : ",",
                               metric.name, with_blanks(metric.name));
  }
  writer_.set_meta(std::string(exporting::neuron::kRetainedRowPrefix) + "terminology", terminology + "}");
}

// The vendor keeps the frames of stacks as ids of ids. Every pair of line and caller is a frame, and so is the caller.
void SessionEvents::write_frame_tables(const KernelProgram& program) {
  IdTable frames(writer_, "stack_frame", {"id", "file_location_id", "parent_frame_id"});
  IdTable locations(writer_, "stack_frame_file_location", {"id", "file_name_id", "function_name_id", "line_number"});
  IdTable files(writer_, "stack_frame_file_name", {"id", "file_name"});
  IdTable functions(writer_, "stack_frame_function_name", {"id", "function_name"});
  const auto text = [](auto number) { return std::to_string(static_cast<std::int64_t>(number)); };
  std::set<std::pair<Site, Site>> pairs;
  for (std::size_t index = 1; index < program.operations.size(); ++index) {
    const auto site = static_cast<Site>(program.operations[index].site);
    const Site caller = program.texts[index].caller;
    if (site != Site::none) pairs.emplace(site, caller);
    if (caller != Site::none) pairs.emplace(caller, Site::none);
  }
  for (const auto& [site, caller] : pairs) {
    const std::string parent = caller == Site::none ? "" : text(frame_id(caller, Site::none));
    frames.add({text(frame_id(site, caller)), text(site), parent});
  }
  files.add({"1", std::string(kDemoFile)});
  std::map<std::string_view, std::string> known;  // functions
  for (std::size_t site = 1; site < program.sites.size(); ++site) {
    const SitePlace& place = program.sites[site];
    const auto [function, is_new] = known.try_emplace(place.function, text(known.size() + 1));
    if (is_new) functions.add({function->second, std::string(place.function)});
    locations.add({text(site), "1", function->second, text(place.line)});
  }
}

// Each physical core runs the program on tensors of its own.
void SessionEvents::write_tensors(const KernelProgram& program, std::span<const RunMetrics> parts) {
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const TrackNumber track = tracks_.define_table(NeuronTable::neff_node, "Tensors", core_name(part));
    for (const Tensor& tensor : program.tensors) {
      TableRow row(writer_, track, NeuronTable::neff_node, tensor.name);
      row.set("type", tensor.type).set("format", "NC").set("shape", tensor.shape).set("size", tensor.bytes);
      row.set("sg_name", graph_name(part));
      const auto loads = parts[part].loads().find(std::string(tensor.name));
      if (loads == parts[part].loads().end()) continue;
      const auto& [count, bytes] = loads->second;
      row.set("load_to_sbuf_dma_count", count).set("load_to_sbuf_avg_size_bytes", bytes / count);
      row.set("load_to_sbuf_total_size_bytes", bytes);
      row.set("load_to_sbuf_repeat_factor", static_cast<double>(bytes) / static_cast<double>(tensor.bytes));
    }
  }
}

void SessionEvents::write_program_tables(const KernelProgram& program, std::span<const RunMetrics> parts) {
  constexpr std::int64_t kZero = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const TrackNumber queues = tracks_.define_table(NeuronTable::dma_queues_info, "DMA queues", core_name(part));
    for (std::size_t index = 0; index < kQueueCount; ++index) {
      const QueueText& queue = queue_text(static_cast<Queue>(index));
      for (std::int64_t engine = 0; engine < kDmaEngines; ++engine) {
        TableRow row(writer_, queues, NeuronTable::dma_queues_info, queue.name);
        row.set("q_type", queue.made_for).set("q_idx", std::int64_t{queue.ring}).set("q_eng_idx", engine);
        row.set("q_axi_port", kZero).set("q_dram_channel", kZero).set("q_event_id", std::int64_t{-1});
        row.set("subgraph", graph_name(part));
      }
    }
  }
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const TrackNumber memory = tracks_.define_table(NeuronTable::nc_mem_usage, "Device memory", core_name(part));
    for (const MemoryUse& use : device_memory_use(program)) {
      TableRow row(writer_, memory, NeuronTable::nc_mem_usage, use.name);
      row.set("amount_bytes", use.bytes).set("nd", kZero).set("nc", static_cast<std::int64_t>(part));
    }
  }
  {
    TableRow row(writer_, tracks_.define_table(NeuronTable::neff_header, "Program", whole_), NeuronTable::neff_header,
                 kNetworkName);
    const std::pair<std::string_view, std::int64_t> numbers[] = {{"major_version", 2},
                                                                 {"minor_version", 0},
                                                                 {"header_size", 1024},
                                                                 {"number_of_logical_neuroncores", 1},
                                                                 {"number_of_neuroncores_per_lnc", parts_}};
    for (const auto& [column, value] : numbers) row.set(column, value);
    row.set("enabled_features", parts_ > 1 ? "virtual-core, dge" : "dge");
    if (vendor_file_) {
      row.set("uuid", "00000000000000000000000000000001").set("hash", "00000000000000000000000000000002");
      row.set("package_version", std::int64_t{2}).set("data_size", std::int64_t{30720});
    }
  }
  for (std::size_t part = 0; part < parts.size(); ++part) write_model(parts[part], part);
  const TrackNumber warnings = tracks_.define_table(NeuronTable::warnings, "Warnings", whole_);
  Row row = writer_.begin_event(warnings, 0, 0, writer_.intern("Missing Data"));
  row.text(sources::neuron::neuron_column(NeuronTable::warnings, "message"),
           "This profile was simulated: it has no compiler metrics.");
}

// Of one of several cores the counts are figures of the session as well, as in profiles of several.
void SessionEvents::write_model(const RunMetrics& metrics, std::size_t part) {
  std::vector<std::pair<std::string, std::int64_t>> counts = {{"event_count", metrics.event_count()},
                                                              {"trace_count", metrics.trace_count()},
                                                              {"dma_queue_count", metrics.dma_queue_count()},
                                                              {"neuroncore_cycle_count", metrics.cycle_count()}};
  for (std::size_t index = 0; index < kEngineCount; ++index) {
    const auto engine = static_cast<Engine>(index);
    counts.emplace_back(std::string(engine_key(engine)) + "_engine_instruction_count", metrics.instructions(engine));
  }
  const TrackNumber track = tracks_.define_table(NeuronTable::model_info, "Model", core_name(part));
  TableRow row(writer_, track, NeuronTable::model_info, graph_name(part));
  for (const auto& [name, count] : counts) {
    row.set(name, count);
    if (parts_ == 1) continue;
    writer_.add_metric({.name = name,
                        .group = group_of_count(name),
                        .value = static_cast<double>(count),
                        .unit = name == "neuroncore_cycle_count" ? "cycles" : "",
                        .device = core_name(part)});
  }
  row.set("nd_idx", std::int64_t{0}).set("nc_idx", static_cast<std::int64_t>(part));
}

}  // namespace accelscope::capture::sim
