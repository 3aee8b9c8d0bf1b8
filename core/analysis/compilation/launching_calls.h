// The calls of a host that launch work and recur: of every thread the outermost such call, so that none lies within
// another; the annotations that name steps; and the calls of compiled programs, wherever they lie. A function recurs
// where it has several calls at one depth of a thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/dependencies/launches.h"

namespace accelscope {

enum class CallLevel : std::uint8_t {
  call,     // the outermost recurring call of a thread that launches work
  program,  // a call of a compiled program
  step,     // an annotation: what all threads of its process launch while it lasts counts
};

struct LaunchingCall {
  std::int64_t begin_ns = 0, end_ns = 0;
  EventId event = kNoEvent;
  std::size_t thread = 0;      // as HostThreads numbers them
  std::uint32_t function = 0;  // index into LaunchingCalls::functions
  StringId name = 0;
  CallLevel level = CallLevel::call;
};

struct LaunchingCalls {
  static constexpr std::size_t kMost = 1'000'000;
  std::vector<LaunchingCall> list;             // by begin
  std::vector<std::string> functions;          // names without the numbers of calls
  std::vector<std::size_t> process_of_thread;  // as ProcessNumbers numbers them
  // Whose launches count for a step, by process: its threads or, where none of these launches, those of its source.
  std::vector<std::vector<std::size_t>> step_threads;
  std::vector<std::vector<HostLaunch>> launches;  // in the calls of `list`: by thread, by begin of the launch
  // Stretches in which a thread waits, by thread and begin; of more than kMost the later ones are not known.
  std::vector<std::vector<TimeRange>> waits;
  std::uint64_t left_out = 0;        // calls beyond kMost
  std::uint64_t waits_left_out = 0;  // beyond kMost of a worker
};

// Of the calls only those that pass the query's mask. A session without launches has its recurring outermost calls
// told where there are no calls that launch.
[[nodiscard]] Result<LaunchingCalls> find_launching_calls(const QueryContext& query,
                                                          const Dependencies* known = nullptr);

}  // namespace accelscope
