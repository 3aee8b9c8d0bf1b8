// Folding what repeats in a long session: 10 M events of steps, tiles and foreign events on three lanes and on one; and
// as many in which nothing repeats.
#include "core/analysis/iterations/iterations.h"

#include <fmt/format.h>

#include <random>
#include <vector>

#include "core/analysis/selection/summary.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"
#include "tests/bench/base/figures.h"

namespace accelscope::bench {
namespace {

constexpr int kForeignNames = 20;

struct SteppedShape {
  const char* figure;
  int lanes, head_names, tile_names, tiles;
  bool repeats = true;
  [[nodiscard]] std::uint64_t step_events() const {
    return static_cast<std::uint64_t>(head_names + tile_names * tiles);
  }
};
constexpr SteppedShape kShapes[] = {{"iterations_fold", 3, 40, 12, 20},
                                    {"iterations_fold_one_lane", 1, 900, 25, 24},
                                    {"iterations_none", 1, 900, 25, 24, false}};

std::unique_ptr<Store> stepped_store(const SteppedShape& shape, std::uint64_t events) {
  auto store = Store::create();
  if (!store) return nullptr;
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "kernel"});
  std::mt19937_64 random(1);
  for (int lane = 0; lane < shape.lanes; ++lane) {
    const TrackNumber track = writer.add_track({.name = fmt::format("stream {}", lane),
                                                .kind = lane == 2 ? "host_thread" : "stream",
                                                .device = "gpu 0",
                                                .schema = schema});
    std::vector<StringId> names;
    for (int i = 0; i < shape.head_names + shape.tile_names + kForeignNames; ++i)
      names.push_back(writer.intern(fmt::format("kernel {} of {}", i, lane)));
    std::int64_t at = 0;
    const auto add = [&](int name) {
      const auto length = static_cast<std::int64_t>(800 + random() % 400);
      const std::uint64_t chosen = shape.repeats ? static_cast<std::uint64_t>(name) : random() % names.size();
      writer.begin_event(track, at, length, names[chosen]);
      at += length + 20;
    };
    const auto steps = events / static_cast<std::uint64_t>(shape.lanes) / shape.step_events();
    for (std::uint64_t step = 0; step < steps; ++step) {
      for (int i = 0; i < shape.head_names; ++i) add(i);
      for (int tile = 0; tile < shape.tiles; ++tile) {
        for (int i = 0; i < shape.tile_names; ++i) add(shape.head_names + i);
        if (random() % 4 == 0) add(shape.head_names + shape.tile_names + static_cast<int>(random() % kForeignNames));
      }
    }
    writer.flush(track);
  }
  if (!writer.finish()) return nullptr;
  return std::move(*store);
}

void fold_shape(const SteppedShape& shape, const BenchOptions& options) {
  const auto store = stepped_store(shape, static_cast<std::uint64_t>(10e6 * options.scale));
  if (!store) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  std::shared_ptr<const analysis::IterationList> list;
  const double found = best_seconds(3, [&] {
    if (const auto answer = analysis::find_iterations(query, {})) list = *answer;
  });
  if (!list || list->loops.empty() == shape.repeats) return;
  const double yardstick =
      best_seconds(3, [&] { static_cast<void>(analysis::selection_summary(query, {}, nullptr).ok()); });
  report({shape.figure, found, "s", "at most 2 for 10 M events", "a summary that looks at every event", yardstick,
          fmt::format("{} events on {} lanes, {}; {} loops, {} iterations of the first; in-memory store; two threads",
                      query.snapshot->event_count, shape.lanes,
                      shape.repeats ? fmt::format("steps of {} with {} tiles", shape.step_events(), shape.tiles)
                                    : "names at random",
                      list->loops.size(), list->loops.empty() ? 0 : list->loops.front().folded.iterations.size())});
}

}  // namespace

void bench_iterations(const BenchOptions& options) {
  for (const SteppedShape& shape : kShapes) fold_shape(shape, options);
}

}  // namespace accelscope::bench
