// The summary of a selection in a large session: boxes of any size, and the index that makes them fast.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "core/analysis/selection/summary.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/base/generated_store.h"

namespace accelscope::bench {
namespace {

constexpr int kBoxes = 200;

EventFilter random_box(const Snapshot& snapshot, std::mt19937_64& random) {
  const auto length = static_cast<std::uint64_t>(snapshot.end_ns);
  const auto a = static_cast<std::int64_t>(random() % length);
  const auto b = static_cast<std::int64_t>(random() % length);
  EventFilter box;
  box.range = TimeRange{std::min(a, b), std::max(a, b)};
  if (random() % 2 == 0) {  // some of the lanes, one below the other, else all
    const std::size_t first = random() % snapshot.tracks.size();
    const std::size_t last = first + 1 + random() % (snapshot.tracks.size() - first);
    for (std::size_t t = first; t < last; ++t) box.tracks.push_back(snapshot.tracks[t].track->number);
  }
  return box;
}

void measure(const BenchOptions& options, std::uint32_t names, const char* suffix, const char* must) {
  const auto data = generate_store(static_cast<std::uint64_t>(50e6 * options.scale), names,
                                   [](std::uint32_t i) { return "opcode_" + std::to_string(i); });
  if (!data) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{*data->store, data->store->snapshot(), pool, control};
  std::shared_ptr<const analysis::SummaryIndex> index;
  const double build = seconds([&] {
    if (const auto built = analysis::SummaryIndex::build(query, nullptr)) index = *built;
  });
  if (!index) return;
  bool failed = false;
  std::uint64_t decoded = 0;
  const auto summarise = [&](const EventFilter& filter, const analysis::SummaryIndex* from) {
    return seconds([&] {
      const auto summary = analysis::selection_summary(query, filter, from);
      failed |= !summary.ok();
      if (summary) decoded = (*summary)->decoded_chunks;
    });
  };
  const double scan = summarise({}, nullptr);
  const double whole = best_seconds(3, [&] { static_cast<void>(summarise({}, index.get())); });
  const std::uint64_t whole_decoded = decoded;
  std::mt19937_64 random(1);
  std::vector<double> times;
  for (int i = 0; i < kBoxes; ++i) times.push_back(summarise(random_box(*query.snapshot, random), index.get()));
  std::sort(times.begin(), times.end());
  if (failed) return;
  const auto events = static_cast<double>(query.snapshot->event_count);
  const std::string recipe =
      fmt::format("{} events, {} names; {}", query.snapshot->event_count, names, kGeneratedRecipe);
  const char* yardstick = "looking at every event";
  report({fmt::format("selection_summary_whole{}", suffix), whole * 1e3, "ms", must, yardstick, scan * 1e3,
          fmt::format("everything; {} chunks decoded; {}", whole_decoded, recipe)});
  report({fmt::format("selection_summary_box_p99{}", suffix), times[times.size() * 99 / 100] * 1e3, "ms", must,
          yardstick, scan * 1e3,
          fmt::format("{} boxes of random time, half of them of random lanes, each asked once, median {:.2f} ms; {}",
                      kBoxes, times[times.size() / 2] * 1e3, recipe)});
  report({fmt::format("selection_index_build{}", suffix), build, "s", "", yardstick, scan, recipe});
  report({fmt::format("selection_index_memory{}", suffix), static_cast<double>(index->memory_bytes()) / events,
          "bytes per event", "at most 2.1", "", 0, recipe});
}

}  // namespace

void bench_selection(const BenchOptions& options) {
  measure(options, 64, "", "at most 20");
  measure(options, 4096, "_4096_names", "");
}

}  // namespace accelscope::bench
