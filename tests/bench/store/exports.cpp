// Writing a session in the formats of core/export/formats: bytes a second, and what it takes beside the store.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "capture/sources/base/importers.h"
#include "core/export/formats/formats.h"
#include "core/store/store.h"
#include "tests/bench/base/figures.h"
#include "tests/support/neuron/simulated_profile.h"

namespace accelscope::bench {
namespace {

// Files one after the other into one: only the writing counts.
class BenchOutput final : public exporting::ExportOutput {
 public:
  explicit BenchOutput(const std::string& path) : file_(path, std::ios::binary) {}
  Result<void> begin_file(const std::string& /*name*/) override { return {}; }
  Result<void> write(std::string_view bytes) override {
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    most_ = std::max(most_, current_memory_bytes());
    return {};
  }
  [[nodiscard]] std::uint64_t most_memory() const noexcept { return most_; }

 private:
  std::ofstream file_;
  std::uint64_t most_ = 0;
};

}  // namespace

void bench_exports(const BenchOptions& options) {
  const std::string path = options.work_folder + "/exports.out";
  capture::sim::SimulationOptions simulation;
  simulation.events = static_cast<std::uint64_t>(1e6 * options.scale);
  if (!write_simulated_profile(simulation, path)) return;
  Result<std::unique_ptr<Store>> store = Store::create();
  if (!store) return;
  StoreSink sink(**store);
  if (!capture::sources::import_file(capture::sources::neuron::import_neuron_json, path, {}, sink).ok()) return;
  WorkerPool pool;
  TaskControl control;
  for (const auto& [name, target] :
       {std::pair{"perfetto", "at least 200"}, {"chrome", "none"}, {"csv", "none"}, {"parquet", "none"}}) {
    const exporting::ExportFormat& format = *exporting::find_export_format(name);
    exporting::ExportRequest request{{**store, (*store)->snapshot(), pool, control}};
    Result<exporting::ExportReport> written = exporting::ExportReport{};
    const std::uint64_t before = current_memory_bytes();
    std::uint64_t most = before;
    const double writing = best_seconds(3, [&] {
      BenchOutput output(path);
      written = format.write(request, output);
      most = std::max(most, output.most_memory());
    });
    if (!written) return fmt::print(stderr, "{}\n", written.message());
    const auto bytes = static_cast<double>(written->bytes);
    const std::string recipe =
        fmt::format("{} events of a simulated profile with flows, {:.0f} MB", written->rows, bytes / 1e6);
    report({fmt::format("{}_export", name), bytes / writing / 1e6, "MB/s", target, "events a second",
            static_cast<double>(written->rows) / writing, recipe});
    report({fmt::format("{}_export_memory", name), static_cast<double>(most - before) / 1e6, "MB", "at most 300",
            "size of the file", bytes / 1e6, recipe + "; what the export takes beside the store"});
  }
  std::filesystem::remove(path);
}

}  // namespace accelscope::bench
