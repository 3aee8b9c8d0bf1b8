#include "tests/bench/base/figure.h"

#include <fmt/format.h>

#include <malloc.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "core/base/json.h"

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
  constexpr std::string_view kPeak = "VmHWM:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kPeak)) return std::stoull(line.substr(kPeak.size())) * 1024;
  }
  return 0;
}

void forget_peak_memory() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5\n";
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
