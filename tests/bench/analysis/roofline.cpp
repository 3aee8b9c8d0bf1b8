// The roofline and the memory hierarchy of a large session, for all of it and for a part. The yardstick reads and
// decodes the times of the same chunks and makes nothing of them.
#include <fmt/format.h>

#include <atomic>

#include "capture/sim/output/simulator.h"
#include "core/analysis/roofline/memory_levels.h"
#include "core/analysis/roofline/roofline.h"
#include "tests/bench/base/figures.h"

namespace accelscope::bench {

void bench_roofline(const BenchOptions& options) {
  Result<std::unique_ptr<Store>> store = Store::create();
  if (!store) return;
  StoreSink sink(**store);
  capture::sim::SimulationOptions simulation;
  simulation.events = static_cast<std::uint64_t>(10e6 * options.scale);
  if (const Result<void> done = capture::sim::simulate(simulation, sink); !done) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{**store, (*store)->snapshot(), pool, control};
  std::atomic<std::int64_t> sum{0};
  const double plain = best_seconds(3, [&] {
    static_cast<void>(scan_chunks(query, all_lanes(*query.snapshot), {}, [&](const ScannedChunk& chunk, std::size_t) {
      std::int64_t of_chunk = 0;
      chunk.for_each_block([&](const ScannedBlock& block) { of_chunk += block.ticks().ends[block.first]; });
      sum += of_chunk;
    }));
  });
  bool failed = false;
  std::size_t points = 0;
  const auto roofline = [&](const TimeRange& range) {
    return best_seconds(3, [&] {
      const auto found = analysis::device_rooflines(query, range, analysis::RoofGrouping::layer);
      failed |= !found.ok();
      if (found) points = (*found)->devices.front().points.size();
    });
  };
  const auto levels = [&](const TimeRange& range) {
    return best_seconds(3, [&] { failed |= !analysis::memory_levels(query, range).ok(); });
  };
  const double whole = roofline({}), whole_levels = levels({});
  const std::size_t all_points = points;
  const std::int64_t middle = (query.snapshot->begin_ns + query.snapshot->end_ns) / 2;
  const std::int64_t length = (query.snapshot->end_ns - query.snapshot->begin_ns) / 100;
  const TimeRange part = {middle, middle + length};
  const double of_part = roofline(part) + levels(part);
  if (failed) return;
  const std::string recipe =
      fmt::format("{} simulated events of all tables, {} points by layer; in memory; two threads",
                  query.snapshot->event_count, all_points);
  const char* yardstick = "reading all chunks and decoding their times";
  report({"roofline_session", whole * 1e3, "ms", "", yardstick, plain * 1e3, recipe});
  report({"memory_levels_session", whole_levels * 1e3, "ms", "", yardstick, plain * 1e3, recipe});
  report({"roofline_range", of_part * 1e3, "ms", "at most 100", yardstick, plain * 1e3,
          recipe + "; both, of 1 % of the session"});
}

}  // namespace accelscope::bench
