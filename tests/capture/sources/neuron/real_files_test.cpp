// Real profiles, where the environment names a folder that holds some: every row of every table arrives, and the sums
// that the vendor states come out of the store again.
#include <doctest/doctest.h>
#include <simdjson.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/capture/imported.h"

namespace accelscope::capture {
namespace {

std::vector<std::string> real_files() {
  std::vector<std::string> files;
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return files;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder) / "neuron", failure)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  return files;
}

double summary_value(const simdjson::dom::element& document, const char* name) {
  double value = 0;
  REQUIRE(document["summary"].at(0)[name].get(value) == simdjson::SUCCESS);
  return value;
}

// Length of the union of the intervals of all lanes of an engine's tracks, waits left out.
std::int64_t active_time(const Imported& session, std::string_view engine) {
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
  for (const EventValues& event : session.events("instruction")) {
    if (event.string("subgroup") == engine && event.name != "EVENT_SEMAPHORE")
      intervals.emplace_back(event.begin, event.end);
  }
  std::sort(intervals.begin(), intervals.end());
  std::int64_t total = 0;
  std::int64_t covered = INT64_MIN;
  for (const auto& [begin, end] : intervals) {
    total += std::max<std::int64_t>(0, end - std::max(begin, covered));
    covered = std::max(covered, end);
  }
  return total;
}

// A real file as plain JSON and as we read it.
struct RealProfile {
  explicit RealProfile(const std::string& file) : session(Imported::file(file)) {
    REQUIRE(parser.load(file).get(document) == simdjson::SUCCESS);
  }
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  Imported session;
};

}  // namespace

TEST_CASE("every row of every table of a real profile is in the session") {
  for (const std::string& file : real_files()) {
    CAPTURE(file);
    const RealProfile profile(file);
    const simdjson::dom::element& document = profile.document;
    const Imported& session = profile.session;
    std::size_t transfers = 0;
    std::size_t packets = 0;
    std::size_t psum = 0;
    std::size_t predecessors = 0;
    for (const auto row : document["dma"].get_array()) {
      ++(std::string_view(row["aggregated"]) == "yes" ? transfers : packets);
    }
    for (const auto row : document["instruction_usage"].get_array())
      psum += std::string_view(row["type"]) == "psum" ? 1 : 0;
    for (const auto row : document["instruction"].get_array()) {
      simdjson::dom::array list;
      if (row["predecessors"].get(list) == simdjson::SUCCESS) predecessors += list.size();
    }
    const auto rows = [&](const char* table) { return document[table].get_array().value_unsafe().size(); };
    CHECK(session.count("dma") == packets);
    CHECK(session.count("dma_transfer") == transfers);
    CHECK(session.count("psum_usage") == psum);
    CHECK(session.count("sbuf_usage") == rows("instruction_usage") - psum);
    CHECK(session.count("hbm_throughput") == rows("dma_throughput"));
    CHECK(session.count("throttle") == rows("ham"));
    CHECK(session.count("dependency") == predecessors + transfers);  // and one arrow per triggered transfer
    for (const char* table :
         {"instruction", "semaphore_update", "pending_dma", "dma_throughput", "active_time", "layer_summary",
          "neff_node", "dma_queues_info", "nc_mem_usage", "neff_header", "model_info", "warnings"}) {
      CAPTURE(table);
      CHECK(session.count(table) == rows(table));
    }
    // And the figures of each physical core that model_info states.
    std::size_t figures = document["summary"].at(0).get_object().value_unsafe().size();
    if (rows("model_info") > 1) {
      for (const auto row : document["model_info"].get_array()) figures += row.get_object().value_unsafe().size() - 1;
    }
    CHECK(session.snapshot().metrics.size() == figures);
    CHECK(session.quality("rows_skipped") == nullptr);
    CHECK(session.quality("wrong_types") == nullptr);
    CHECK(session.quality("unknown_fields") == nullptr);
    CHECK(session.quality("unknown_table") == nullptr);
    CHECK(session.quality("time_check") == nullptr);
  }
}

TEST_CASE("sums over a real profile's events equal the figures that the vendor states") {
  for (const std::string& file : real_files()) {
    CAPTURE(file);
    const RealProfile profile(file);
    const simdjson::dom::element& document = profile.document;
    const Imported& session = profile.session;
    std::int64_t flops = 0;
    std::int64_t transposes = 0;
    std::int64_t last = 0;
    for (const EventValues& event : session.events("instruction")) {
      last = std::max(last, event.end);
      const std::int64_t work = event.integer("raw_flops").value_or(0);
      flops += work;
      if (event.string("instruction_type") == "TRANSPOSE") transposes += work;
    }
    CHECK(static_cast<double>(flops) == summary_value(document, "hardware_flops"));
    CHECK(static_cast<double>(transposes) == summary_value(document, "transpose_flops"));
    CHECK(std::abs(static_cast<double>(last) * 1e-9 - summary_value(document, "total_time")) < 3e-6);
    for (const auto& [engine, metric] : std::map<std::string, const char*>{{"Vector", "vector_engine_active_time"},
                                                                           {"Scalar", "scalar_engine_active_time"},
                                                                           {"GpSimd", "gpsimd_engine_active_time"},
                                                                           {"Tensor", "tensor_engine_active_time"}}) {
      CAPTURE(engine);
      const double stated = summary_value(document, metric) * 1e9;
      CHECK(std::abs(static_cast<double>(active_time(session, engine)) - stated) < stated * 0.03 + 20);
    }
  }
}

}  // namespace accelscope::capture
