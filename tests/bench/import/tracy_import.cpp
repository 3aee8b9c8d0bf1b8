// Importing a generated trace of Tracy into a store in memory, against unpacking the same file and doing nothing with
// it.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "capture/sources/base/importers.h"
#include "capture/sources/tracy/read/trace_reader.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/import/import_cost.h"
#include "tests/support/tracy_trace.h"

namespace accelscope::bench {
namespace {

constexpr double kBenchZones = 20e6;

double unpacking_seconds(const std::string& path) {
  return best_seconds(2, [&] {
    Result<std::unique_ptr<capture::json::ByteSource>> source = capture::json::ByteSource::open(path);
    if (!source) return;
    auto blocks = capture::sources::tracy::TracyBlocks::open(std::move(source).value());
    if (!blocks) return;
    while (!blocks->next().empty()) {
    }
  });
}

void import_zones(const BenchOptions& options, bool zstd) {
  const std::string path = options.work_folder + "/zones.tracy";
  const auto zones = static_cast<std::uint64_t>(kBenchZones * options.scale) / 10 * 10;
  double megabytes = 0;
  {
    const std::string trace = test::tracy_trace_of_zones(zones, {zstd, static_cast<std::uint8_t>(zstd ? 4 : 0)});
    megabytes = static_cast<double>(trace.size()) / 1e6;
    std::ofstream(path, std::ios::binary) << trace;
  }
  const auto cost = import_cost(zstd ? "tracy_import_zstd" : "tracy_import", zones, [&](EventSink& sink) {
    return capture::sources::import_file(capture::sources::tracy::import_tracy, path, {}, sink);
  });
  if (!cost) return;
  const double unpacking = unpacking_seconds(path);
  std::filesystem::remove(path);
  const double millions = static_cast<double>(zones) / 1e6;
  const std::string recipe = fmt::format(
      "{:.1f} M zones of 40 places in the source, nine in one, on one thread, {:.0f} MB packed by {}; yardstick: "
      "unpacking the file in one thread",
      millions, megabytes, zstd ? "zstd in four streams" : "LZ4");
  report({zstd ? "tracy_import_zstd" : "tracy_import", millions / cost->seconds, "M zones/s", "at least 8",
          "unpacking alone", millions / unpacking, recipe});
  report({zstd ? "tracy_import_zstd_memory" : "tracy_import_memory", cost->peak_bytes / 1e6, "MB",
          fmt::format("at most {:.0f}", 2 * cost->retained_bytes / 1e6 + 128), "the store that was made",
          cost->retained_bytes / 1e6, recipe + "; peak of the process with the store"});
}

}  // namespace

void bench_tracy_import(const BenchOptions& options) {
  import_zones(options, false);
  import_zones(options, true);
}

}  // namespace accelscope::bench
