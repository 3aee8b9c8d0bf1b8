// A capture far beyond its memory budget, against the same without one: its rate, what it holds in memory, and how
// often it writes what it has.
#include <fmt/format.h>

#include <algorithm>

#include "capture/sim/output/simulator.h"
#include "core/store/store.h"
#include "tests/bench/base/figures.h"
#include "tests/support/process.h"

namespace accelscope::bench {
namespace {

struct Filled {
  double seconds = 0;
  double peak_bytes = 0;     // of this process, beyond what it had before
  double written_bytes = 0;  // to files
  double chunk_bytes = 0;
};

// As fast as the simulator makes them.
Filled fill_store(std::uint64_t events, std::uint64_t budget_bytes) {
  Filled filled;
  Result<std::unique_ptr<Store>> created = Store::create({.memory_budget_bytes = budget_bytes, .spill_directory = {}});
  if (!created) return filled;
  StoreSink sink(**created);
  capture::sim::SimulationOptions simulation;
  simulation.detail = capture::sim::Detail::slim;
  simulation.events = events;
  forget_peak_memory();
  const auto memory_before = static_cast<double>(current_memory_bytes());
  const std::uint64_t written_before = test::written_bytes(process_id());
  bool whole = false;
  filled.seconds = seconds([&] { whole = capture::sim::simulate(simulation, sink).ok(); });
  if (!whole) return {};
  filled.peak_bytes = static_cast<double>(peak_memory_bytes()) - memory_before;
  filled.written_bytes = static_cast<double>(test::written_bytes(process_id()) - written_before);
  filled.chunk_bytes = static_cast<double>((*created)->status().chunk_bytes);
  return filled;
}

}  // namespace

void bench_spill(const BenchOptions& options) {
  constexpr std::uint64_t kBudget = 64U << 20;
  const auto count = static_cast<std::uint64_t>(100e6 * options.scale);
  // Beside each other, so that both have the same machine; the better of two.
  Filled retained, spilled;
  for (int run = 0; run < 2; ++run) {
    const Filled without = fill_store(count, 0), with = fill_store(count, kBudget);
    if (without.seconds <= 0 || with.seconds <= 0) return;
    if (run == 0 || without.seconds < retained.seconds) retained = without;
    if (run == 0 || with.seconds < spilled.seconds) spilled = with;
  }
  const auto events = static_cast<double>(count);
  const std::string recipe = fmt::format(
      "simulated accelerator, slim schema (start, duration, name, source line, bytes, wait_ns), one core, seed 1, as "
      "fast as it makes them; {} events, {:.0f} MB of chunks, budget 64 MiB; the better of two runs",
      count, retained.chunk_bytes / 1e6);
  report({"spill", events / spilled.seconds / 1e6, "M events/s", "at least half of the yardstick",
          "the same without a budget", events / retained.seconds / 1e6, recipe});
  report({"spill_memory", spilled.peak_bytes / (1 << 20), "MiB", "at most 1.5 times the yardstick", "the budget",
          static_cast<double>(kBudget) / (1 << 20), recipe + "; peak of the process beyond what it had before"});
  report({"spill_bytes", spilled.written_bytes / 1e6, "MB", "at most 1.1 times the yardstick", "chunks as they came",
          spilled.chunk_bytes / 1e6, recipe + "; what was written to files"});
}

}  // namespace accelscope::bench
