// Count and busy time by name over ranges of a large session.
#include "core/lod/range_statistics.h"

#include <fmt/format.h>

#include <random>

#include "tests/bench/base/figures.h"
#include "tests/bench/base/generated_store.h"

namespace accelscope::bench {
namespace {

void measure(const BenchOptions& options, std::uint32_t names, const char* figure, const char* must) {
  const auto data = generate_store(static_cast<std::uint64_t>(50e6 * options.scale), names,
                                   [](std::uint32_t i) { return "opcode_" + std::to_string(i); });
  if (!data) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{*data->store, data->store->snapshot(), pool, control};
  const LaneIndices lanes = all_lanes(*query.snapshot);
  std::mt19937_64 random(1);
  const auto length = static_cast<std::uint64_t>(query.snapshot->end_ns);
  double worst = 0;
  TimeRange worst_range;
  std::uint64_t worst_decoded = 0;
  bool failed = false;
  for (int i = 0; i < 24; ++i) {
    auto a = static_cast<std::int64_t>(random() % length);
    auto b = static_cast<std::int64_t>(random() % length);
    if (i == 0) a = 0, b = query.snapshot->end_ns;
    const TimeRange range{std::min(a, b), std::max(a, b)};
    std::uint64_t decoded = 0;
    const double time = best_seconds(3, [&] {
      const auto result = lod::name_statistics(query, lanes, range);
      failed |= !result.ok();
      if (result) decoded = result->decoded_chunks;
    });
    if (time > worst) {
      worst = time;
      worst_range = range;
      worst_decoded = decoded;
    }
  }
  if (failed) return;
  report({figure, worst * 1e3, "ms", must, "a plain scan of the name and duration columns, all events, two threads",
          plain_scan_seconds(*data, pool) * 1e3,
          fmt::format("slowest of 24 ranges, {} events, {} names; it covers {:.0f} % of the session and decoded {} "
                      "chunks; {}",
                      data->names.size(), names,
                      100.0 * static_cast<double>(worst_range.length_ns()) / static_cast<double>(length), worst_decoded,
                      kGeneratedRecipe)});
}

}  // namespace

void bench_range_statistics(const BenchOptions& options) {
  measure(options, 4096, "range_statistics_4096_names", "at most 20");
  measure(options, 1'000'000, "range_statistics_1M_names", "at most 150");
}

}  // namespace accelscope::bench
