#include "capture/sim/output/json_facts.h"

#include <array>
#include <cmath>
#include <set>

#include "capture/sim/kernel/profile_text.h"
#include "capture/sim/kernel/time_model.h"

namespace accelscope::capture::sim {
namespace {

struct Facts {
  const KernelProgram& program;
  const RunMetrics& metrics;
  JsonRows& rows;
};

void write_summary(const Facts& facts) {
  facts.rows.begin_row();
  for (const Metric& metric : facts.metrics.summary()) {
    const bool whole = metric.unit != "s" && metric.unit != "share" && metric.value == std::floor(metric.value);
    if (whole) {
      facts.rows.integer(metric.name, static_cast<std::int64_t>(metric.value));
    } else {
      facts.rows.real(metric.name, metric.value);
    }
  }
  facts.rows.text("instance_type", "simulated");
  facts.rows.text("profiler_version", "simulated");
  facts.rows.integer("nd_idx", 0);
  facts.rows.integer("nc_idx", 0);
  facts.rows.end_row();
}

void write_summary_groups(const Facts& facts) {
  facts.rows.begin_row();
  for (const Metric& metric : facts.metrics.summary()) facts.rows.text(metric.name, metric.group);
  facts.rows.text("instance_type", "system");
  facts.rows.end_row();
}

void write_group_order(const Facts& facts) {
  constexpr std::string_view kGroups[] = {"overall_stats",
                                          "data_movement",
                                          "software_data_movement",
                                          "hardware_data_movement",
                                          "tensor_engine",
                                          "vector_engine",
                                          "scalar_engine",
                                          "sync_engine",
                                          "gpsimd_engine",
                                          "cc_engine",
                                          "system",
                                          "throttling_nc0",
                                          "throttling_nc1",
                                          "server_upload"};
  facts.rows.begin_row();
  for (std::size_t index = 0; index < std::size(kGroups); ++index) {
    facts.rows.integer(kGroups[index], static_cast<std::int64_t>(index));
  }
  facts.rows.end_row();
}

void write_terminology(const Facts& facts) {
  facts.rows.begin_row();
  for (const Metric& metric : facts.metrics.summary()) {
    std::string words = metric.name;
    for (char& letter : words) letter = letter == '_' ? ' ' : letter;
    facts.rows.text(metric.name, "The " + words + " of the simulated run.");
  }
  facts.rows.end_row();
}

void write_metadata(const Facts& facts) {
  JsonRows& rows = facts.rows;
  const std::string digits = std::to_string(1'000'000'000 + facts.metrics.last_ns() % 1'000'000'000).substr(1);
  rows.begin_row();
  rows.integer("first_hw_timestamp", 0);
  rows.integer("last_hw_timestamp", facts.metrics.last_ns());
  rows.text("first_ts", "1970-01-01T00:00:00Z");
  if (facts.metrics.last_ns() < 60'000'000'000) {
    const std::int64_t whole = facts.metrics.last_ns() / 1'000'000'000;
    rows.text("last_ts", "1970-01-01T00:00:" + std::to_string(100 + whole).substr(1) + "." + digits + "Z");
  }
  rows.integer("ntff_version", 5);
  rows.integer("data_version", 8);
  rows.real("hbm_ddr_bandwidth", kHbmBytesPerSecond);
  rows.real("dma_ddr_bandwidth", kDmaBytesPerSecond);
  rows.real("pe_clock_freq", kPeClockGhz);
  rows.real("pe_clock_others", kCoreClockGhz);
  rows.integer("pe_num_rows", kPeRows);
  rows.integer("pe_num_cols", kPeColumns);
  rows.integer("ticks_per_nanosec", 1000);
  rows.integer("num_physical_cores", 1);
  rows.integer("num_subgraphs", 1);
  rows.raw("vnc_enabled", "false");
  rows.raw("is_ext", "true");
  rows.raw("is_simulation", "true");
  rows.integer("total_point_count", facts.metrics.trace_count());
  rows.end_row();
}

void write_profile_info(const Facts& facts) {
  facts.rows.begin_row();
  facts.rows.text("profile_name", kNetworkName);
  facts.rows.text("neff_name", kNetworkName);
  facts.rows.text("ntff_filename", "transformer_layer.ntff");
  facts.rows.text("profile_type", "normal");
  facts.rows.text("profiler_version", "simulated");
  facts.rows.raw("cc_only", "false");
  facts.rows.end_row();
}

void write_tensors(const Facts& facts) {
  JsonRows& rows = facts.rows;
  rows.begin_row();  // the graph itself has no variable
  rows.text("variable_name", "");
  rows.text("type", "");
  rows.text("format", "");
  rows.text("shape", "");
  rows.text("node", "2");
  rows.text("sg_name", "sg00");
  rows.end_row();
  for (const Tensor& tensor : facts.program.tensors) {
    rows.begin_row();
    rows.text("variable_name", tensor.name);
    rows.text("type", tensor.type);
    rows.text("format", "NC");
    rows.text("shape", tensor.shape);
    rows.text_number("size", tensor.bytes);
    rows.text("sg_name", "sg00");
    const auto loads = facts.metrics.loads().find(std::string(tensor.name));
    if (loads != facts.metrics.loads().end()) {
      rows.integer("load_to_sbuf_dma_count", loads->second.count);
      rows.integer("load_to_sbuf_avg_size_bytes", loads->second.bytes / loads->second.count);
      rows.integer("load_to_sbuf_total_size_bytes", loads->second.bytes);
      rows.real("load_to_sbuf_repeat_factor",
                static_cast<double>(loads->second.bytes) / static_cast<double>(tensor.bytes));
    }
    rows.end_row();
  }
}

void write_queues(const Facts& facts) {
  for (std::size_t index = 0; index < kQueueCount; ++index) {
    const QueueText& queue = queue_text(static_cast<Queue>(index));
    for (std::int64_t engine = 0; engine < kDmaEngines; ++engine) {
      facts.rows.begin_row();
      facts.rows.text("q_name", queue.name);
      facts.rows.text("q_type", queue.made_for);
      facts.rows.integer("q_idx", queue.ring);
      facts.rows.integer("q_eng_idx", engine);
      facts.rows.integer("q_axi_port", 0);
      facts.rows.integer("q_dram_channel", 0);
      facts.rows.integer("q_event_id", -1);
      facts.rows.text("subgraph", "sg00");
      facts.rows.end_row();
    }
  }
}

void write_memory_use(const Facts& facts) {
  for (const MemoryUse& use : device_memory_use(facts.program)) {
    facts.rows.begin_row();
    facts.rows.text("usage_type", use.name);
    facts.rows.integer("amount_bytes", use.bytes);
    facts.rows.integer("nd", 0);
    facts.rows.integer("nc", 0);
    facts.rows.end_row();
  }
}

void write_header(const Facts& facts) {
  constexpr std::pair<std::string_view, std::string_view> kFields[] = {{"network_name", kNetworkName},
                                                                       {"uuid", "00000000000000000000000000000001"},
                                                                       {"hash", "00000000000000000000000000000002"},
                                                                       {"major_version", "2"},
                                                                       {"minor_version", "0"},
                                                                       {"package_version", "2"},
                                                                       {"build_version", ""},
                                                                       {"enabled_features", "dge"},
                                                                       {"header_size", "1024"},
                                                                       {"data_size", "30720"},
                                                                       {"number_of_logical_neuroncores", "1"},
                                                                       {"number_of_neuroncores_per_lnc", "1"}};
  facts.rows.begin_row();
  for (const auto& [key, value] : kFields) facts.rows.text(key, value);
  facts.rows.end_row();
}

void write_model(const Facts& facts) {
  facts.rows.begin_row();
  facts.rows.text("sg_name", "sg00");
  facts.rows.integer("event_count", facts.metrics.event_count());
  facts.rows.integer("trace_count", facts.metrics.trace_count());
  facts.rows.integer("dma_queue_count", static_cast<std::int64_t>(kQueueCount) * kDmaEngines);
  facts.rows.integer("neuroncore_cycle_count", facts.metrics.cycle_count());
  for (std::size_t index = 0; index < kEngineCount; ++index) {
    const auto engine = static_cast<Engine>(index);
    facts.rows.integer(std::string(engine_key(engine)) + "_engine_instruction_count",
                       facts.metrics.instructions(engine));
  }
  facts.rows.integer("nd_idx", 0);
  facts.rows.integer("nc_idx", 0);
  facts.rows.end_row();
}

void write_warnings(const Facts& facts) {
  facts.rows.begin_row();
  facts.rows.text("category", "Missing Data");
  facts.rows.text("message", "This profile was simulated: it has no compiler metrics.");
  facts.rows.end_row();
}

// Every (line, caller) pair of the program is a frame, and so is the caller.
std::set<std::pair<Site, Site>> frames_of(const KernelProgram& program) {
  std::set<std::pair<Site, Site>> frames;
  for (std::size_t index = 1; index < program.operations.size(); ++index) {
    const auto site = static_cast<Site>(program.operations[index].site);
    const Site caller = program.texts[index].caller;
    if (site != Site::none) frames.emplace(site, caller);
    if (caller != Site::none) frames.emplace(caller, Site::none);
  }
  return frames;
}

void write_frames(const Facts& facts) {
  for (const auto& [site, caller] : frames_of(facts.program)) {
    facts.rows.begin_row();
    facts.rows.text_number("id", frame_id(site, caller));
    facts.rows.integer("file_location_id", static_cast<std::int64_t>(site));
    facts.rows.text("parent_frame_id", caller == Site::none ? "" : std::to_string(frame_id(caller, Site::none)));
    facts.rows.end_row();
  }
}

std::int64_t function_number(const KernelProgram& program, std::size_t site) {
  return program.sites[site].function == "transpose" ? 1 : (program.sites[site].function == "mlp" ? 2 : 3);
}

void write_frame_locations(const Facts& facts) {
  for (std::size_t site = 1; site < facts.program.sites.size(); ++site) {
    facts.rows.begin_row();
    facts.rows.text_number("id", static_cast<std::int64_t>(site));
    facts.rows.integer("file_name_id", 1);
    facts.rows.integer("function_name_id", function_number(facts.program, site));
    facts.rows.integer("line_number", facts.program.sites[site].line);
    facts.rows.end_row();
  }
}

void write_frame_files(const Facts& facts) {
  facts.rows.begin_row();
  facts.rows.text("id", "1");
  facts.rows.text("name", kDemoFile);
  facts.rows.end_row();
}

void write_frame_functions(const Facts& facts) {
  constexpr std::string_view kFunctions[] = {"transpose", "mlp", "attention"};
  for (std::size_t index = 0; index < std::size(kFunctions); ++index) {
    facts.rows.begin_row();
    facts.rows.text_number("id", static_cast<std::int64_t>(index + 1));
    facts.rows.text("name", kFunctions[index]);
    facts.rows.end_row();
  }
}

struct Entry {
  std::string_view name;
  void (*write)(const Facts&);
};

constexpr Entry kEntries[] = {
    {"summary", write_summary},
    {"summary_groups", write_summary_groups},
    {"summary_group_order", write_group_order},
    {"terminology", write_terminology},
    {"metadata", write_metadata},
    {"profile_info", write_profile_info},
    {"neff_node", write_tensors},
    {"dma_queues_info", write_queues},
    {"nc_mem_usage", write_memory_use},
    {"neff_header", write_header},
    {"model_info", write_model},
    {"warnings", write_warnings},
    {"stack_frame", write_frames},
    {"stack_frame_file_location", write_frame_locations},
    {"stack_frame_file_name", write_frame_files},
    {"stack_frame_function_name", write_frame_functions},
};

}  // namespace

std::vector<std::string_view> json_fact_tables() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
}

void write_json_facts(std::string_view table, const KernelProgram& program, const RunMetrics& metrics, JsonRows& rows) {
  for (const Entry& entry : kEntries) {
    if (entry.name == table) entry.write({program, metrics, rows});
  }
}

}  // namespace accelscope::capture::sim
