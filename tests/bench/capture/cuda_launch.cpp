// What the CUDA collector costs a program for each launch on top of CUPTI, for which a stand-in is taken in both runs,
// and what the agent needs for a million launches in ten seconds.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/bench/base/figures.h"
#include "tests/support/process.h"

namespace accelscope::bench {
namespace {

using namespace std::chrono_literals;

// us for each launch.
struct LaunchCost {
  double wall = 0;
  double thread = 0;  // processor time of the thread that launches
};

enum class Traced : std::uint8_t { no, yes, with_stacks };

[[nodiscard]] std::vector<std::string> program(const BenchOptions& bench, Traced traced,
                                               const std::vector<std::string>& words) {
  const std::string libraries = bench.program_folder + "/../lib";
  const std::string stand_in = libraries + "/libcupti_stand_in.so";
  std::vector<std::string> argv = {"/usr/bin/env",
                                   (traced == Traced::no ? "STAND_IN_PATH=" : "ACCELSCOPE_CUPTI=") + stand_in,
                                   "LD_LIBRARY_PATH=" + libraries};
  if (traced != Traced::no) {
    for (const std::string& word :
         {bench.program_folder + "/accelscope-agent", std::string("run"), std::string("--force"), std::string("-o"),
          bench.work_folder + "/cuda.accel", std::string("--kind"), std::string("cuda"), std::string("--gpu-counters"),
          std::string("off"), std::string("--stacks"), std::string(traced == Traced::with_stacks ? "on" : "off"),
          std::string("--")}) {
      argv.push_back(word);
    }
  }
  argv.push_back(bench.program_folder + "/cuda_for_tests");
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

// The program prints the medians of its rounds.
LaunchCost time_launches(const BenchOptions& bench, Traced traced) {
  const auto launches = std::to_string(static_cast<long>(10'000 * bench.scale));
  LaunchCost cost;
  Result<test::Process> process = test::Process::start(program(bench, traced, {"timed", launches}));
  if (!process) return cost;
  const std::optional<std::string> line = process->wait_for("median", 120s);
  if (line) (void)std::sscanf(line->c_str(), "median wall %lf thread %lf", &cost.wall, &cost.thread);
  (void)process->finish(120s);
  return cost;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace

void bench_cuda_launch(const BenchOptions& bench) {
  constexpr int kPairs = 9;
  std::vector<double> plain_wall, traced_wall, plain_thread, traced_thread, stacks_thread;
  for (int pair = 0; pair < kPairs; ++pair) {
    const LaunchCost plain = time_launches(bench, Traced::no);
    const LaunchCost traced = time_launches(bench, Traced::yes);
    plain_wall.push_back(plain.wall);
    traced_wall.push_back(traced.wall);
    plain_thread.push_back(plain.thread);
    traced_thread.push_back(traced.thread);
    stacks_thread.push_back(time_launches(bench, Traced::with_stacks).thread);
  }
  const std::string recipe =
      "a launch is a call and a kernel; 31 rounds of 10,000 launches without a pause, medians of 9 runs with and 9 "
      "without the collector, one after the other";
  report({"cuda_launch", median(traced_wall) - median(plain_wall), "us more a launch", "at most 0.35",
          "an empty consumer of the same records", median(plain_wall),
          recipe + "; wall time, agent and program on the same processors"});
  report({"cuda_launch_thread", median(traced_thread) - median(plain_thread), "us more a launch", "at most 0.35",
          "an empty consumer of the same records", median(plain_thread),
          recipe + "; processor time of the thread that launches"});
  report({"cuda_stacks", median(stacks_thread) - median(traced_thread), "us more a launch", "",
          "the same without stacks", median(traced_thread),
          recipe + "; what --stacks adds to the launching thread, of a stack of 6 functions"});

  const auto launches = static_cast<long>(1'000'000 * bench.scale);
  Result<test::Process> process =
      test::Process::start(program(bench, Traced::yes, {"pace", std::to_string(launches), "10"}));
  if (!process) return;
  const std::optional<std::string> line = process->wait_for("events", 60s);
  (void)process->finish(10s);
  constexpr double kMiB = 1024 * 1024;
  report({"cuda_agent_memory", static_cast<double>(process->peak_bytes()) / kMiB, "MiB", "at most 200", "", 0,
          "the agent's memory at most, for a million launches, their calls and arrows in 10 s; it says: " +
              line.value_or("")});
}

}  // namespace accelscope::bench
