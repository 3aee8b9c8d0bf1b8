// What a call cost: its own time on the host, compiling, dispatching, and the time of the work that it launched.
//
//   host + compile + dispatch = the call's length, each moment counted once: where something compiles it is compiling,
//   else where a call of the driver launches it is dispatching, else it is the host's, waiting included.
//   kernel = the time in which at least one of the launched kernels or copies ran, whenever that was.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/analysis/compilation/compile_events.h"
#include "core/analysis/compilation/launching_calls.h"

namespace accelscope {

struct CallCost {
  std::int64_t span_ns = 0;
  std::int64_t host_ns = 0, compile_ns = 0, dispatch_ns = 0;
  std::int64_t wait_ns = 0;  // of host_ns: calls that wait
  std::int64_t kernel_ns = 0;
  std::uint32_t launches = 0;  // calls of the driver that launched
  std::uint32_t works = 0;     // kernels and copies that they launched
};

class CallCosts {
 public:
  CallCosts() = default;
  // Which of the events compile on each thread and, where a line says so, in each process. The calls must outlive it.
  CallCosts(const Snapshot& snapshot, const LaunchingCalls& calls, const std::vector<CompileEvent>& events);

  // And those calls that compile by their length alone. Where in the call is not known: what it took beyond the usual
  // counts from its begin, as what it compiles is needed first.
  void add_long_calls(const std::vector<CompileEvent>& events);

  // Clipped to the range: the call and what is within it, the work to the range alone. Lines tell no thread: what they
  // say counts for all calls of their source or, where it has none, of their host.
  [[nodiscard]] CallCost of(const LaunchingCall& call, const TimeRange& range) const;

 private:
  struct Parts;
  void add_compiling(const std::vector<TimeRange>& stretches, const TimeRange& within, Parts& parts) const;
  void add_launches(std::size_t thread, const LaunchingCall& call, const TimeRange& within, const TimeRange& range,
                    Parts& parts, CallCost& cost) const;

  const LaunchingCalls* calls_ = nullptr;
  std::vector<std::vector<TimeRange>> compiling_;  // by thread, by begin, apart from each other
  std::vector<std::vector<TimeRange>> lines_;      // by process
};

}  // namespace accelscope
