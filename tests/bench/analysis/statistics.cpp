// Statistics of a large session by several columns: the whole of it, and a hundredth.
#include "core/analysis/statistics/statistics.h"

#include <fmt/format.h>

#include "core/analysis/statistics/value_details.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/base/generated_store.h"

namespace accelscope::bench {
namespace {

struct StatisticsCase {
  const char* name;
  std::vector<std::string> by;
  const char* value;
};

// Adding durations up by name in plain columns in memory: count, sum, least and greatest, no quantiles.
double plain_seconds(const GeneratedStore& data, WorkerPool& pool) {
  struct Sum {
    std::uint64_t count = 0, total = 0, squares = 0;
    std::uint32_t min = ~0U, max = 0;
  };
  return best_seconds(3, [&] {
    std::vector<std::vector<Sum>> sums(pool.concurrency(), std::vector<Sum>(data.name_count));
    constexpr std::size_t kAtOnce = 1U << 20;
    TaskControl control;
    pool.for_each((data.names.size() + kAtOnce - 1) / kAtOnce, control, [&](std::size_t part, std::size_t worker) {
      const std::size_t end = std::min(data.names.size(), (part + 1) * kAtOnce);
      for (std::size_t i = part * kAtOnce; i < end; ++i) {
        Sum& sum = sums[worker][data.names[i]];
        const std::uint32_t value = data.durations[i];
        ++sum.count;
        sum.total += value;
        sum.squares += std::uint64_t{value} * value;
        sum.min = std::min(sum.min, value);
        sum.max = std::max(sum.max, value);
      }
    });
  });
}

}  // namespace

void bench_statistics(const BenchOptions& options) {
  const auto data = generate_store(static_cast<std::uint64_t>(50e6 * options.scale), 64,
                                   [](std::uint32_t i) { return "opcode_" + std::to_string(i); });
  if (!data) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{*data->store, data->store->snapshot(), pool, control};
  const std::int64_t end_ns = query.snapshot->end_ns;
  const TimeRange part{end_ns / 2, end_ns / 2 + end_ns / 100};
  const double plain = plain_seconds(*data, pool);
  const std::string recipe = fmt::format("{} events, 64 names; {}", query.snapshot->event_count, kGeneratedRecipe);
  const std::vector<StatisticsCase> cases = {{"name", {"name"}, "duration"},
                                             {"line", {"source"}, "duration"},
                                             {"name_bytes", {"name"}, "bytes"},
                                             {"name_track", {"name", "track"}, "duration"},
                                             {"wait_ns", {"wait_ns"}, "duration"}};
  const char* yardstick = "count, sums, least and greatest by name of plain columns in memory";
  for (const StatisticsCase& each : cases) {
    analysis::StatisticsQuestion question{.by = each.by, .value = each.value};
    bool failed = false;
    const auto ask = [&] {
      const auto found = analysis::statistics(query, question);
      failed |= !found.ok();
    };
    const double whole = best_seconds(3, ask);
    question.filter.range = part;
    const double hundredth = best_seconds(5, ask);
    if (failed) return;
    report({fmt::format("statistics_{}", each.name), whole * 1e3, "ms", "at most 150", yardstick, plain * 1e3, recipe});
    report({fmt::format("statistics_{}_1_percent", each.name), hundredth * 1e3, "ms", "at most 20", "", 0, recipe});
  }
  const analysis::StatisticsQuestion question{.by = {"name"}};
  const auto known = analysis::statistics(query, question);
  if (!known) return;
  const double details = best_seconds(3, [&] {
    static_cast<void>(analysis::value_details(query, question, analysis::BinScale::log, nullptr, *known));
  });
  report({"statistics_histogram", details * 1e3, "ms", "", yardstick, plain * 1e3, recipe});
}

}  // namespace accelscope::bench
