// What the simulated engines really waited for, and what the length of a pass was really made of: told by the model's
// own rules from the times of its operations, not by what a profile says of them. It is what analyses are judged by.
#pragma once

#include <vector>

#include "capture/sim/kernel/trace.h"

namespace accelscope::capture::sim {

enum class TrueCause : std::uint8_t { semaphore, dma, barrier, own_result, unknown };

// An operation that waited for a signal, in an event of its own or before it began.
struct TrueWait {
  std::uint32_t operation = 0;
  std::int64_t begin = 0, end = 0;
  TrueCause cause = TrueCause::unknown;
  std::vector<std::uint32_t> sources;  // that ended last, all at the same time; none: the host or the kernel's start
  int semaphore = 0;                   // that told of the first of them; 0: none
  std::int64_t value = 0;
};
// By operation. Of a pass without its collectives, whose waits are records of their own.
[[nodiscard]] std::vector<TrueWait> true_waits(const KernelTrace& trace);

// What kept an operation from beginning (of a wait: from ending) before it did; 0 is the start of the pass.
struct TrueHold {
  std::uint32_t source = 0;
  bool from_begin = false;      // the other had only to begin
  std::int64_t latency_ns = 0;  // from then
};
// The path from the last operation of the pass back to its start, the last first.
[[nodiscard]] std::vector<std::uint32_t> true_path(const KernelTrace& trace);

}  // namespace accelscope::capture::sim
