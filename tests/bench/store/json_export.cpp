// Writing a session as the vendor's JSON tables, against reading the same text into a session.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "capture/sources/base/importers.h"
#include "core/export/neuron/neuron_json.h"
#include "core/store/store.h"
#include "tests/bench/base/figures.h"
#include "tests/support/neuron/simulated_profile.h"

namespace accelscope::bench {

void bench_json_export(const BenchOptions& options) {
  const std::string path = options.work_folder + "/json_export.json";
  capture::sim::SimulationOptions simulation;
  simulation.events = static_cast<std::uint64_t>(1e6 * options.scale);
  if (!write_simulated_profile(simulation, path)) return;
  Result<std::unique_ptr<Store>> store = Store::create();
  if (!store) return;
  StoreSink sink(**store);
  bool imported = false;
  const double reading = seconds([&] {
    imported = capture::sources::import_file(capture::sources::neuron::import_neuron_json, path, {}, sink).ok();
  });
  const auto read_bytes = static_cast<double>(std::filesystem::file_size(path));
  if (!imported) return;
  WorkerPool pool;
  TaskControl control;
  const std::uint64_t before = current_memory_bytes();
  exporting::JsonExport request{{**store, (*store)->snapshot(), pool, control}, {}, {}, {}};
  request.forms = exporting::neuron::json_forms(*request.query.snapshot);
  Result<exporting::JsonExportReport> report_of_export = exporting::JsonExportReport{};
  std::uint64_t most = before;
  const double writing = best_seconds(3, [&] {
    std::ofstream out(path, std::ios::binary);
    report_of_export = exporting::export_json(request, [&](std::string_view text) -> Result<void> {
      out.write(text.data(), static_cast<std::streamsize>(text.size()));
      most = std::max(most, current_memory_bytes());
      return {};
    });
  });
  std::filesystem::remove(path);
  if (!report_of_export) return fmt::print(stderr, "{}\n", report_of_export.message());
  const auto bytes = static_cast<double>(report_of_export->bytes);
  const std::string recipe =
      fmt::format("{} rows of all tables of a simulated profile, {:.0f} MB; yardstick: importing the same tables",
                  report_of_export->rows, bytes / 1e6);
  report({"json_export", bytes / writing / 1e6, "MB/s", "at least 100", "importing the same tables",
          read_bytes / reading / 1e6, recipe});
  report({"json_export_memory", static_cast<double>(most - before) / 1e6, "MB", "at most 300", "size of the file",
          bytes / 1e6, recipe + "; what the export takes beside the store"});
}

}  // namespace accelscope::bench
