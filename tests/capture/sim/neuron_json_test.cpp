#include <doctest/doctest.h>
#include <simdjson.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "capture/sim/output/simulator.h"
#include "tests/capture/recording_sink.h"
#include "tests/support/neuron/simulated_profile.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

class TemporaryFile {
 public:
  // Tests run side by side: each has its own file.
  explicit TemporaryFile(const char* name)
      : path_((std::filesystem::temp_directory_path() / (std::to_string(std::random_device{}()) + name)).string()) {}
  ~TemporaryFile() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

struct Written {
  simdjson::dom::parser parser;
  simdjson::dom::object tables;
  explicit Written(const sim::SimulationOptions& options) {
    const TemporaryFile file("accelscope_sim_test.json");
    const Result<void> done = write_simulated_profile(options, file.path());
    REQUIRE(done.ok());
    REQUIRE(parser.parse(simdjson::padded_string(file.content())).get(tables) == simdjson::SUCCESS);
  }
  [[nodiscard]] simdjson::dom::array rows(const char* table) const { return tables[table].get_array().value(); }
  [[nodiscard]] std::int64_t sum(const char* table, const char* field) const {
    std::int64_t total = 0;
    for (const auto row : rows(table)) {
      std::int64_t value = 0;
      if (row[field].get(value) == simdjson::SUCCESS) total += value;
    }
    return total;
  }
};

}  // namespace

TEST_CASE("a simulated Neuron JSON file has as many rows, and the same sums, as the session of the same options") {
  const sim::SimulationOptions options{.seed = 11, .kernels = 2};
  const Written written(options);
  RecordingSink sink;
  REQUIRE(sim::simulate(*sim::vendor_file_options(options), sink).ok());
  std::map<std::string, std::uint64_t> counts;
  std::map<std::string, std::int64_t> durations, starts;
  std::int64_t waits = 0, bytes = 0;
  for (const RecordedEvent& event : sink.events()) {
    const Schema& schema = sink.schema_of(event);
    counts[schema.name] += 1;
    durations[schema.name] += event.end - event.start;
    starts[schema.name] += event.start;
    const ChunkView chunk = sink.view(event);
    if (schema.name == "instruction") waits += chunk.int64(schema.find("evt_wait_time").value(), event.row);
    if (schema.name == "dma") bytes += chunk.int64(schema.find("transfer_size").value(), event.row);
  }
  const std::pair<const char*, const char*> same[] = {{"instruction", "instruction"},
                                                      {"semaphore_update", "semaphore_update"},
                                                      {"cc_ops", "cc_op"},
                                                      {"cc_instruction", "cc_instruction"},
                                                      {"pending_dma", "pending_dma"},
                                                      {"dma_throughput", "dma_throughput"},
                                                      {"dma_throughput", "hbm_throughput"},
                                                      {"ham", "throttle"},
                                                      {"active_time", "active_time"},
                                                      {"layer_summary", "layer_summary"},
                                                      {"dma_queues_info", "dma_queues_info"},
                                                      {"nc_mem_usage", "nc_mem_usage"},
                                                      {"neff_header", "neff_header"},
                                                      {"model_info", "model_info"},
                                                      {"warnings", "warnings"},
                                                      {"error", "error"}};
  for (const auto& [json, schema] : same) {
    CAPTURE(json);
    CHECK(written.rows(json).size() == counts[schema]);
  }
  CHECK(written.rows("dma").size() == counts["dma"] + counts["dma_transfer"]);
  CHECK(written.rows("instruction_usage").size() == counts["sbuf_usage"] + counts["psum_usage"]);
  CHECK(written.sum("instruction", "timestamp") == starts["instruction"]);
  CHECK(written.sum("instruction", "duration") == durations["instruction"]);
  CHECK(written.sum("instruction", "evt_wait_time") == waits);
  CHECK(written.sum("dma", "duration") == durations["dma"] + durations["dma_transfer"]);
  CHECK(written.sum("semaphore_update", "timestamp") == starts["semaphore_update"]);

  std::int64_t packet_bytes = 0;
  std::uint64_t predecessors = 0;
  for (const auto row : written.rows("dma")) {
    if (row["aggregated"].get_string().value() == "no") packet_bytes += row["transfer_size"].get_int64().value();
  }
  for (const auto row : written.rows("instruction")) {
    simdjson::dom::array list;
    if (row["predecessors"].get(list) == simdjson::SUCCESS) predecessors += list.size();
  }
  CHECK(packet_bytes == bytes);
  // Transfers and collectives have predecessors in a session only.
  CHECK(predecessors == counts["dependency"] - counts["dma_transfer"] - 2 * counts["cc_op"]);
}

TEST_CASE("a simulated Neuron JSON file has the habits of real ones that trip readers up") {
  const Written written({.seed = 2, .kernels = 1});
  bool unsorted = false, no_duration = false, large_id = false, layer_missing = false, layer_empty = false;
  std::set<std::string> first_keys;
  std::int64_t last = 0;
  for (const auto row : written.rows("instruction")) {
    const std::int64_t start = row["timestamp"].get_int64().value();
    unsorted = unsorted || start < last;
    last = start;
    no_duration = no_duration || row["duration"].get_int64().value() == 0;
    large_id = large_id || row["id"].get_int64().value() > (std::int64_t{1} << 60);
    std::string_view layer;
    const bool has_layer = row["layer"].get(layer) == simdjson::SUCCESS;
    layer_missing = layer_missing || !has_layer;
    layer_empty = layer_empty || (has_layer && layer.empty());
    first_keys.emplace((*row.get_object().value().begin()).key);
  }
  CHECK(unsorted);
  CHECK(no_duration);
  CHECK(large_id);
  CHECK(layer_missing);
  CHECK(layer_empty);
  CHECK(first_keys.size() > 10);
  for (const auto row : written.rows("dma")) {
    REQUIRE(row["dma_engine"].is_string());
    REQUIRE(row["is_cc_dma"].get_string().value() == "no");
    REQUIRE(row["source"].is_array());
  }
  CHECK(written.rows("neff_node").at(2)["size"].is_string());
  CHECK(written.rows("metadata").at(0)["last_hw_timestamp"].get_int64().value() > 1'900'000);
}

TEST_CASE("the same seed writes the same Neuron JSON file") {
  const TemporaryFile first("accelscope_sim_a.json");
  const TemporaryFile second("accelscope_sim_b.json");
  const TemporaryFile other("accelscope_sim_c.json");
  REQUIRE(write_simulated_profile({.seed = 4, .kernels = 1}, first.path()).ok());
  REQUIRE(write_simulated_profile({.seed = 4, .kernels = 1}, second.path()).ok());
  REQUIRE(write_simulated_profile({.seed = 5, .kernels = 1}, other.path()).ok());
  CHECK(first.content() == second.content());
  CHECK(first.content() != other.content());
}

TEST_CASE("a Neuron JSON file of several cores is refused") {
  const Result<sim::SimulationOptions> several = sim::vendor_file_options({.kernels = 1, .devices = 2});
  REQUIRE_FALSE(several.ok());
  CHECK(several.message().find("one file per core") != std::string::npos);
}
