#include "tests/bench/figure.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "core/base/format.h"

namespace accelscope::bench {

void report(const Figure& figure) {
  const double ratio = figure.yardstick_value > 0 ? figure.value / figure.yardstick_value : 0;
  fmt::print(
      "{{\"figure\": {}, \"value\": {:.6g}, \"unit\": {}, \"must\": {}, \"yardstick\": {}, \"yardstick_value\": "
      "{:.6g}, "
      "\"ratio\": {:.4g}, \"recipe\": {}}}\n",
      json_quote(figure.figure), figure.value, json_quote(figure.unit), json_quote(figure.must),
      json_quote(figure.yardstick), figure.yardstick_value, ratio, json_quote(figure.recipe));
  std::fflush(stdout);
}

double seconds(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double best_seconds(int runs, const std::function<void()>& call) {
  double best = seconds(call);
  for (int i = 1; i < runs; ++i) best = std::min(best, seconds(call));
  return best;
}

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::uint64_t current_memory_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

int process_id() { return static_cast<int>(getpid()); }

}  // namespace accelscope::bench
