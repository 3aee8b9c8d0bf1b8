// What the OpenCL layer costs a program for each launch of an empty kernel.
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
  double wall = 0;    // until all have ended
  double thread = 0;  // processor time of the thread that launches
};

// The program prints the medians of its rounds.
LaunchCost run_program(const BenchOptions& bench, bool traced, const std::string& what) {
  std::vector<std::string> argv;
  if (traced) {
    argv = {bench.program_folder + "/accelscope-agent", "run",    "--force", "-o",
            bench.work_folder + "/opencl.accel",        "--kind", "opencl",  "--"};
  }
  const auto launches = std::to_string(static_cast<long>(10'000 * bench.scale));
  for (const std::string& word : {bench.program_folder + "/opencl_for_tests", std::string("timed"), launches, what}) {
    argv.push_back(word);
  }
  LaunchCost cost;
  Result<test::Process> process = test::Process::start(argv);
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

void compare(const BenchOptions& bench, const std::string& what, const std::string& name, const std::string& recipe) {
  constexpr int kPairs = 9;
  std::vector<double> plain_wall, traced_wall, plain_thread, traced_thread;
  for (int pair = 0; pair < kPairs; ++pair) {
    const LaunchCost plain = run_program(bench, false, what);
    const LaunchCost traced = run_program(bench, true, what);
    if (plain.wall <= 0 || traced.wall <= 0) {
      std::fprintf(stderr, "accelscope-bench: %s needs an OpenCL platform, such as PoCL\n", name.c_str());
      return;
    }
    plain_wall.push_back(plain.wall);
    traced_wall.push_back(traced.wall);
    plain_thread.push_back(plain.thread);
    traced_thread.push_back(traced.thread);
  }
  const double plain = median(plain_wall);
  report({name, median(traced_wall) - plain, "us more a launch", "at most 0.5", "the program without the layer", plain,
          recipe + "; from the first call to the end of the last kernel, agent and device on the same processors; "
                   "medians of 9 runs with and 9 without the layer, one after the other"});
  const double thread = median(plain_thread);
  report({name + "_thread", median(traced_thread) - thread, "us more a launch", "at most 0.5",
          "the program without the layer", thread, recipe + "; processor time of the thread that launches"});
}

}  // namespace

void bench_opencl_launch(const BenchOptions& options) {
  compare(options, "plain", "opencl_launch", "an empty kernel in an in-order queue, 31 rounds of 10,000 launches");
  compare(options, "events", "opencl_launch_events", "the same, the program taking and releasing an event of each");
}

}  // namespace accelscope::bench
