// Every figure of a large session, for all of it and for a part: how long it takes and how much memory on top of what
// the session itself takes. The yardstick reads and decodes the times of the same chunks and makes nothing of them.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "capture/sim/output/simulator.h"
#include "core/analysis/figures/metrics.h"
#include "tests/bench/base/figures.h"

namespace accelscope::bench {
namespace {

// The most that the call needed beyond what was resident before it, sampled every millisecond.
double extra_memory(const std::function<void()>& call) {
  const std::uint64_t before = current_memory_bytes();
  std::atomic<bool> done{false};
  std::uint64_t most = before;
  std::thread sampler([&] {
    while (!done.load()) {
      most = std::max(most, current_memory_bytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  call();
  done.store(true);
  sampler.join();
  return static_cast<double>(most - before);
}

double plain_scan_seconds(const QueryContext& query) {
  std::atomic<std::int64_t> sum{0};
  const double taken = seconds([&] {
    static_cast<void>(scan_chunks(query, all_lanes(*query.snapshot), {}, [&](const ScannedChunk& chunk, std::size_t) {
      std::int64_t of_chunk = 0;
      chunk.for_each_block([&](const ScannedBlock& block) {
        for (std::uint32_t i = block.first; i < block.last; ++i)
          of_chunk += block.ticks().ends[i] - block.ticks().begins[i];
      });
      sum += of_chunk;
    }));
  });
  return sum > 0 ? taken : 0;
}

}  // namespace

void bench_metrics(const BenchOptions& options) {
  Result<std::unique_ptr<Store>> store = Store::create();
  if (!store) return;
  StoreSink sink(**store);
  capture::sim::SimulationOptions simulation;
  simulation.events = static_cast<std::uint64_t>(50e6 * options.scale);
  if (const Result<void> done = capture::sim::simulate(simulation, sink); !done) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{**store, (*store)->snapshot(), pool, control};
  const auto memory = analysis::memory_usage(query);
  if (!memory) return;
  bool failed = false;
  std::size_t figures = 0;
  double taken = 0;
  const auto all = [&] {
    taken = seconds([&] {
      const auto metrics = analysis::session_metrics(query, {}, memory->get());
      failed = !metrics.ok();
      if (metrics) figures = metrics->size();
    });
  };
  const double extra = extra_memory(all);
  const double plain = plain_scan_seconds(query);
  const std::int64_t middle = (query.snapshot->begin_ns + query.snapshot->end_ns) / 2;
  const std::int64_t length = (query.snapshot->end_ns - query.snapshot->begin_ns) / 100;
  const double part = best_seconds(3, [&] {
    failed |= !analysis::session_metrics(query, {middle, middle + length}, memory->get()).ok();
  });
  if (failed) return;
  const std::string recipe = fmt::format(
      "{} simulated events of all tables, {} figures; in-memory store; two threads; memory use known before",
      query.snapshot->event_count, figures);
  report(
      {"metrics_session", taken * 1e3, "ms", "", "reading all chunks and decoding their times", plain * 1e3, recipe});
  report(
      {"metrics_range", part * 1e3, "ms", "at most 500", "the same", plain * 1e3, recipe + "; of 1 % of the session"});
  report({"metrics_memory", extra / 1e6, "MB", "at most 200", "16 bytes per event",
          16e-6 * static_cast<double>(query.snapshot->event_count), recipe + "; beyond the session's own"});
}

}  // namespace accelscope::bench
