// Logical cores made of several physical ones: which device each row belongs to, whatever it says of it, and the
// figures of the parts and of the whole.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "core/analysis/figures/metrics.h"
#include "core/analysis/figures/range_activity.h"
#include "core/export/neuron/neuron_json.h"
#include "tests/capture/imported.h"

namespace accelscope::capture {
namespace {

constexpr const char* kCoreMetadata =
    R"("metadata":[{"num_physical_cores":2,"pe_clock_freq":2.4,"pe_clock_others":1.2,"pe_num_rows":128,"pe_num_cols":128,)"
    R"("hbm_ddr_bandwidth":716000000000,"last_hw_timestamp":2000}])";
constexpr const char* kCoreModels =
    R"("model_info":[{"sg_name":"sg00","nc_idx":4,"nd_idx":0,"event_count":7},{"sg_name":"sg01","nc_idx":5,"event_count":3}])";

std::string instruction_on(const char* graph, int ts, int duration, const char* opcode, const char* more = "") {
  return fmt::format(
      R"({{"timestamp":{},"duration":{},"opcode":"{}","label":"Tensor","subgroup":"Tensor","subgraph":"{}"{}}})", ts,
      duration, opcode, graph, more);
}
std::string packet_on(const char* graph, int ts, const char* type, int queue, int engine) {
  return fmt::format(
      R"({{"aggregated":"no","timestamp":{},"duration":100,"queue_type":"{}","dma_queue":"{}","dma_engine":"{}","subgroup":"Q{}-E{}","transfer_size":512,"variable":"x","subgraph":"{}"}})",
      ts, type, queue, engine, queue, engine, graph);
}

// The rows come before the tables that say which graph ran where.
std::string two_cores() {
  std::string text = "{\"instruction\":[";
  text += instruction_on("sg00", 0, 100, "MATMUL", R"(,"elements":1000000)") + "," +
          instruction_on("sg00", 200, 100, "MATMUL", R"(,"elements":500000,"instruction_type":"TRANSPOSE")") + "," +
          instruction_on("sg01", 50, 100, "NOP") + "," + instruction_on("sg01", 900, 1000, "EVENT_SEMAPHORE") + "," +
          instruction_on("sg00", 400, 50, "ACTIVATE");
  text += "],\"dma\":[";
  text += packet_on("sg00", 0, "hardware_dynamic", 0, 64) + "," + packet_on("sg00", 10, "hardware_dynamic", 0, 65) +
          "," + packet_on("sg00", 50, "software_dynamic", 1, 64) + "," + packet_on("sg00", 900, "instruction", 14, 67) +
          "," + packet_on("sg00", 900, "instruction", 14, 68) + "," + packet_on("sg01", 920, "instruction", 14, 81) +
          "," + packet_on("sg01", 930, "instruction", 14, 82);
  text +=
      R"(],"semaphore_update":[{"timestamp":5,"id":"2","value":1,"subgraph":"sg00"},)"
      R"({"timestamp":6,"id":"2","value":1,"subgraph":"sg01"},{"timestamp":7,"id":"2","value":2,"subgraph":"sg01"}],)"
      R"("pending_dma":[{"timestamp":1,"value":0,"subgraph":"sg01"}],)"
      R"("dma_throughput":[{"timestamp":1,"transfer_rate":5,"hbm_transfer_rate":2,"subgraph":"sg00"}],)"
      R"("instruction_usage":[{"timestamp":1,"type":"sb","usage_avg":0.5,"subgraph":"sg01"}],)"
      R"("ham":[{"timestamp":1,"duration":5,"k":4,"n":8,"type":0,"subgraph":"sg01"}],)"
      R"("active_time":[{"engine":"tensor","start_ts":0,"end_ts":101,"duration_ns":100,"pcore_idx":0,"subgraph":"sg00"}],)"
      R"("layer_summary":[{"name":"/sg01/x","start":1,"end":12,"duration":10,"fully_qualified_subgraph":"/sg01"}],)"
      R"("nc_mem_usage":[{"usage_type":"Total","amount_bytes":9,"nd":0,"nc":4},{"usage_type":"Total","amount_bytes":8,"nd":0,"nc":5}],)"
      R"("dma_queues_info":[{"q_name":"qScalarTable","q_idx":14,"q_eng_idx":73,"subgraph":"sg00"},)"
      R"({"q_name":"qDveTable","q_idx":14,"q_eng_idx":90,"subgraph":"sg01"},{"q_name":"qAct","q_idx":0,"q_eng_idx":79,"subgraph":"sg00"}],)"
      R"("neff_node":[{"variable_name":"w","type":"WEIGHT","size":"1024","sg_name":""}],)"
      R"("summary":[{"model_flops":0,"hbm_read_bytes":0,"nc_idx":9,"tensor_engine_instruction_count":5}],)";
  return text + kCoreModels + "," + kCoreMetadata + "}";
}

using TrackSet = std::multiset<std::string>;

// "device track" of every event of a table.
TrackSet tracks_with(const Imported& session, std::string_view table) {
  TrackSet all;
  for (const EventValues& event : session.events(table)) all.insert(event.device + " " + event.track);
  return all;
}

std::vector<analysis::SessionMetric> metrics_of(const Imported& session) {
  WorkerPool pool(2);
  TaskControl control;
  const auto metrics = analysis::session_metrics({session.store(), session.shared_snapshot(), pool, control});
  REQUIRE(metrics.ok());
  return *metrics;
}

const analysis::SessionMetric* metric_of(const std::vector<analysis::SessionMetric>& metrics, std::string_view device,
                                         std::string_view name) {
  for (const analysis::SessionMetric& metric : metrics) {
    if (metric.device == device && metric.name == name) return &metric;
  }
  return nullptr;
}

double computed(const std::vector<analysis::SessionMetric>& metrics, std::string_view device, std::string_view name) {
  CAPTURE(name);
  const analysis::SessionMetric* found = metric_of(metrics, device, name);
  REQUIRE(found != nullptr);
  REQUIRE(found->value.has_value());
  return *found->value;
}

std::string json_of_cores(const Imported& session) {
  WorkerPool pool(2);
  TaskControl control;
  exporting::JsonExport request{{session.store(), session.shared_snapshot(), pool, control}, {}, {}, {}};
  request.forms = exporting::neuron::json_forms(session.snapshot());
  std::string text;
  REQUIRE(exporting::export_json(request, [&](std::string_view part) {
            text += part;
            return Result<void>{};
          }).ok());
  return text;
}

}  // namespace

TEST_CASE("every row of a logical core of two physical ones lies on the core that its graph ran on") {
  const Imported session = Imported::text(two_cores());
  CHECK(tracks_with(session, "instruction") ==
        TrackSet{"nc4 Tensor", "nc4 Tensor", "nc4 Tensor", "nc5 Tensor", "nc5 Tensor"});
  CHECK(tracks_with(session, "dma").count("nc5 Q14-E81") == 1);
  CHECK(tracks_with(session, "semaphore_update") == TrackSet{"nc4 2", "nc5 2", "nc5 2"});
  CHECK(tracks_with(session, "pending_dma") == TrackSet{"nc5 Pending DMA"});
  CHECK(tracks_with(session, "dma_throughput") == TrackSet{"nc4 DMA throughput"});
  CHECK(tracks_with(session, "hbm_throughput") == TrackSet{"nc4 HBM throughput"});
  CHECK(tracks_with(session, "sbuf_usage") == TrackSet{"nc5 SBUF usage"});
  CHECK(tracks_with(session, "throttle") == TrackSet{"nc5 Throttling"});
  CHECK(tracks_with(session, "active_time") == TrackSet{"nc4 Active tensor"});
  CHECK(tracks_with(session, "layer_summary") == TrackSet{"nc5 Layers"});
  CHECK(tracks_with(session, "nc_mem_usage") == TrackSet{"nc4 Device memory", "nc5 Device memory"});
  CHECK(tracks_with(session, "neff_node") == TrackSet{"nc4+nc5 Tensors"});
  CHECK(tracks_with(session, "pe_utilization").count("nc4 PE utilisation (estimated)") > 0);
  CHECK(session.quality("unknown_fields") == nullptr);
  // The cores first, then what they share.
  std::vector<std::string> devices;
  for (const TrackSnapshot& track : session.snapshot().tracks) {
    if (devices.empty() || devices.back() != track.track->device) devices.push_back(track.track->device);
  }
  CHECK(devices == std::vector<std::string>{"nc4", "nc5", "nc4+nc5"});
}

TEST_CASE("without a table of models the graphs are counted through the cores, and rows may name the core itself") {
  const Imported session = Imported::text(
      std::string("{\"instruction\":[") + instruction_on("sg01", 0, 5, "A") + "," + instruction_on("sg00", 0, 5, "B") +
      "," + R"({"timestamp":9,"duration":1,"opcode":"C","label":"Tensor","pcore_idx":1}],)" + kCoreMetadata + "}");
  std::map<std::string, std::string> devices;
  for (const EventValues& event : session.events("instruction")) devices[event.name] = event.device;
  CHECK(devices == std::map<std::string, std::string>{{"A", "nc1"}, {"B", "nc0"}, {"C", "nc1"}});
}

TEST_CASE("the graphs of one physical core share its tracks, sorted") {
  std::string text = "{\"instruction\":[";
  for (int i = 0; i < 300; ++i) {
    text += (i == 0 ? "" : ",") +
            instruction_on(i % 3 == 0 ? "sg01" : "sg00", 10 * ((i * 7) % 300), 10, "A", R"(,"operands":"text")");
  }
  text +=
      R"(],"metadata":[{"num_physical_cores":1}],"model_info":[{"sg_name":"sg00","nc_idx":3},{"sg_name":"sg01","nc_idx":3}]})";
  const Imported session = Imported::text(text);
  CHECK(session.count("instruction") == 300);
  std::int64_t last = -1;
  for (const EventValues& event : session.events("instruction")) {
    CHECK(event.device == "nc3");
    CHECK(event.depth == 0);
    CHECK(event.begin >= last);
    CHECK(event.string("operands") == "text");
    last = event.begin;
  }
}

TEST_CASE("figures of a logical core are those of its parts together, and each part has its own") {
  const Imported session = Imported::text(two_cores());
  const auto metrics = metrics_of(session);
  const char* whole = "nc4+nc5";
  CHECK(computed(metrics, whole, "tensor_engine_instruction_count") == 5);
  CHECK(metric_of(metrics, whole, "tensor_engine_instruction_count")->vendor == 5);
  CHECK(computed(metrics, "nc4", "tensor_engine_instruction_count") == 3);
  CHECK(computed(metrics, "nc5", "tensor_engine_instruction_count") == 2);
  // [0, 150) [200, 300) [400, 450) of both: what overlaps counts once. Half a ns is added for each of the stretches.
  CHECK(computed(metrics, whole, "tensor_engine_active_time") == doctest::Approx(301e-9));
  CHECK(computed(metrics, "nc4", "tensor_engine_active_time") == doctest::Approx(251e-9));
  CHECK(computed(metrics, "nc5", "tensor_engine_active_time") == doctest::Approx(100e-9));
  CHECK(computed(metrics, whole, "total_time") == doctest::Approx(1900e-9));
  CHECK(computed(metrics, "nc4", "total_time") == doctest::Approx(1000e-9));
  // One core does 2 x 128 x 128 x 2.4e9 operations a second.
  const double peak = 2 * 128 * 128 * 2.4e9;
  CHECK(computed(metrics, whole, "hfu_estimated_percent") == doctest::Approx(3e6 / (1900e-9 * 2 * peak)));
  CHECK(computed(metrics, "nc4", "hfu_estimated_percent") == doctest::Approx(3e6 / (1000e-9 * peak)));
  CHECK(computed(metrics, whole, "peak_flops_bandwidth_ratio") == doctest::Approx(peak / 716e9));
  // The program states no operations of its graph: those of the instructions but transposes are used.
  CHECK(computed(metrics, whole, "mfu_estimated_percent") == doctest::Approx(2e6 / (1900e-9 * 2 * peak)));
  CHECK(computed(metrics, whole, "mfu_inst_estimated_percent") == computed(metrics, whole, "mfu_estimated_percent"));
  CHECK(computed(metrics, whole, "mfu_hlo_estimated_percent") == 0);
  CHECK(!metric_of(metrics, whole, "model_flops")->value.has_value());
  // Three rings of data, and one queue of instructions on each core, whichever engines fetch for it.
  CHECK(computed(metrics, whole, "dma_queue_count") == 5);
  CHECK(computed(metrics, "nc4", "dma_queue_count") == 4);
  CHECK(computed(metrics, "nc5", "dma_queue_count") == 1);
  // 110 ns of the one kind and 100 of the other, of [0, 150) and [900, 1030).
  CHECK(computed(metrics, whole, "dynamic_dma_active_time_percent") == doctest::Approx(210.0 / 280.0));
  CHECK(computed(metrics, whole, "weight_size_bytes") == 1024);
  CHECK(metric_of(metrics, "nc4", "weight_size_bytes") == nullptr);
  CHECK(metric_of(metrics, "nc4", "event_count")->vendor == 7);  // as the table of models has it
  CHECK(computed(metrics, whole, "throttle_active_nc1_time_ns") == 5);
  // The vendor's figures are of the whole.
  for (const analysis::SessionMetric& one : metrics) {
    if (one.name == "nc_idx" && one.vendor == 9) CHECK(one.device == whole);
  }
}

TEST_CASE("a logical core of which nothing is shared still has figures of the whole") {
  const Imported session = Imported::text(std::string("{\"instruction\":[") + instruction_on("sg00", 0, 5, "A") + "," +
                                          instruction_on("sg01", 3, 5, "A") + "]," + kCoreMetadata + "}");
  CHECK(computed(metrics_of(session), "nc0+nc1", "tensor_engine_instruction_count") == 2);
}

TEST_CASE("a logical core written as JSON and read again has the same devices, tracks and figures") {
  const Imported before = Imported::text(two_cores());
  const Imported after = Imported::text(json_of_cores(before));
  for (const char* table : {"instruction", "dma", "semaphore_update", "pending_dma", "dma_throughput", "sbuf_usage",
                            "throttle", "active_time", "layer_summary", "nc_mem_usage", "neff_node", "dma_queues_info",
                            "model_info", "hbm_throughput"}) {
    CAPTURE(table);
    CHECK(tracks_with(after, table) == tracks_with(before, table));
  }
  const auto old_metrics = metrics_of(before);
  const auto new_metrics = metrics_of(after);
  REQUIRE(new_metrics.size() == old_metrics.size());
  for (std::size_t i = 0; i < old_metrics.size(); ++i) {
    CAPTURE(old_metrics[i].name);
    CHECK(new_metrics[i].name == old_metrics[i].name);
    CHECK(new_metrics[i].device == old_metrics[i].device);
    CHECK(new_metrics[i].value == old_metrics[i].value);
    CHECK(new_metrics[i].vendor == old_metrics[i].vendor);
  }
}

TEST_CASE("figures of real profiles agree with the vendor's, and active time within a thousandth") {
  const char* root = std::getenv("ACCELSCOPE_REAL_DATA");
  if (root == nullptr) return;
  // What the vendor's file cannot be made from (see the terminology).
  const std::set<std::string> known = {"event_count", "trace_count"};
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(root) / "neuron")) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    CAPTURE(entry.path().string());
    const Imported session = Imported::file(entry.path().string());
    const auto metrics = metrics_of(session);
    double total_active = 0;
    for (const analysis::SessionMetric& one : metrics) {
      CAPTURE(one.name);
      CAPTURE(one.device);
      CAPTURE(one.value.value_or(-1));
      CAPTURE(one.vendor.value_or(-1));
      if (analysis::check(one) == analysis::MetricCheck::differs) CHECK(known.contains(one.name));
      if (one.name != "total_active_time" || !one.vendor) continue;
      CHECK(std::abs(*analysis::relative_difference(one)) < 0.001);
      total_active = *one.value;
    }
    WorkerPool pool(2);
    TaskControl control;
    const auto active = analysis::range_activity({session.store(), session.shared_snapshot(), pool, control}, {});
    REQUIRE(active.ok());
    CHECK(static_cast<double>((*active)->active_ns) * 1e-9 == doctest::Approx(total_active).epsilon(1e-9));
  }
  CHECK(files > 0);
}

}  // namespace accelscope::capture
