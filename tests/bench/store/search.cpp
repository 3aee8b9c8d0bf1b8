// A regular expression over the names of a large session: hits counted, then stepped through.
#include "core/search/search.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/bench/base/figures.h"
#include "tests/bench/base/generated_store.h"

namespace accelscope::bench {
namespace {

constexpr std::uint32_t kNames = 10'000;
constexpr const char* kExpression = "/(matmul|copy)_[0-9]*[37]$/";

std::string name_text(std::uint32_t i) {
  constexpr const char* kKinds[] = {"matmul", "activate", "copy", "transpose", "reduce"};
  return std::string(kKinds[i % 5]) + "_" + std::to_string(i);
}

// A loop over the plain name column that looks every name up in a table of one byte.
double plain_scan_seconds(const GeneratedStore& data, const std::vector<char>& wanted, WorkerPool& pool) {
  return best_seconds(3, [&] {
    std::vector<std::uint64_t> hits(pool.concurrency() * 8, 0);
    constexpr std::size_t kAtOnce = 1U << 20;
    TaskControl control;
    pool.for_each((data.names.size() + kAtOnce - 1) / kAtOnce, control, [&](std::size_t part, std::size_t worker) {
      const std::size_t end = std::min(data.names.size(), (part + 1) * kAtOnce);
      std::uint64_t found = 0;
      for (std::size_t i = part * kAtOnce; i < end; ++i) found += static_cast<std::uint64_t>(wanted[data.names[i]]);
      hits[worker * 8] += found;
    });
  });
}

}  // namespace

void bench_search(const BenchOptions& options) {
  const auto data = generate_store(static_cast<std::uint64_t>(50e6 * options.scale), kNames, name_text);
  if (!data) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{*data->store, data->store->snapshot(), pool, control};
  const LaneIndices lanes = all_lanes(*query.snapshot);
  bool failed = false;
  std::uint64_t hits = 0;
  std::vector<char> wanted(kNames, 0);
  const double count = best_seconds(5, [&] {
    const auto parsed = search::parse_search(kExpression);
    const auto search =
        parsed ? search::EventSearch::run(query, *parsed, lanes) : Result<search::EventSearch>(parsed.error());
    failed |= !search.ok();
    if (search) hits = search->total();
  });
  const auto search = search::EventSearch::run(query, *search::parse_search(kExpression), lanes);
  if (failed || !search) return;
  for (std::uint32_t i = 0; i < kNames; ++i) {
    wanted[i] = search->matches_name(query.snapshot->strings->find(name_text(i))) ? 1 : 0;
  }
  const std::string recipe = fmt::format("{} over {} names, {} events, {} hits; {}", kExpression, kNames,
                                         data->names.size(), hits, kGeneratedRecipe);
  report({"search_count", count * 1e3, "ms", "at most 60", "a plain scan of the name column, two threads",
          plain_scan_seconds(*data, wanted, pool) * 1e3, recipe});

  const auto found = search->hits(query);
  if (!found) return;
  EventReader reader(*data->store, query.snapshot);
  std::vector<double> steps;
  const std::int64_t stride = query.snapshot->end_ns / 200;
  for (std::int64_t i = 0; i < 200; ++i) {
    steps.push_back(seconds([&] { failed |= !found->next(reader, {i * stride, kNoEvent}).ok(); }));
  }
  std::sort(steps.begin(), steps.end());
  if (!failed) report({"search_step_p99", steps[198] * 1e3, "ms", "at most 60", "", 0, recipe});
}

}  // namespace accelscope::bench
