// What the devices of a session waited for in a stretch of time: the events that wait, and the time before events that
// say how long they waited (Role::wait_ns), no longer than their lane was idle. Each is put down to the predecessor
// that ended last; without one to the owner of the semaphore that the operands name, else to the event's own name.
#pragma once

#include <memory>

#include "core/analysis/dependencies/dependencies.h"
#include "core/analysis/dependencies/wait_causes.h"
#include "core/model/event_filter.h"

namespace accelscope {

struct RangeWaits {
  std::vector<WaitCause> causes;  // the longest first
  std::int64_t wait_ns = 0;       // of all lanes together
  bool sampled = false;           // some of the events stand for all
};

// `dependencies` may be null. Reads at most kMostWaitEvents events, evenly spread ones if the range has more.
inline constexpr std::uint64_t kMostWaitEvents = 2'000'000;
[[nodiscard]] Result<RangeWaits> range_waits(const QueryContext& query, const EventFilter& filter,
                                             const Dependencies* dependencies);

}  // namespace accelscope
