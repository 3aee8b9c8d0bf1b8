// All stretches in which a device has nothing to do, with what the host did meanwhile and what ended them. Of one
// device they lie apart, and with the time in which it works they add up to the range.
//
//   for (const WorkGap& gap : device_gaps(graph, range)) ...
#pragma once

#include <vector>

#include "core/analysis/critical_path/critical_path.h"

namespace accelscope {

struct WorkGap {
  std::size_t device = 0;  // of TrackDevices
  TimeRange range;
  NodeIndex before = kNoNode;  // what ended last before it; kNoNode: nothing, it is the first
  NodeIndex after = kNoNode;   // what ended it; kNoNode: the range did
  NodeIndex launch = kNoNode;  // the host's that started this; kNoNode: none is known
  // The call that held the launch up for longest, its own or another thread's; kNoNode: none is recorded for most of
  // it.
  NodeIndex host = kNoNode;
  std::int64_t host_ns = 0;   // in it, and in others of its name
  bool host_on_path = false;  // it held the launch up as far as the graph tells; else it is only known to have worked
  [[nodiscard]] std::int64_t length_ns() const noexcept { return range.length_ns(); }
};

// By device, then by time. A gap that the range ends is put down to what the thread did that launched before.
[[nodiscard]] std::vector<WorkGap> device_gaps(const WorkGraph& graph, const TimeRange& range);

// What held up the launch that ended a gap, back to its begin: a partition of the time up to there.
[[nodiscard]] CriticalPath gap_path(const WorkGraph& graph, const WorkGap& gap);

}  // namespace accelscope
