// Saving while a capture goes on, against writing and syncing as many bytes; and opening what was saved.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "capture/sim/output/simulator.h"
#include "core/store/store.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/base/first_frame.h"
#include "tests/support/process.h"

namespace accelscope::bench {
namespace {

constexpr const char* kRecipe =
    "simulated accelerator, slim schema (start, duration, name, source line, bytes, wait_ns), one core, seed 1";

double write_and_sync(const std::string& path, std::uint64_t bytes) {
  std::vector<char> block(8U << 20, 'x');
  return seconds([&] {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor < 0) return;
    for (std::uint64_t done = 0; done < bytes; done += block.size()) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), bytes - done));
      if (::write(descriptor, block.data(), size) < 0) break;
    }
    ::fsync(descriptor);
    ::close(descriptor);
  });
}

// Stops the simulation from outside; the sink itself is the store's.
class StoppableSink final : public ForwardingSink {
 public:
  StoppableSink(Store& store, std::atomic<bool>& stop)
      : ForwardingSink(std::make_unique<StoreSink>(store)), stop_(stop) {}
  [[nodiscard]] bool cancelled() const override { return stop_.load(); }

 private:
  std::atomic<bool>& stop_;
};

}  // namespace

void bench_session_file(const BenchOptions& options) {
  Result<std::unique_ptr<Store>> created = Store::create();
  if (!created) return;
  Store& store = **created;
  const auto count = static_cast<std::uint64_t>(50e6 * options.scale);
  capture::sim::SimulationOptions simulation;
  simulation.detail = capture::sim::Detail::slim;
  simulation.events = count;
  StoreSink sink(store);
  if (!capture::sim::simulate(simulation, sink)) return;

  // A second source goes on at a live rate while the session is saved; a frame takes a snapshot every 4 ms.
  std::atomic<bool> stop{false};
  std::thread source([&] {
    StoppableSink live(store, stop);
    capture::sim::SimulationOptions paced;
    paced.detail = capture::sim::Detail::slim;
    paced.events = 1'000'000'000;
    paced.rate_events_per_second = 5e6;
    (void)capture::sim::simulate(paced, live);
  });
  double longest_frame = 0;
  std::thread frames([&] {
    while (!stop.load()) {
      longest_frame = std::max(longest_frame, seconds([&] { (void)store.snapshot(); }));
      std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
  });
  const std::string path = options.work_folder + "/saved.accel";
  const std::uint64_t written_before = test::written_bytes(process_id());
  const double save = seconds([&] { (void)store.save(path); });
  const auto written = static_cast<double>(test::written_bytes(process_id()) - written_before);
  stop = true;
  source.join();
  frames.join();
  const std::uint64_t bytes = std::filesystem::file_size(path);
  const double plain = write_and_sync(options.work_folder + "/plain", bytes);
  const std::string recipe =
      fmt::format("{}; {} events, {} bytes, saved while 5 M events/s more come in", kRecipe, count, bytes);
  report({"save_while_capturing", save, "s", "at most 1.5 times the yardstick", "write and sync as many bytes", plain,
          recipe});
  report({"save_while_capturing_bytes", written / 1e6, "MB", "at most 1.2 times the yardstick", "the saved file",
          static_cast<double>(bytes) / 1e6, recipe + "; what was written until it was saved"});
  report({"save_frame_wait", longest_frame * 1e3, "ms", "at most 16", "", 0, recipe});

  std::uint64_t events = 0;
  const double open = best_seconds(3, [&] {
    Result<std::unique_ptr<Store>> opened = Store::open(path);
    if (opened) events = (*opened)->snapshot()->event_count;
  });
  report({"open_index", open, "s", "part of open_first_frame", "", 0, fmt::format("{}; {} events", kRecipe, events)});
}

void bench_slow_session(const BenchOptions& options) {
  Result<std::unique_ptr<Store>> created = Store::create();
  if (!created) return;
  Store& store = **created;
  capture::sim::SimulationOptions simulation;
  simulation.events = static_cast<std::uint64_t>(2e6 * options.scale);
  simulation.rate_events_per_second = 100e3;
  StoreSink sink(store);
  if (!capture::sim::simulate(simulation, sink)) return;
  const auto events = static_cast<double>(store.snapshot()->event_count);
  const StoreStatus retained = store.status();
  const std::string path = options.work_folder + "/slow.accel";
  const double save = seconds([&] { (void)store.save(path); });
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  const double plain = write_and_sync(options.work_folder + "/plain", static_cast<std::uint64_t>(bytes));
  const std::string recipe = fmt::format(
      "simulated accelerator, all tables of a Neuron profile, one core, 100 k events/s, chunks of 100 ms; {:.0f} "
      "events "
      "in {} chunks",
      events, retained.chunks);
  report({"slow_session_bytes", bytes / events, "B/event", "at most 20", "chunks as they came",
          static_cast<double>(retained.chunk_bytes) / events, recipe + "; size of the saved file"});
  report({"slow_session_save", save, "s", "", "write and sync as many bytes", plain, recipe});
  const double open = first_frame_seconds(path, 3);
  report({"slow_session_first_frame", open, "s", "at most 0.3", "", 0,
          recipe + "; from open to a complete 1600 x 900 frame, graphics context and fonts included"});
}

}  // namespace accelscope::bench
