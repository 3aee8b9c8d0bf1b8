// The simulator as the judge of comparisons: captures of which it is known whether they are of the same kernel.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "capture/sim/kernel/trace.h"
#include "capture/sim/output/simulator.h"
#include "core/analysis/comparison/comparison.h"
#include "core/analysis/comparison/divergence.h"
#include "core/store/store.h"

using namespace accelscope;
namespace sim = accelscope::capture::sim;

namespace {

// From the first to the last instruction of the first pass, in ns.
double simulated_work(std::uint64_t seed, double slower) {
  sim::TracedRun run({.seed = seed, .kernels = 1, .slower = slower});
  std::int64_t begin = INT64_MAX, end = 0;
  while (run.advance()) {
    for (const sim::KernelTrace& trace : run.traces()) {
      if (trace.pass == 0) continue;
      for (const sim::InstructionRecord& record : trace.instructions) {
        begin = std::min(begin, record.start);
        end = std::max(end, record.start + record.duration);
      }
    }
  }
  REQUIRE(end > begin);
  return static_cast<double>(end - begin);
}

}  // namespace

TEST_CASE("comparison: of 100 simulated pairs equal ones are quiet and slower ones are found, five captures a side") {
  constexpr std::size_t kPairs = 100, kCaptures = 5;
  // With this share per operation a pass takes 5 % longer: waits and latencies do not grow with them.
  constexpr double kSlower = 0.0535;
  int alarms = 0, found = 0;
  double truth = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    std::vector<double> base, equal, slower;
    for (std::size_t i = 0; i < kCaptures; ++i) {
      const std::uint64_t seed = 1 + pair * 3 * kCaptures + i;
      base.push_back(simulated_work(seed, 0));
      equal.push_back(simulated_work(seed + kCaptures, 0));
      slower.push_back(simulated_work(seed + 2 * kCaptures, kSlower));
    }
    alarms += analysis::change_of(base, equal).is_reported() ? 1 : 0;
    const analysis::Change change = analysis::change_of(base, slower);
    found += change.reported == analysis::Reported::more ? 1 : 0;
    truth += *change.ratio / kPairs;
  }
  CAPTURE(truth);
  CHECK(alarms == 0);
  CHECK(found >= 95);
  CHECK(truth == doctest::Approx(1.05).epsilon(0.003));
}

namespace {

std::unique_ptr<Store> simulated(const sim::SimulationOptions& options) {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  REQUIRE(sim::simulate(options, sink).ok());
  return std::move(*store);
}

analysis::Divergence divergence_between(const Store& base, const Store& other) {
  WorkerPool pool{2};
  TaskControl control;
  auto found =
      analysis::find_divergence({base, base.snapshot(), pool, control}, {other, other.snapshot(), pool, control});
  REQUIRE(found.ok());
  return *found;
}

}  // namespace

TEST_CASE("divergence: runs of the same kernel on other days have the same checksums everywhere") {
  const auto base = simulated({.seed = 1, .kernels = 2}), other = simulated({.seed = 9, .kernels = 2});
  const analysis::Divergence found = divergence_between(*base, *other);
  CHECK(found.compared > 10'000);
  CHECK(found.differing == 0);
  CHECK(found.base_alone == 0);
  CHECK(found.other_alone == 0);
}

TEST_CASE("divergence: the planted instruction is the first that differs, with its line and what it was handed on to") {
  const auto base = simulated({.seed = 1, .kernels = 1});
  const sim::KernelProgram program = sim::build_demo_kernels({});
  std::mt19937_64 random(4);
  int planted = 0;
  while (planted < 6) {
    const auto operation = static_cast<std::uint32_t>(1 + random() % (program.operations.size() - 1));
    const sim::OperationText& text = program.texts[operation];
    if (program.operations[operation].kind != sim::OperationKind::instruction || text.psum_write + text.sbuf_write == 0)
      continue;
    ++planted;
    CAPTURE(operation);
    sim::SimulationOptions options{.seed = 2, .kernels = 1};
    options.diverging_operation = operation;
    const auto other = simulated(options);
    const analysis::Divergence found = divergence_between(*base, *other);
    REQUIRE_FALSE(found.events.empty());
    const analysis::DivergentPair& first = found.events.front();
    CHECK(first.base.name == program.names[program.operations[operation].name]);
    CHECK_FALSE(first.input_differs());
    for (const analysis::DivergentPair& each : found.events) {
      CHECK(each.base_in <= 65535);
      CHECK((each.base.tensor.empty() || each.base_in == -1));  // of DMAs nothing is known but what they moved
    }
    CHECK(first.base_out != first.other_out);
    REQUIRE_FALSE(found.lines.empty());
    CHECK(found.lines.front().name == first.base.source);
    CHECK(found.lines.front().first == first.base.id);
    for (std::size_t i = 1; i < found.events.size(); ++i) {
      CHECK(found.events[i].base.begin_ns >= first.base.begin_ns);
      if (!found.events[i].produced_by) continue;
      CHECK(found.events[i].produced_by->begin_ns >= first.base.begin_ns);
      CHECK(found.events[i].produced_by->begin_ns <= found.events[i].base.begin_ns);
    }
  }
}
