// Gives a kernel program its times, on one core. Engines and DMA engines are in-order servers: an operation begins
// when its server is free and everything it needs has ended. One pass over the list computes all, because the list
// holds producers before consumers. The visitor is a template parameter: this is the loop of the slim simulation.
//
//   struct Visitor {
//     void instruction(std::uint32_t index, const Operation&, int64 start, int64 duration, int64 wait);  // and waits
//     void packet(std::uint32_t index, const Operation&, unsigned engine, int64 start, int64 duration);
//     void transfer(std::uint32_t index, const Operation&, int64 start, int64 end);  // after its packets
//   };
//
// Collectives join all cores and are run by their caller, see run_collective.
#pragma once

#include <algorithm>
#include <vector>

#include "capture/sim/kernel/program.h"
#include "capture/sim/kernel/time_model.h"

namespace accelscope::capture::sim {

// xorshift64: enough for jitter, and a few cycles.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) noexcept : state_((seed + 1) * 0x9e3779b97f4a7c15ULL | 1) {}
  std::uint64_t next() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  std::uint64_t state_;
};

// When a core is slowed down: after so much matrix work for so long, to k of n cycles.
struct ThrottleRule {
  std::int64_t after_busy_ns = kThrottleAfterBusyNs;
  std::int64_t length_ns = kThrottleNs;
  std::int64_t k = kThrottleK, n = kThrottleN;
};

struct Throttling {
  ThrottleRule rule;
  std::int64_t busy_ns = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct CoreState {
  CoreState(const KernelProgram& program, std::uint64_t seed)
      : jitter(seed), ends(program.operations.size(), 0), starts(program.operations.size(), 0) {}

  Jitter jitter;
  std::array<std::int64_t, kUnitCount> unit_free = {};
  std::array<std::int64_t, kDmaEngines> dma_free = {};
  std::int64_t matmul_start = 0;
  Throttling throttling;
  std::int64_t dma_latency_ns = kDmaLatencyNs;
  std::vector<std::int64_t> ends;  // by operation, of this pass
  std::vector<std::int64_t> starts;

  void begin_kernel(std::int64_t now) noexcept {
    unit_free.fill(now);
    dma_free.fill(now);
    matmul_start = now;
    ends[kNoOperation] = now;
    starts[kNoOperation] = now;
  }
  [[nodiscard]] std::int64_t kernel_end() const noexcept {
    return std::max(*std::max_element(unit_free.begin(), unit_free.end()),
                    *std::max_element(dma_free.begin(), dma_free.end()));
  }
};

[[nodiscard]] inline std::int64_t latest(const CoreState& core, const Operation& operation) noexcept {
  return std::max({core.ends[operation.after[0]], core.ends[operation.after[1]], core.ends[operation.after[2]]});
}

// A throttled operation takes n / k of its time, and a busy array brings the next throttling about.
[[nodiscard]] inline std::int64_t throttled(Throttling& throttling, std::int64_t start,
                                            std::int64_t duration) noexcept {
  if (start >= throttling.begin && start < throttling.end) duration = duration * throttling.rule.n / throttling.rule.k;
  throttling.busy_ns += duration;
  if (throttling.busy_ns >= throttling.rule.after_busy_ns) {
    throttling.busy_ns -= throttling.rule.after_busy_ns;
    throttling.begin = start + duration;
    throttling.end = throttling.begin + throttling.rule.length_ns;
  }
  return duration;
}

template <typename Visitor>
void run_instruction(CoreState& core, const Operation& operation, std::uint32_t index, Visitor& visitor) {
  std::int64_t& free = core.unit_free[static_cast<std::size_t>(operation.unit)];
  // Ready to issue: the instructions before it have left, and the array's halves are free. The rest is waiting.
  std::int64_t issue = free + kIssueNs;
  if (operation.flags & kAfterWeights) issue = std::max(issue, core.unit_free[static_cast<std::size_t>(Unit::tensor)]);
  if (operation.flags & kAfterMatmul) issue = std::max(issue, core.matmul_start);
  if (operation.flags & kAfterScalar) issue = std::max(issue, core.unit_free[static_cast<std::size_t>(Unit::scalar)]);
  const std::int64_t ready = latest(core, operation) + kSemaphoreNs;

  std::int64_t start = std::max(issue, ready);
  std::int64_t duration = operation.duration_ns + static_cast<std::int64_t>(core.jitter.next() & operation.jitter_mask);
  std::int64_t wait = start - issue;
  if (operation.kind == OperationKind::wait) {
    // The wait is the event: it begins at once and ends with the signal.
    start = issue;
    duration = std::max(kShortestWaitNs, ready - issue);
    wait = 0;
  } else if (operation.flags & kThrottled) {
    duration = throttled(core.throttling, start, duration);
    core.matmul_start = start;
  }
  core.starts[index] = start;
  core.ends[index] = start + duration;
  free = start + duration;
  visitor.instruction(index, operation, start, duration, wait);
}

template <typename Visitor>
void run_transfer(CoreState& core, const Operation& operation, std::uint32_t index, Visitor& visitor) {
  const std::int64_t ready = latest(core, operation) + core.dma_latency_ns;
  std::uint64_t random = core.jitter.next();
  std::int64_t first = INT64_MAX;
  std::int64_t last = 0;
  for (unsigned engine = 0; engine < kDmaEngines; ++engine, random >>= 4) {
    const std::int64_t start = std::max(core.dma_free[engine], ready + static_cast<std::int64_t>(engine));
    const std::int64_t duration = operation.duration_ns + static_cast<std::int64_t>((random & 15) * 2);
    visitor.packet(index, operation, engine, start, duration);
    core.dma_free[engine] = start + duration + kSemaphorePacketNs;
    first = std::min(first, start);
    last = std::max(last, core.dma_free[engine]);
  }
  core.starts[index] = first;
  core.ends[index] = last;
  visitor.transfer(index, operation, first, last);
}

// Runs [from, until), which holds no collective.
template <typename Visitor>
void run_operations(CoreState& core, const KernelProgram& program, std::uint32_t from, std::uint32_t until,
                    Visitor& visitor) {
  for (std::uint32_t index = from; index < until; ++index) {
    const Operation& operation = program.operations[index];
    if (operation.kind == OperationKind::transfer) {
      run_transfer(core, operation, index, visitor);
    } else {
      run_instruction(core, operation, index, visitor);
    }
  }
}

// The cores meet: each comes when its own operations are done, and the ring turns when the last rank has come.
// `other_ranks`: there are some that are not simulated.
struct CollectiveTimes {
  std::int64_t arrival = 0;  // when this core was ready and its CC-cores free
  std::int64_t start = 0;    // when every rank was
  std::int64_t end = 0;
};
void run_collective(std::vector<CoreState>& cores, const KernelProgram& program, std::uint32_t index, bool other_ranks,
                    std::vector<CollectiveTimes>& times);

}  // namespace accelscope::capture::sim
