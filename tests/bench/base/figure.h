// The figures of accelscope-bench: each prints one line of JSON with its value, the yardstick measured in the same
// run, their ratio and the recipe of its input. A benchmark shows speed and memory; it never fails a build.
//
//   void bench_something(const BenchOptions& options) { ... report({...}); }     and a row in bench_main.cpp
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace accelscope::bench {

struct BenchOptions {
  double scale = 1.0;          // of event counts: 0.1 for a quick look
  std::string program_folder;  // where accelscope and accelscope-agent lie
  std::string work_folder;     // for files; removed afterwards
};

struct Figure {
  std::string figure;  // short stable name
  double value = 0;
  std::string unit;
  std::string must;            // "at least 20", "at most 11": what the product promises
  std::string yardstick;       // what the value is compared with
  double yardstick_value = 0;  // in the same unit, measured in the same run; 0: none
  std::string recipe;          // columns, names, distributions, counts
};

void report(const Figure& figure);

// Seconds that the call took.
double seconds(const std::function<void()>& call);
// The smallest of several runs: what the code costs when the machine is not disturbed.
double best_seconds(int runs, const std::function<void()>& call);
std::uint64_t peak_memory_bytes();     // of this process so far, or since forget_peak_memory()
void forget_peak_memory();             // gives free memory back first, so that figures do not depend on their order
std::uint64_t current_memory_bytes();  // resident now
int process_id();

}  // namespace accelscope::bench
