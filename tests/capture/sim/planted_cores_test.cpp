// Advice beside a truth that is known, of chips of many cores: device logs with one planted defect each, and clean
// ones.
#include <doctest/doctest.h>

#include "tests/capture/sim/planted_run.h"
#include "tests/support/planted/cores.h"

using namespace accelscope;
using capture::sim::CoreDefect;
using test::JudgedSession;
using test::PlantedScore;
using test::PlantedSeeds;

namespace {

JudgedSession chip_session(CoreDefect defect, std::uint64_t seed, bool repaired) {
  return JudgedSession(
      [&](EventSink& sink) { return capture::sim::simulate_planted_cores(defect, seed, repaired, sink); });
}

struct ExpectedOfChip {
  CoreDefect defect;
  std::string_view rule;
};
constexpr ExpectedOfChip kOfChips[] = {
    {CoreDefect::late_dispatch, "dispatch_gaps"}, {CoreDefect::uneven_cores, "unbalanced_cores"},
    {CoreDefect::slow_reader, "waits_for_data"},  {CoreDefect::slow_writer, "waits_for_room"},
    {CoreDefect::few_cores, "few_cores"},
};

}  // namespace

TEST_CASE("planted cores: the first finding names the cause and what mending it saves") {
  const PlantedSeeds seeds(4);
  PlantedScore sum;
  std::string table;
  for (const ExpectedOfChip& each : kOfChips) {
    PlantedScore score{.defect = core_defect_name(each.defect)};
    for (int i = 0; i < seeds.count; ++i) {
      const std::uint64_t seed = seeds.first + static_cast<std::uint64_t>(i);
      const JudgedSession slow = chip_session(each.defect, seed, false),
                          repaired = chip_session(each.defect, seed, true);
      const std::string core = capture::sim::planted_core(each.defect, seed);
      score.add(slow, repaired, [&](const analysis::Finding& first) {
        return first.rule->name == each.rule && first.headline.ends_with(core);
      });
      if (!seeds.verbose) continue;
      slow.print(fmt::format("{} seed {} saves {}", score.defect, seed, slow.total_ns - repaired.total_ns));
      repaired.print("  mended");
    }
    table += score.text();
    sum.add(score);
  }
  fmt::print("{}all: {} of {} cause, {} saving, {} twins quiet\n", table, sum.cause, sum.all, sum.close, sum.quiet);
  CHECK(sum.cause * 100 >= 95 * sum.all);
  CHECK(sum.close * 100 >= 95 * sum.all);
  CHECK(sum.quiet * 100 >= 95 * sum.all);
}

TEST_CASE("planted cores: nothing is found of a chip without a defect") {
  const PlantedSeeds seeds(10);
  int quiet = 0;
  for (int i = 0; i < seeds.count; ++i) {
    const std::uint64_t seed = seeds.first + static_cast<std::uint64_t>(i);
    const JudgedSession clean = chip_session(CoreDefect::none, seed, false);
    quiet += clean.advice->findings.empty() ? 1 : 0;
    if (seeds.verbose && !clean.advice->findings.empty()) clean.print(fmt::format("clean chip seed {}", seed));
  }
  fmt::print("clean chips: nothing found of {} in {}\n", quiet, seeds.count);
  CHECK(quiet * 100 >= 95 * seeds.count);
}
