// Importing a generated Neuron Profile JSON file into a store in memory, against simdjson reading the same bytes and
// doing nothing with them.
#include <fmt/format.h>
#include <simdjson.h>

#include <filesystem>

#include "capture/sources/base/importers.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/import/import_cost.h"
#include "tests/support/neuron/simulated_profile.h"

namespace accelscope::bench {
namespace {

constexpr double kFileBytes = 1e9;

// The simulator counts events, not bytes: a small file tells how many bytes an event takes.
std::uint64_t write_file(const std::string& path, double bytes) {
  capture::sim::SimulationOptions simulation;
  simulation.events = 100'000;
  if (!write_simulated_profile(simulation, path)) return 0;
  const double bytes_per_event =
      static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(simulation.events);
  simulation.events = static_cast<std::uint64_t>(bytes / bytes_per_event);
  if (!write_simulated_profile(simulation, path)) return 0;
  return std::filesystem::file_size(path);
}

// Every field of every row is stepped over; no value is looked at.
std::uint64_t count_fields(const std::string& path) {
  simdjson::padded_string text;
  if (simdjson::padded_string::load(path).get(text) != simdjson::SUCCESS) return 0;
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS) return 0;
  std::uint64_t fields = 0;
  for (auto table : document.get_object()) {
    for (auto row : table.value().get_array()) {
      for (auto field : row.get_object()) fields += field.error() == simdjson::SUCCESS ? 1 : 0;
    }
  }
  return fields;
}

}  // namespace

void bench_neuron_import(const BenchOptions& options) {
  const std::string path = options.work_folder + "/neuron_import.json";
  const std::uint64_t bytes = write_file(path, kFileBytes * options.scale);
  if (bytes == 0) return;
  const auto cost = import_cost("neuron_import", 0, [&](EventSink& sink) {
    return capture::sources::import_file(capture::sources::neuron::import_neuron_json, path, {}, sink);
  });
  if (!cost) return;
  std::uint64_t fields = 0;
  const double parsing = best_seconds(2, [&] { fields = count_fields(path); });
  std::filesystem::remove(path);
  const double megabytes = static_cast<double>(bytes) / 1e6;
  const std::string recipe = fmt::format(
      "{:.0f} MB written by the simulator, {} events of all tables, {} fields; yardstick: simdjson stepping over the "
      "fields of the whole file in memory",
      megabytes, cost->events, fields);
  report({"neuron_import", megabytes / cost->seconds, "MB/s", "at least 200", "simdjson alone", megabytes / parsing,
          recipe});
  report({"neuron_import_memory", cost->peak_bytes / 1e6, "MB", "at most 1000", "size of the file", megabytes,
          recipe + "; peak of the process with the store"});
}

}  // namespace accelscope::bench
