// Advice beside a truth that is known: kernels with one planted defect each, and clean ones.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "core/analysis/advice/advice.h"
#include "core/analysis/time/session_activity.h"
#include "tests/support/planted/kernel.h"

using namespace accelscope;
using capture::sim::Defect;
using capture::sim::PlantedKernel;

namespace {

struct PlantedRun {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  std::int64_t total_ns = 0;
  std::shared_ptr<const analysis::Advice> advice;

  explicit PlantedRun(PlantedKernel kernel) {
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate_planted(std::move(kernel), sink).ok());
    const QueryContext query{*store, store->snapshot(), pool_, control_};
    const auto active = analysis::find_active_stretch(query);
    REQUIRE(active.ok());
    REQUIRE(active->has_value());
    total_ns = (*active)->length_ns();
  }
  void judge() {
    const QueryContext query{*store, store->snapshot(), pool_, control_};
    const auto dependencies = analysis::Dependencies::build(query);
    REQUIRE(dependencies.ok());
    auto found = analysis::find_advice(query, {}, dependencies->get());
    REQUIRE(found.ok());
    advice = std::move(found).value();
  }

 private:
  WorkerPool pool_{1};
  TaskControl control_;
};

// ACCELSCOPE_PLANTED_SEEDS=37 judges more than 400 kernels with a defect, ACCELSCOPE_PLANTED_VERBOSE=1 tells of each.
int asked_seeds(int usual) {
  const char* const asked = std::getenv("ACCELSCOPE_PLANTED_SEEDS");
  return asked != nullptr ? std::atoi(asked) : usual;
}

// What the first finding must be.
struct Expected {
  Defect defect;
  std::vector<std::string_view> rules;
};
const std::vector<Expected>& expected() {
  static const std::vector<Expected> all = {{Defect::reload, {"reloaded_tensor"}},
                                            {Defect::small_dmas, {"small_transfers"}},
                                            {Defect::serial_engines, {"serial_engines"}},
                                            {Defect::single_buffer, {"single_buffer"}},
                                            {Defect::narrow_tile, {"low_utilisation"}},
                                            {Defect::spill, {"spills"}},
                                            {Defect::throttle, {"throttling"}},
                                            {Defect::transposes, {"transposes"}},
                                            {Defect::late_collective, {"late_collective"}},
                                            {Defect::straggling_rank, {"straggling_rank"}},
                                            {Defect::launch_gap, {"launch_gaps"}}};
  return all;
}

std::string reported(const analysis::Finding& each, std::int64_t total) {
  return fmt::format("{} {} {:.1f} % '{}'", each.rule->name, each.source,
                     100.0 * static_cast<double>(each.saving_ns) / static_cast<double>(total), each.headline);
}

}  // namespace

TEST_CASE("planted: the first finding names the cause, its line and what mending it saves") {
  const bool verbose = std::getenv("ACCELSCOPE_PLANTED_VERBOSE") != nullptr;
  const int seeds = asked_seeds(6);
  int all = 0, named = 0, close = 0;
  std::string table;
  for (const Expected& each : expected()) {
    int right_rule = 0, right_line = 0, right_saving = 0;
    double worst = 0, share = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      PlantedKernel slow = capture::sim::plant_kernel(each.defect, static_cast<std::uint64_t>(seed), false);
      const std::string line = slow.line;
      PlantedRun run(std::move(slow));
      const PlantedRun repaired(capture::sim::plant_kernel(each.defect, static_cast<std::uint64_t>(seed), true));
      run.judge();
      const auto truth = static_cast<double>(run.total_ns - repaired.total_ns);
      share += truth / static_cast<double>(run.total_ns) / seeds;
      const auto& findings = run.advice->findings;
      const analysis::Finding* first = findings.empty() ? nullptr : findings.data();
      const bool rule =
          first != nullptr && std::find(each.rules.begin(), each.rules.end(), first->rule->name) != each.rules.end();
      const bool at_line = rule && first->source == line;
      const double off = rule ? static_cast<double>(first->saving_ns) / truth - 1 : 1;
      right_rule += rule ? 1 : 0;
      right_line += at_line ? 1 : 0;
      right_saving += rule && std::abs(off) <= 0.05 ? 1 : 0;
      if (rule && std::abs(off) > std::abs(worst)) worst = off;
      if (!verbose) continue;
      fmt::print("{} seed {}: total {} mended {} saves {:.1f} % line {}{}\n", defect_name(each.defect), seed,
                 run.total_ns, repaired.total_ns, 100 * truth / static_cast<double>(run.total_ns), line,
                 rule ? fmt::format(" off {:+.1f} %", 100 * off) : "");
      for (std::size_t i = 0; i < findings.size() && i < 5; ++i)
        fmt::print("    {}\n", reported(findings[i], run.total_ns));
    }
    all += seeds;
    named += right_line;
    close += right_saving;
    table += fmt::format(
        "{:16} {:3} of {} cause, {:3} line, {:3} saving within 5 % (worst {:+.1f} %), true saving {:.0f} %\n",
        defect_name(each.defect), right_rule, seeds, right_line, right_saving, 100 * worst, 100 * share);
  }
  fmt::print("{}all: {} of {} cause and line, {} saving\n", table, named, all, close);
  CHECK(named >= 95 * all / 100);
  CHECK(close >= 95 * all / 100);
}

TEST_CASE("planted: nothing is found of a kernel without a defect") {
  const bool verbose = std::getenv("ACCELSCOPE_PLANTED_VERBOSE") != nullptr;
  int quiet = 0;
  const int clean = asked_seeds(20);
  for (int seed = 1; seed <= clean; ++seed) {
    PlantedRun run(capture::sim::plant_kernel(Defect::none, static_cast<std::uint64_t>(seed), false));
    run.judge();
    quiet += run.advice->findings.empty() ? 1 : 0;
    if (!verbose || run.advice->findings.empty()) continue;
    fmt::print("clean seed {}: total {}\n", seed, run.total_ns);
    for (const analysis::Finding& each : run.advice->findings) fmt::print("    {}\n", reported(each, run.total_ns));
  }
  fmt::print("clean: nothing found of {} in {}\n", quiet, clean);
  CHECK(quiet * 100 >= 95 * clean);
}
