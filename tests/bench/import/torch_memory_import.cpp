// Importing a generated memory snapshot of PyTorch into a store in memory, against reading the same pickle alone.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>

#include "capture/sources/base/importers.h"
#include "capture/sources/pickle/pickle_reader.h"
#include "core/store/store.h"
#include "tests/bench/base/figures.h"
#include "tests/support/torch/allocator_model.h"

namespace accelscope::bench {

void bench_torch_memory_import(const BenchOptions& options) {
  using namespace capture;
  const auto requests = static_cast<std::size_t>(std::max(200.0, 150'000 * options.scale));
  const std::string path = options.work_folder + "/memory.pickle";
  std::size_t bytes = 0;
  {
    const test::TorchModel model({.seed = 7, .requests = requests});
    bytes = model.pickle().size();
    std::ofstream(path, std::ios::binary) << model.pickle();
  }
  const double megabytes = static_cast<double>(bytes) / 1e6;
  const double reading = best_seconds(3, [&] {
    auto source = json::ByteSource::open(path);
    if (source) (void)sources::pickle::read_pickle(**source, {.name = path, .go_on = {}});
  });
  std::uint64_t peak = 0, retained = 0;
  const double importing = best_seconds(3, [&] {
    forget_peak_memory();
    const std::uint64_t before = current_memory_bytes();
    auto store = Store::create();
    if (!store) return;
    StoreSink sink(**store);
    if (!sources::import_file(sources::torch_memory::import_torch_memory, path, {}, sink)) return;
    retained = current_memory_bytes() - std::min(before, current_memory_bytes());
    peak = peak_memory_bytes() - std::min(before, peak_memory_bytes());
  });
  const std::string recipe = fmt::format(
      "{} requests to a modelled allocator, {:.0f} MB of pickle (protocol 4), stacks of 3 frames", requests, megabytes);
  report({"torch_memory_import", megabytes / importing, "MB/s", "at least 40", "the pickle alone, read and dropped",
          megabytes / reading, recipe});
  report({"torch_memory_import_memory", static_cast<double>(peak) / 1e6, "MB", "at most twice what is kept, and 128 MB",
          "what is kept", static_cast<double>(retained) / 1e6, recipe});
}

}  // namespace accelscope::bench
