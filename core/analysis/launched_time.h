// What the lines of a host program cost the device: the time of the work that was launched while they ran. A launch is
// a dependency from an event of a host thread to an event elsewhere; it is counted for the innermost event with a
// source line on the same thread. Tracks of one thread share their host and their names but for the last
// word, which says what they show of it ("25286 python", "25286 runtime").
#pragma once

#include <memory>

#include "core/analysis/source_lines.h"

namespace accelscope {

// Of the whole session: busy_ns is device time, event_count the launched events. Lines that launch nothing are left
// out. Reads dependencies, the threads and the lanes that they point at.
[[nodiscard]] Result<std::shared_ptr<const SourceLines>> launched_time(const QueryContext& query);

}  // namespace accelscope
