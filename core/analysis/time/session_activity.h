// Where a session of any source does its work: what a first view shows and what a range like "the active part" means.
#pragma once

#include <optional>

#include "core/scan/chunk_scan.h"

namespace accelscope {

// From the first to the last event that is work. Programs, tables and constants are loaded long before it, and real
// runs idle for 99 % of their time in between; so engines, streams and collectives say where the work is, DMA alone
// only where there is nothing else, and tracks of any kind where there is neither. Nothing if there is no work at all.
[[nodiscard]] Result<std::optional<TimeRange>> find_active_stretch(const QueryContext& query);

// Where a look at a session begins, and where the work is that a user may fit the view to.
struct FirstLook {
  std::optional<TimeRange> active;  // as find_active_stretch() has it
  std::optional<TimeRange> shown;   // what a first view shows; nothing if nothing was recorded
};
// All work of the devices, copies and collectives included. Where that is a few hits in a session of other work, which
// would be blown up to nothing, or so little of its own stretch that no pixel would show it, all work of hosts and
// devices; where that is a few hits too, all that was recorded. Of hosts that lie so far apart that most of it were the
// time between them, the first of them whose work is not much shorter than that of another.
[[nodiscard]] Result<FirstLook> find_first_look(const QueryContext& query);

// From the first to the last event, without what a capture or a profiler tells of itself: a pause is no record. All of
// the session where there is nothing else.
[[nodiscard]] TimeRange recorded_stretch(const Snapshot& snapshot);

}  // namespace accelscope
