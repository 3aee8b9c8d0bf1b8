// The tree of a large session, and the flame graph of a million stacks.
#include "core/analysis/hierarchy/hierarchy.h"

#include <fmt/format.h>

#include <ctime>

#include "app/content/hierarchy/tree_rows.h"
#include "core/analysis/hierarchy/hierarchy_index.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/base/generated_store.h"

namespace accelscope::bench {
namespace {

// Of all threads: a machine that has other work, too, does not change it.
double processor_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// What a panel keeps of a session: added up once in the background, then asked for the session and for ranges of it.
void measure_index(const QueryContext& query, const char* kind) {
  std::shared_ptr<const analysis::HierarchyIndex> index;
  const double built = best_seconds(1, [&] {
    auto made = analysis::HierarchyIndex::build(query, kind, nullptr);
    if (made) index = std::move(*made);
  });
  if (!index) return;
  report(
      {fmt::format("hierarchy_index_by_{}", kind), built * 1e3, "ms", "", "", 0,
       fmt::format("once, in the background; it keeps {:.1f} MB", static_cast<double>(index->memory_bytes()) / 1e6)});
  const Snapshot& snapshot = *query.snapshot;
  const std::int64_t tenth = (snapshot.end_ns - snapshot.begin_ns) / 10;
  const TimeRange middle{snapshot.begin_ns + tenth + 12'345, snapshot.end_ns - tenth - 12'345};
  for (const auto& [name, range] : {std::pair("session", TimeRange{}), std::pair("range", middle)}) {
    bool failed = false;
    const double time = best_seconds(5, [&, range = range] {
      failed |= !analysis::session_hierarchy(query, {.kind = kind}, range, {.index = index.get()}).ok();
    });
    if (failed) return;
    report({fmt::format("hierarchy_of_{}_by_{}", name, kind), time * 1e3, "ms", "at most 300", "", 0,
            "the same session, from its index; the range leaves out a tenth at each end"});
  }
}

void measure_tree(const BenchOptions& options) {
  const auto data = generate_store(static_cast<std::uint64_t>(50e6 * options.scale), 4096,
                                   [](std::uint32_t i) { return "opcode_" + std::to_string(i); });
  if (!data) return;
  WorkerPool pool(1);  // and the thread that asks
  TaskControl control;
  const QueryContext query{*data->store, data->store->snapshot(), pool, control};
  const double plain = plain_scan_seconds(*data, pool) * 1e3;
  for (const char* kind : {"line", "name"}) {
    bool failed = false;
    std::size_t nodes = 0;
    const double before = processor_ms();
    const double time = best_seconds(2, [&] {
      const auto tree = analysis::session_hierarchy(query, {.kind = kind});
      failed |= !tree.ok();
      if (tree) nodes = (*tree)->nodes.size();
    });
    if (failed) return;
    const double worked = (processor_ms() - before) / 2;
    report({fmt::format("hierarchy_by_{}", kind), time * 1e3, "ms", "at most 300",
            "a plain scan of the name and duration columns, all events, two threads", plain,
            fmt::format("{} events, {} nodes, union of time by node and engine; {:.0f} ms of processors; {}",
                        data->names.size(), nodes, worked, kGeneratedRecipe)});
    measure_index(query, kind);
  }
}

// Stacks of eight levels with ten calls in each call, a million in all.
analysis::Hierarchy million_stacks(std::size_t wanted) {
  analysis::Hierarchy tree;
  tree.labels = {"", "call"};
  tree.nodes.resize(1);
  tree.nodes[0].cover.busy_ns = 1'000'000'000;
  constexpr std::uint32_t kCalls = 10;
  for (std::size_t at = 0; tree.nodes.size() + kCalls <= wanted; ++at) {
    tree.nodes[at].first_child = static_cast<std::uint32_t>(tree.nodes.size());
    tree.nodes[at].child_count = kCalls;
    for (std::uint32_t i = 0; i < kCalls; ++i) {
      analysis::HierarchyNode child;
      child.parent = static_cast<std::uint32_t>(at);
      child.label = 1;
      child.depth = static_cast<std::uint16_t>(tree.nodes[at].depth + 1);
      child.cover.busy_ns = tree.nodes[at].cover.busy_ns * (kCalls - i) / 60;
      tree.nodes.push_back(child);
    }
  }
  return tree;
}

void measure_flame(const BenchOptions& options) {
  const analysis::Hierarchy tree = million_stacks(static_cast<std::size_t>(1e6 * options.scale));
  const double once =
      best_seconds(3, [&] { const app::content::FlameLayout layout(tree, app::content::LayerMeasure::busy); }) * 1e3;
  const std::string recipe = fmt::format("{} stacks, ten calls in each call, 1,600 pixels, 20 rows", tree.nodes.size());
  report({"flame_layout", once, "ms", "at most 200", "", 0, recipe});
  const app::content::FlameLayout layout(tree, app::content::LayerMeasure::busy);
  std::vector<app::content::FlameBox> boxes;
  const double frame = best_seconds(10, [&] { layout.boxes(tree, 0, 1600, 20, boxes); }) * 1e3;
  report(
      {"flame_boxes_of_a_frame", frame, "ms", "at most 2", "", 0, fmt::format("{}; {} boxes", recipe, boxes.size())});
}

}  // namespace

void bench_hierarchy(const BenchOptions& options) {
  measure_tree(options);
  measure_flame(options);
}

}  // namespace accelscope::bench
