// Following a device log of tt-metal into a store in memory as fast as it can be read, against importing the same file.
#include <fmt/format.h>

#include <filesystem>

#include "capture/kinds/tt_metal/log_watch.h"
#include "capture/sources/base/importers.h"
#include "core/store/store.h"
#include "tests/bench/base/figures.h"
#include "tests/support/tt_log_generator.h"

namespace accelscope::bench {
namespace {

constexpr double kRows = 5e6;

test::TtLogOptions log_of(double rows) {
  test::TtLogOptions options;
  options.cores_x = options.cores_y = 8;
  options.zones = 6;
  options.data = 2;
  options.programs_per_read = 10;
  constexpr double kRowsPerProgram = 64 * 5 * 18;
  options.programs = static_cast<std::uint32_t>(std::max(1.0, rows / kRowsPerProgram));
  return options;
}

// Into a store of its own: its events.
template <typename Write>
std::uint64_t events_of(Write write) {
  Result<std::unique_ptr<Store>> store = Store::create();
  if (!store) return 0;
  StoreSink sink(*store.value());
  if (const Result<void> done = write(sink); !done) fmt::print(stderr, "{}\n", done.message());
  return store.value()->snapshot()->event_count;
}

}  // namespace

void bench_tt_log_follow(const BenchOptions& options) {
  const std::string path = options.work_folder + "/profile_log_device.csv";
  const Result<std::uint64_t> rows = test::write_tt_log(log_of(kRows * options.scale), path);
  if (!rows) {
    fmt::print(stderr, "{}\n", rows.message());
    return;
  }
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  std::uint64_t followed_events = 0;
  const double followed = seconds([&] {
    followed_events = events_of([&](EventSink& sink) {
      capture::kinds::tt_metal::LogWatch watch(sink, {{path}, {}, false, std::chrono::steady_clock::now()});
      while (watch.turn()) {
      }
      return watch.finish();
    });
  });
  const std::uint64_t peak = peak_memory_bytes();
  std::uint64_t imported_events = 0;
  const double imported = seconds([&] {
    imported_events = events_of([&](EventSink& sink) {
      return capture::sources::import_file(capture::sources::tt_metal::import_device_log, path, {}, sink);
    });
  });
  std::filesystem::remove(path);
  const double million_rows = static_cast<double>(rows.value()) / 1e6;
  const std::string recipe = fmt::format(
      "{:.1f} M rows of 15 columns, {:.0f} MB, 320 processors, {} events followed, {} imported; one thread against the "
      "importer's four",
      million_rows, megabytes, followed_events, imported_events);
  report({"tt_log_follow", million_rows / followed, "M rows/s", "at least 1", "import of the file",
          million_rows / imported, recipe});
  report({"tt_log_follow_memory", static_cast<double>(peak) / 1e6, "MB", "", "", 0,
          recipe + "; peak of the process with the store"});
}

}  // namespace accelscope::bench
