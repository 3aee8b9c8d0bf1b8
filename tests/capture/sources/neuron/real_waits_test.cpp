// Waits of real profiles, where the environment names a folder that holds some: what a kernel's transfers cost it is
// what a kernel without them is faster by.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "core/analysis/advice/advice.h"
#include "core/analysis/replay/what_if.h"
#include "tests/capture/imported.h"

namespace accelscope::capture {
namespace {

std::string real_profile(const char* name) {
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return {};
  const std::filesystem::path file = std::filesystem::path(folder) / "neuron" / name;
  return std::filesystem::exists(file) ? file.string() : std::string();
}

struct RealGraph {
  explicit RealGraph(const std::string& file) : session(Imported::file(file)) {
    auto built = analysis::session_graph(query());
    REQUIRE(built.ok());
    graph = *built;
  }
  [[nodiscard]] QueryContext query() { return {session.store(), session.store().snapshot(), pool, control}; }
  analysis::WhatIfResult what_if(const char* text) {
    const auto change = analysis::parse_change(text);
    REQUIRE(change.ok());
    auto result = analysis::replay_with_changes(query(), *graph, {&*change, 1}, graph->begin_of_all_ns);
    REQUIRE_MESSAGE(result.ok(), text);
    return std::move(*result);
  }
  Imported session;
  WorkerPool pool{1};
  TaskControl control;
  std::shared_ptr<const analysis::WorkGraph> graph;
};

}  // namespace

TEST_CASE("what a real kernel's round trips through device memory cost holds what the fused kernel is faster by") {
  const std::string baseline = real_profile("allenkchau__baseline_bf16_s512.json"),
                    fused = real_profile("allenkchau__fused_bf16_s512.json");
  if (baseline.empty() || fused.empty()) {
    MESSAGE("skipped: ACCELSCOPE_REAL_DATA names no such profiles");
    return;
  }
  RealGraph before(baseline), after(fused);
  // Every transfer is joined with what waits for it.
  for (const RealGraph* each : {&before, &after}) {
    CHECK(each->graph->transfer_waits.matched > 0);
    CHECK(each->graph->transfer_waits.inferred + each->graph->transfer_waits.unknown == 0);
  }
  const std::int64_t faster_ns = before.graph->end_of_all_ns - after.graph->end_of_all_ns;
  const analysis::WhatIfResult dropped = before.what_if("drop spills");
  MESSAGE("drop spills: " << dropped.least_ns << " to " << dropped.most_ns << " ns, measured " << faster_ns);
  CHECK(dropped.least_ns <= faster_ns);
  CHECK(dropped.most_ns >= faster_ns);
  CHECK(dropped.most_ns <= 2 * dropped.least_ns);
  // It is what the kernel is told first.
  const auto advice = analysis::find_advice(before.query(), {});
  REQUIRE((advice.ok() && !(*advice)->findings.empty()));
  CHECK((*advice)->findings.front().change == "drop spills");
  CHECK((*advice)->findings.front().least_ns <= faster_ns);
  CHECK((*advice)->findings.front().saving_ns >= faster_ns);
  const analysis::WhatIfResult faster = before.what_if("dma bandwidth x1000");
  MESSAGE("dma bandwidth x1000: " << faster.least_ns << " to " << faster.most_ns << " ns");
  CHECK(faster.least_ns > 0);
  CHECK(faster.most_ns <= dropped.most_ns + 4'000);  // the loads at the begin beside them
  // The fused kernel has none.
  const auto change = analysis::parse_change("drop spills");
  CHECK_FALSE(
      analysis::replay_with_changes(after.query(), *after.graph, {&*change, 1}, after.graph->begin_of_all_ns).ok());
}

TEST_CASE("transfers of real kernels that name no semaphore are joined with their waits, and 8 of 8 is no throttling") {
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return;
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder) / "neuron")) {
    if (entry.path().extension() != ".json") continue;
    ++seen;
    CAPTURE(entry.path().filename().string());
    RealGraph real(entry.path().string());
    CHECK(real.graph->transfer_waits.matched + real.graph->transfer_waits.recorded > 0);
    CHECK(real.graph->transfer_waits.unknown == 0);
    const auto change = analysis::parse_change("lift throttling");
    CHECK_FALSE(
        analysis::replay_with_changes(real.query(), *real.graph, {&*change, 1}, real.graph->begin_of_all_ns).ok());
  }
  CHECK(seen > 0);
}

}  // namespace accelscope::capture
