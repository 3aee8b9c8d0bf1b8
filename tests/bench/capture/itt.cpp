// What marks of a program cost it, in its own processor time.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/bench/base/figures.h"
#include "tests/support/process.h"

namespace accelscope::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kRuns = 3;

// The one number that the program prints; the least of several runs. With an agent unless `options` is empty.
double cost_ns(const BenchOptions& bench, const std::vector<std::string>& agent_options,
               const std::vector<std::string>& program) {
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<std::string> argv;
    if (!agent_options.empty()) {
      argv = {bench.program_folder + "/accelscope-agent", "run", "--force", "-o", bench.work_folder + "/itt.accel"};
      argv.insert(argv.end(), agent_options.begin(), agent_options.end());
      argv.emplace_back("--");
    }
    argv.push_back(bench.program_folder + "/itt_bench_program");
    argv.insert(argv.end(), program.begin(), program.end());
    Result<test::Process> process = test::Process::start(argv);
    if (!process) return 0;
    const std::optional<std::string> line = process->read_line(120s);
    const double ns = line ? std::atof(line->c_str()) : 0;
    (void)process->finish(120s);
    if (ns > 0 && (best == 0 || ns < best)) best = ns;
  }
  return best;
}

}  // namespace

void bench_itt_task(const BenchOptions& options) {
  const auto rounds = static_cast<long>(3e6 * options.scale);
  const std::string all = std::to_string(rounds), third = std::to_string(rounds / 3);
  const std::vector<std::string> roomy = {"--kind", "itt", "--buffer", "256MiB"};
  const std::vector<std::string> usual = {"--kind", "itt"};
  const char* kTask =
      "task_begin and task_end of one name, one after the other, read by an agent on the same host; "
      "processor time of the program's threads; the least of 3 runs";
  report({"itt_task_one_thread", cost_ns(options, roomy, {"task", all, "1"}), "ns a pair", "at most 60", "", 0, kTask});
  report({"itt_task_four_threads", cost_ns(options, roomy, {"task", third, "4"}), "ns a pair", "at most 60", "", 0,
          kTask});
  report({"itt_task_four_threads_waiting", cost_ns(options, usual, {"task", third, "4"}), "ns a pair", "", "", 0,
          "the same with 1 MiB for each thread, so that they wait for the agent"});
  report({"zone_one_thread", cost_ns(options, roomy, {"zone", all, "1"}), "ns a pair", "at most 60", "", 0,
          "ZoneScopedN in an empty block"});
  report({"itt_task_not_wanted",
          cost_ns(options, {"--kind", "itt", "--exclude-domain", "disabled"},
                  {"disabled", std::to_string(10 * rounds), "1"}),
          "ns a pair", "at most 3", "", 0, "the domain is excluded by the agent's user"});
  report({"zone_without_agent", cost_ns(options, {}, {"zone", std::to_string(10 * rounds), "1"}), "ns a pair",
          "at most 3", "", 0, "no agent: a load and a branch"});
}

}  // namespace accelscope::bench
