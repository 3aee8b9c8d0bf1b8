// Advice beside a truth that is known, of hosts, streams and ranks: sessions with one planted defect each, clean ones
// and mended ones.
#include <doctest/doctest.h>

#include "tests/capture/sim/planted_run.h"
#include "tests/support/planted/gpu.h"

using namespace accelscope;
using capture::sim::GpuDefect;
using test::JudgedSession;
using test::PlantedScore;
using test::PlantedSeeds;

namespace {

JudgedSession gpu_session(GpuDefect defect, std::uint64_t seed, bool repaired) {
  return JudgedSession(
      [&](EventSink& sink) { return capture::sim::simulate_planted_gpu(defect, seed, repaired, sink); });
}

struct ExpectedOfGpu {
  GpuDefect defect;
  std::string_view rule;
  std::string_view headline;  // is said in it
};
constexpr ExpectedOfGpu kOfGpus[] = {
    {GpuDefect::slow_host, "launch_gaps", ""},        {GpuDefect::slow_loader, "loader_waits", "DataLoader"},
    {GpuDefect::sync_each_step, "synchronising", ""}, {GpuDefect::blocking_copy, "blocking_copies", "hold up the host"},
    {GpuDefect::tiny_kernels, "tiny_kernels", ""},    {GpuDefect::one_stream, "one_stream", ""},
    {GpuDefect::straggler, "straggling_rank", ""},
};

}  // namespace

TEST_CASE("planted GPU: the first finding names the cause and what mending it saves") {
  const PlantedSeeds seeds(4);
  PlantedScore sum;
  std::string table;
  for (const ExpectedOfGpu& each : kOfGpus) {
    PlantedScore score{.defect = gpu_defect_name(each.defect)};
    for (int i = 0; i < seeds.count; ++i) {
      const std::uint64_t seed = seeds.first + static_cast<std::uint64_t>(i);
      const JudgedSession slow = gpu_session(each.defect, seed, false), repaired = gpu_session(each.defect, seed, true);
      const std::string device = capture::sim::planted_device(each.defect, seed);
      score.add(slow, repaired, [&](const analysis::Finding& first) {
        return first.rule->name == each.rule && first.headline.find(each.headline) != std::string::npos &&
               (device.empty() || first.device == device);
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

TEST_CASE("planted GPU: nothing is found of a session without a defect") {
  const PlantedSeeds seeds(10);
  int quiet = 0;
  for (int i = 0; i < seeds.count; ++i) {
    const std::uint64_t seed = seeds.first + static_cast<std::uint64_t>(i);
    const JudgedSession clean = gpu_session(GpuDefect::none, seed, false);
    quiet += clean.advice->findings.empty() ? 1 : 0;
    if (seeds.verbose && !clean.advice->findings.empty()) clean.print(fmt::format("clean GPU seed {}", seed));
  }
  fmt::print("clean GPU: nothing found of {} in {}\n", quiet, seeds.count);
  CHECK(quiet * 100 >= 95 * seeds.count);
}
