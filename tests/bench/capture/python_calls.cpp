// What the collector costs a program in Python that does nothing but call, beside Python's own cProfile.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <optional>
#include <vector>

#include "tests/bench/base/figures.h"
#include "tests/support/process.h"

namespace accelscope::bench {
namespace {

constexpr int kRuns = 9;

constexpr const char* kScript = R"py(import sys, time
class Node:
    def __init__(self, value, children):
        self.value = value
        self.children = children
    def total(self):
        return self.value + sum(child.total() for child in self.children)
def build(depth):
    return Node(depth, [build(depth - 1) for _ in range(3)] if depth else [])
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def work(scale):
    tree = build(8)
    for _ in range(int(8 * scale)):
        tree.total()
        fib(20)
        out = []
        for i in range(25000):
            out.append(len(out))
            abs(i)
begin = time.perf_counter()
work(float(sys.argv[1]))
print("seconds", time.perf_counter() - begin)
)py";

// What the script says of itself: starting and ending do not count.
std::optional<double> seconds_of(const std::vector<std::string>& argv) {
  Result<test::Process> process = test::Process::start(argv);
  if (!process) return std::nullopt;
  const std::optional<std::string> line = process->wait_for("seconds ", std::chrono::seconds(120));
  const int status = process->finish(std::chrono::seconds(120));
  if (!line || status != 0) return std::nullopt;
  const std::string number = line->substr(line->find(' ') + 1);
  double seconds = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), seconds).ec != std::errc()) return std::nullopt;
  return seconds;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

void bench_python_calls(const BenchOptions& options) {
  const std::string script = options.work_folder + "/python_calls.py";
  { std::ofstream(script) << kScript; }
  const std::vector<std::string> plain = {"/usr/bin/python3", script, fmt::format("{}", options.scale)};
  std::vector<std::string> yardstick = {"/usr/bin/python3", "-m", "cProfile", "-o",
                                        options.work_folder + "/calls.prof"};
  yardstick.insert(yardstick.end(), plain.begin() + 1, plain.end());
  std::vector<std::string> ours = {options.program_folder + "/accelscope-agent",
                                   "run",
                                   "-o",
                                   options.work_folder + "/python_calls.accel",
                                   "--force",
                                   "--kind",
                                   "python",
                                   "--"};
  ours.insert(ours.end(), plain.begin(), plain.end());
  std::vector<double> plain_seconds;
  std::vector<double> profile_seconds;
  std::vector<double> our_seconds;
  for (int run = 0; run < kRuns; ++run) {
    const std::optional<double> without = seconds_of(plain);
    const std::optional<double> with_profile = seconds_of(yardstick);
    const std::optional<double> with_ours = seconds_of(ours);
    if (!without || !with_profile || !with_ours) {
      fmt::print(stderr,
                 "python_calls: needs /usr/bin/python3, 3.9 or later, and an agent that carries the collector\n");
      return;
    }
    plain_seconds.push_back(*without);
    profile_seconds.push_back(*with_profile);
    our_seconds.push_back(*with_ours);
  }
  report({"python_calls", median(our_seconds), "s", "at most 1.1 times the yardstick", "cProfile",
          median(profile_seconds),
          fmt::format("methods, generators, recursion and built-in functions called some {:.1f} million times, {} "
                      "alternating runs, medians; {:.3f} s without a profile; all calls reach the session",
                      options.scale * 1.5, kRuns, median(plain_seconds))});
}

}  // namespace accelscope::bench
