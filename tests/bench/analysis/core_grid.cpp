// The core grid of a large device log: a measure of every core in 256 frames, and what a moved range costs the window.
#include "core/analysis/core_grid/grid_frames.h"

#include <fmt/format.h>

#include <random>

#include "core/analysis/selection/summary.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"
#include "tests/bench/base/figures.h"

namespace accelscope::bench {
namespace {

constexpr int kCoreColumns = 13, kCoreRows = 10;  // the workers of a large chip
constexpr std::size_t kBenchFrames = 256;

std::unique_ptr<Store> core_store(std::uint64_t events) {
  auto store = Store::create();
  if (!store) return nullptr;
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "zone"});
  std::mt19937_64 random(1);
  const std::uint64_t per_lane = events / (kCoreColumns * kCoreRows * 5);
  for (int x = 0; x < kCoreColumns; ++x) {
    for (int y = 0; y < kCoreRows; ++y) {
      for (const char* part : {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"}) {
        const TrackNumber track = writer.add_track(
            {.name = fmt::format("core {},{} {}", x, y, part), .kind = "engine", .device = "chip 0", .schema = schema});
        const StringId name = writer.intern(fmt::format("{}-KERNEL", part));
        std::int64_t at = 0;
        for (std::uint64_t i = 0; i < per_lane; ++i) {
          at += static_cast<std::int64_t>(random() % 200);
          const auto duration = static_cast<std::int64_t>(random() % 400);
          writer.begin_event(track, at, duration, name);
          at += duration;
        }
        writer.flush(track);
      }
    }
  }
  if (!writer.finish()) return nullptr;
  return std::move(*store);
}

}  // namespace

void bench_core_grid(const BenchOptions& options) {
  const auto store = core_store(static_cast<std::uint64_t>(20e6 * options.scale));
  if (!store) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  std::shared_ptr<const analysis::GridFrames> frames;
  const double made = best_seconds(3, [&] {
    if (const auto answer = analysis::core_grid_frames(query, {}, analysis::GridMeasure{}, kBenchFrames))
      frames = *answer;
  });
  if (!frames) return;
  const double yardstick =
      best_seconds(3, [&] { static_cast<void>(analysis::selection_summary(query, {}, nullptr).ok()); });
  const std::string recipe =
      fmt::format("{} zones on {} cores of 5 processors; {} frames; in-memory store; two threads",
                  query.snapshot->event_count, frames->grid.cells.size(), frames->count);
  report({"core_grid_frames", made, "s", "", "a summary that looks at every event", yardstick, recipe});
  double sum = 0;
  const double moved = best_seconds(20, [&] {
    for (std::size_t cell = 0; cell < frames->grid.cells.size(); ++cell) sum += frames->of_cell(cell, 20, 200);
  });
  if (sum > 0)
    report({"core_grid_move", moved * 1e3, "ms", "at most 1", "", 0,
            "the values of all cores of a moved range; " + recipe});
}

}  // namespace accelscope::bench
