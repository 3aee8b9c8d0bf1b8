// What the critical path of a large session takes: the graph of its work, every wait put down to its cause, the path;
// and a change of a what-if on it. Cancelled half-way through, it ends soon.
#include "core/analysis/critical_path/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "capture/sim/output/simulator.h"
#include "core/analysis/critical_path/waits.h"
#include "core/analysis/replay/what_if.h"
#include "core/store/store.h"
#include "tests/bench/base/figures.h"

namespace accelscope::bench {
namespace {

constexpr const char* kPathRecipe =
    "simulated kernels of one core as a profile tells them: engines with semaphores, packets of DMA queues, "
    "collectives, seed 1; two threads";

struct PathAnswer {
  std::shared_ptr<const analysis::WorkGraph> graph;
  std::size_t waits = 0, unknown = 0, segments = 0;
};

Result<PathAnswer> find_all(const QueryContext& query) {
  const auto dependencies = analysis::Dependencies::build(query);
  if (!dependencies) return dependencies.error();
  auto graph = analysis::WorkGraph::build(query, **dependencies);
  if (!graph) return graph.error();
  const auto report = analysis::attribute_waits(**graph, TimeRange{}, query.pool, query.control);
  if (!report) return report.error();
  const analysis::CriticalPath path =
      analysis::find_critical_path(**graph, {(*graph)->begin_of_all_ns, (*graph)->end_of_all_ns});
  return PathAnswer{std::move(*graph), report->waits.size(), report->without_source, path.segments.size()};
}

// From the wish to the end of the work.
double cancel_seconds(const Store& store, WorkerPool& pool, double after_s) {
  TaskControl control;
  const QueryContext query{store, store.snapshot(), pool, control};
  std::atomic<bool> ended{false};
  std::thread work([&] {
    (void)find_all(query);
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::duration<double>(after_s));
  const auto begin = std::chrono::steady_clock::now();
  control.cancel();
  work.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void bench_critical_path(const BenchOptions& options) {
  auto created = Store::create();
  if (!created) return;
  const std::shared_ptr<Store> store = std::move(created).value();
  {
    StoreSink sink(*store);
    const auto kernels = static_cast<std::uint64_t>(std::max(1.0, 380 * options.scale));
    if (!capture::sim::simulate({.seed = 1, .kernels = kernels}, sink).ok()) return;
  }
  const std::uint64_t events = store->snapshot()->event_count;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  PathAnswer answer;
  bool failed = false;
  forget_peak_memory();
  const std::uint64_t resident = current_memory_bytes();
  (void)find_all(query);
  const std::uint64_t peak = peak_memory_bytes() - std::min(resident, peak_memory_bytes());
  const double all = best_seconds(2, [&] {
    answer = {};
    auto found = find_all(query);
    failed = failed || !found.ok();
    if (found) answer = std::move(*found);
  });
  if (failed) return;
  report({"critical_path", all, "s", "at most 2", "", 0,
          fmt::format("{} events, {} in the graph, {} waits, who ended them unknown of {}, {} segments; {}", events,
                      answer.graph->count(), answer.waits, answer.unknown, answer.segments, kPathRecipe)});
  report({"critical_path_memory", static_cast<double>(peak) / static_cast<double>(events), "B/event", "at most 150", "",
          0,
          fmt::format("at most while it works, beyond the session itself; the graph keeps {:.0f} B/event; {}",
                      static_cast<double>(answer.graph->memory_bytes()) / static_cast<double>(events), kPathRecipe)});
  const auto change = analysis::parse_change("dma bandwidth x1.5");
  if (!change) return;
  const double changed = best_seconds(3, [&] {
    const auto result =
        analysis::replay_with_changes(query, *answer.graph, {&*change, 1}, answer.graph->begin_of_all_ns);
    failed = failed || !result.ok();
  });
  if (failed) return;
  report({"what_if", changed * 1e3, "ms", "at most 300", "", 0,
          fmt::format("one change, new times of all events and their path; {} events; {}", events, kPathRecipe)});
  report({"critical_path_cancel", cancel_seconds(*store, pool, all / 2) * 1e3, "ms", "", "", 0,
          fmt::format("from the wish to the end of the work; {} events", events)});
}

}  // namespace accelscope::bench
