// Two large sessions beside each other: their figures, and their costs by name, opcode and line.
#include "core/analysis/comparison/comparison.h"

#include <fmt/format.h>

#include <array>

#include "capture/sim/output/simulator.h"
#include "core/analysis/comparison/divergence.h"
#include "tests/bench/base/figures.h"

namespace accelscope::bench {
namespace {

std::unique_ptr<Store> simulated_store(std::uint64_t seed, std::uint64_t events) {
  auto store = Store::create();
  if (!store) return nullptr;
  StoreSink sink(**store);
  if (!capture::sim::simulate({.seed = seed, .events = events}, sink)) return nullptr;
  return std::move(*store);
}

}  // namespace

void bench_comparison(const BenchOptions& options) {
  const auto events = static_cast<std::uint64_t>(10e6 * options.scale);
  const std::array<std::unique_ptr<Store>, 2> stores = {simulated_store(1, events), simulated_store(2, events)};
  if (!stores[0] || !stores[1]) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  std::array<QueryContext, 2> queries = {QueryContext{*stores[0], stores[0]->snapshot(), pool, control},
                                         QueryContext{*stores[1], stores[1]->snapshot(), pool, control}};
  for (const char* by : {"metric", "kernel", "opcode", "line"}) {
    std::size_t rows = 0;
    bool failed = false;
    const double time = best_seconds(2, [&] {
      std::vector<analysis::CaptureFigures> captures;
      for (const QueryContext& query : queries) {
        auto figures = analysis::capture_figures(query, {by});
        failed |= !figures.ok();
        if (figures) captures.push_back(std::move(*figures));
      }
      if (failed) return;
      const analysis::Comparison comparison = analysis::compare_captures(captures, {{"a", {0}}, {"b", {1}}});
      rows = comparison.costs.empty() ? comparison.metrics.size() : comparison.costs.front().rows.size();
    });
    if (failed) return;
    report({fmt::format("compare_by_{}", by), time * 1e3, "ms", "at most 1500", "", 0,
            fmt::format("two simulated sessions of {} events, {} rows, opened before", events, rows)});
  }
  bool failed = false;
  const double time = best_seconds(1, [&] { failed |= !analysis::find_divergence(queries[0], queries[1]).ok(); });
  if (!failed) report({"divergence", time * 1e3, "ms", "", "", 0, "the same sessions"});
}

}  // namespace accelscope::bench
