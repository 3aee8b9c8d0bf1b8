// Importing a generated device log of tt-metal into a store in memory, against cutting the same file into cells.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "capture/json/byte_source.h"
#include "capture/sources/base/importers.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/import/import_cost.h"
#include "tests/support/tt_log_generator.h"

namespace accelscope::bench {
namespace {

constexpr double kRows = 10e6;

// Two chips of 64 cores with five processors each; 18 rows of each per program.
test::TtLogOptions log_of(double rows) {
  test::TtLogOptions options;
  options.chips = 2;
  options.cores_x = options.cores_y = 8;
  options.zones = 6;
  options.data = 2;
  options.programs_per_read = 10;
  constexpr double kRowsPerProgram = 2 * 64 * 5 * 18;
  options.programs = static_cast<std::uint32_t>(std::max(1.0, rows / kRowsPerProgram));
  return options;
}

// Every comma and line end is found; no cell is looked at.
std::uint64_t count_cells(const std::string& path) {
  const Result<std::unique_ptr<capture::json::ByteSource>> source = capture::json::ByteSource::open(path);
  if (!source) return 0;
  std::vector<char> buffer(512U << 10);
  std::uint64_t cells = 0;
  for (;;) {
    const Result<std::size_t> count = source.value()->read(buffer);
    if (!count || count.value() == 0) return cells;
    const char* const end = buffer.data() + count.value();
    for (const char separator : {',', '\n'}) {
      const char* at = buffer.data();
      while ((at = static_cast<const char*>(std::memchr(at, separator, static_cast<std::size_t>(end - at)))) !=
             nullptr) {
        ++cells;
        ++at;
      }
    }
  }
}

}  // namespace

void bench_tt_log_import(const BenchOptions& options) {
  const std::string path = options.work_folder + "/profile_log_device.csv";
  const Result<std::uint64_t> rows = test::write_tt_log(log_of(kRows * options.scale), path);
  if (!rows) {
    fmt::print(stderr, "{}\n", rows.message());
    return;
  }
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  const auto cost = import_cost("tt_log_import", 0, [&](EventSink& sink) {
    return capture::sources::import_file(capture::sources::tt_metal::import_device_log, path, {}, sink);
  });
  if (!cost) return;
  std::uint64_t cells = 0;
  const double cutting = best_seconds(2, [&] { cells = count_cells(path); });
  std::filesystem::remove(path);
  const double million_rows = static_cast<double>(rows.value()) / 1e6;
  const std::string recipe = fmt::format(
      "{:.1f} M rows of 15 columns, {:.0f} MB, 640 processors of two chips, {} events; yardstick: finding all {} ends "
      "of "
      "cells with memchr in one thread",
      million_rows, megabytes, cost->events, cells);
  report({"tt_log_import", million_rows / cost->seconds, "M rows/s", "at least 3", "memchr alone",
          million_rows / cutting, recipe});
  report({"tt_log_import_memory", cost->peak_bytes / 1e6, "MB", "", "the store that was made",
          cost->retained_bytes / 1e6, recipe + "; peak of the process with the store"});
}

}  // namespace accelscope::bench
