// Collectives of 64 ranks with 10,000 operations each: matched, added up and laid on a map. The yardstick reads and
// decodes the times of the same events and makes nothing of them.
#include <fmt/format.h>

#include "app/content/collective_grid.h"
#include "capture/sim/output/simulator.h"
#include "core/analysis/collectives/report.h"
#include "tests/bench/figures.h"

namespace accelscope::bench {

void bench_collectives(const BenchOptions& options) {
  Result<std::unique_ptr<Store>> store = Store::create();
  if (!store) return;
  StoreSink sink(**store);
  capture::sim::SimulationOptions simulation;
  simulation.devices = 64;
  simulation.kernels = static_cast<std::uint64_t>(10'000 * options.scale);
  simulation.detail = capture::sim::Detail::ranks;
  simulation.faults.straggler = 37;
  simulation.faults.clock_skew_ns = 20'000;
  if (const Result<void> done = capture::sim::simulate(simulation, sink); !done) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{**store, (*store)->snapshot(), pool, control};
  bool failed = false;
  double found_seconds = 0, report_seconds = 0;
  std::size_t parts = 0;
  const double all_seconds = best_seconds(5, [&] {
    std::shared_ptr<const CollectivesReport> report;
    std::shared_ptr<const Collectives> found;
    found_seconds = seconds([&] {
      auto made = find_collectives(query);
      failed |= !made.ok();
      if (made) found = std::move(*made);
    });
    if (!found) return;
    parts = found->cells.size();
    report_seconds = seconds([&] { report = report_collectives(found, {}); });
    failed |= !report->straggler || found->ranks[*report->straggler].name != "rank 37";
    failed |= app::make_collective_grid(report, app::CollectiveMeasure::arrival, 400)->columns == 0;
  });
  if (failed) return;
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < query.snapshot->lanes.size(); ++i) {
    if (query.snapshot->lanes[i].schema->name == "cc_op") lanes.push_back(i);
  }
  const double plain = best_seconds(3, [&] {
    static_cast<void>(scan_chunks(query, lanes, {}, [&](const ScannedChunk& chunk, std::size_t) {
      chunk.for_each_block(
          [&](const ScannedBlock& block) { failed |= block.ticks().ends[0] < block.ticks().begins[0]; });
    }));
  });
  report({"collectives_64_ranks", all_seconds * 1e3, "ms", "at most 200", "a scan of the times of the same events",
          plain * 1e3,
          fmt::format(
              "{} parts of 64 ranks, clocks set by their ends; the last run took {:.0f} ms to match and {:.0f} ms to "
              "add up",
              parts, found_seconds * 1e3, report_seconds * 1e3)});
}

}  // namespace accelscope::bench
