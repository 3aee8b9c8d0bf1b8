// Collectives of 64 ranks with 10,000 operations each: matched, added up and laid on a map. The yardstick reads and
// decodes the times of the same events and makes nothing of them.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "app/content/collective_grid.h"
#include "app/frame/app.h"
#include "capture/sim/output/simulator.h"
#include "core/analysis/collectives/report.h"
#include "render/shell/null_shell.h"
#include "tests/bench/base/figures.h"

namespace accelscope::bench {
namespace {

// CPU time of this thread in ms: what workers do does not count.
[[nodiscard]] double panel_thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

class TimedFrames final : public render::FrameClient {
 public:
  explicit TimedFrames(app::frame::App& app) : app_(app) {}
  void frame(render::Ui& ui) override {
    const double before = panel_thread_ms();
    app_.frame(ui);
    if (samples != nullptr) samples->push_back(panel_thread_ms() - before);
  }
  [[nodiscard]] bool settled() const override { return app_.settled(); }
  std::vector<double>* samples = nullptr;

 private:
  app::frame::App& app_;
};

[[nodiscard]] double percentile_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

// The panel alone in the window: hovered, clicked, its scope, measure and operation changed, so that answers come in.
void bench_panel(std::unique_ptr<Store> store, const BenchOptions& options) {
  app::frame::App app({.state_directory = options.work_folder});
  TimedFrames frames(app);
  render::NullShell shell(frames, {.width = 1920, .height = 1080});
  shell.ui().record_text(false);
  shell.frame(3);
  app::workspace::OpenedSession session;
  session.title = "ranks";
  session.store = std::move(store);
  (void)app.workspace().adopt(std::move(session));
  app.layout().show("collectives");
  app.layout().maximise("collectives");
  if (!shell.settle() || shell.find("collectives.map") == nullptr) return;
  std::vector<double> samples;
  frames.samples = &samples;
  for (int turn = 0; turn < 12; ++turn) {
    const render::Rect map = *shell.find("collectives.map");
    for (int i = 0; i < 40; ++i) {
      const float share = static_cast<float>(i) / 40;
      shell.move({map.x0 + map.width() * share, map.y0 + map.height() * (1 - share)});
      shell.frame(2);
    }
    shell.click({map.x0 + map.width() * 0.5F, map.y0 + map.height() * 0.3F});
    shell.frame(10);
    (void)shell.click(fmt::format("collectives.measure.{}", turn % 3));
    shell.frame(20);
    if (!shell.settle()) return;
  }
  report(
      {"collectives_panel_frame_p99", percentile_of(samples, 0.99), "ms", "at most 4", "the median frame",
       percentile_of(samples, 0.5),
       fmt::format("64 ranks, the panel maximised at 1920 x 1080, hovered, clicked, measures changed; {} frames of CPU "
                   "time of the UI thread, the longest {:.1f} ms",
                   samples.size(), *std::max_element(samples.begin(), samples.end()))});
}

}  // namespace

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
    std::shared_ptr<const analysis::CollectivesReport> report;
    std::shared_ptr<const analysis::Collectives> found;
    found_seconds = seconds([&] {
      auto made = analysis::find_collectives(query);
      failed |= !made.ok();
      if (made) found = std::move(*made);
    });
    if (!found) return;
    parts = found->cells.size();
    report_seconds = seconds([&] { report = analysis::report_collectives(found, {}); });
    failed |= !report->straggler || found->ranks[*report->straggler].name != "rank 37";
    failed |= app::content::make_collective_grid(report, app::content::CollectiveMeasure::arrival, 400)->columns == 0;
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
  bench_panel(std::move(*store), options);
}

}  // namespace accelscope::bench
