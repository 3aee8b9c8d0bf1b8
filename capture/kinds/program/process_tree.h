// What a program and everything that it has started use at this moment. Linux tells it in /proc; elsewhere there is
// nothing to read, and available() says so.
//
//   ProcessTree tree(child.id());
//   if (std::optional<TreeUsage> now = tree.sample()) ...      // CPU time since the last call
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace accelscope::capture::kinds::program {

struct TreeUsage {
  double cpu_share = 0;              // of one CPU, since the last sample: 2.5 is two and a half CPUs
  std::uint64_t resident_bytes = 0;  // sum over the processes; what they share counts for each
  std::uint64_t threads = 0;
  std::uint64_t processes = 0;
};

class ProcessTree {
 public:
  explicit ProcessTree(int root);  // a process that leads its session

  [[nodiscard]] static bool available();
  // Nothing once no process is left. A process that lives between two samples only is not seen; what it used is in the
  // program's totals at its end.
  [[nodiscard]] std::optional<TreeUsage> sample();

 private:
  void find_processes();

  int root_;
  std::map<int, std::int64_t> cpu_ns_;  // used so far, by process
  std::chrono::steady_clock::time_point sampled_at_;
  std::chrono::steady_clock::time_point find_again_at_;
};

}  // namespace accelscope::capture::kinds::program
