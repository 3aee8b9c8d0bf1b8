// Folding what repeats in a long session: 10 M events of steps, tiles and foreign events on two streams and a thread.
#include "core/analysis/iterations/iterations.h"

#include <fmt/format.h>

#include <random>

#include "core/analysis/iterations/regions.h"
#include "core/analysis/selection/summary.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"
#include "tests/bench/figures.h"

namespace accelscope::bench {
namespace {

constexpr int kHeadNames = 40, kTileNames = 12, kTiles = 20;  // of a step
constexpr std::uint64_t kStepEvents = kHeadNames + kTileNames * kTiles;

std::unique_ptr<Store> stepped_store(std::uint64_t events) {
  auto store = Store::create();
  if (!store) return nullptr;
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "kernel"});
  std::mt19937_64 random(1);
  struct Planned {
    const char *name, *kind;
  };
  for (const Planned& planned : {Planned{"stream 7", "stream"}, {"stream 20", "stream"}, {"main", "host_thread"}}) {
    const TrackNumber track =
        writer.add_track({.name = planned.name, .kind = planned.kind, .device = "gpu 0", .schema = schema});
    std::int64_t at = 0;
    const auto add = [&](const std::string& name) {
      const auto length = static_cast<std::int64_t>(800 + random() % 400);
      writer.begin_event(track, at, length, writer.intern(name));
      at += length + 20;
    };
    for (std::uint64_t step = 0; step < events / 3 / kStepEvents; ++step) {
      for (int i = 0; i < kHeadNames; ++i)
        add(fmt::format("{} head {}{}", planned.name, static_cast<char>('a' + i / 26),
                        static_cast<char>('a' + i % 26)));
      for (int tile = 0; tile < kTiles; ++tile) {
        for (int i = 0; i < kTileNames; ++i) add(fmt::format("{} tile {}", planned.name, static_cast<char>('a' + i)));
        if (random() % 4 == 0) add(fmt::format("foreign {}", static_cast<char>('a' + random() % 20)));
      }
    }
    writer.flush(track);
  }
  if (!writer.finish()) return nullptr;
  return std::move(*store);
}

}  // namespace

void bench_iterations(const BenchOptions& options) {
  const auto store = stepped_store(static_cast<std::uint64_t>(10e6 * options.scale));
  if (!store) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  std::shared_ptr<const IterationList> list;
  const double found = best_seconds(3, [&] {
    if (const auto answer = find_iterations(query, {})) list = *answer;
  });
  if (!list || list->loops.empty()) return;
  const double yardstick = best_seconds(3, [&] { static_cast<void>(selection_summary(query, {}, nullptr).ok()); });
  const std::string recipe = fmt::format(
      "{} events on two streams and a thread, steps of {} with {} tiles; {} loops, {} iterations of the first; "
      "in-memory store; two threads",
      query.snapshot->event_count, kStepEvents, kTiles, list->loops.size(),
      list->loops.front().folded.iterations.size());
  report({"iterations_fold", found, "s", "at most 2 for 10 M events", "a summary that looks at every event", yardstick,
          recipe});
  const double regions = best_seconds(3, [&] { static_cast<void>(find_regions(query, {}, "stream 7 tile").ok()); });
  report({"regions_by_name", regions, "s", "", "", 0, recipe});
}

}  // namespace accelscope::bench
