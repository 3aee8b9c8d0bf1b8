// What the lines of a host program cost the device: the time of the work that was launched while they ran. A launch is
// a dependency from an event of a host thread to an event elsewhere; it is counted for the innermost event with a
// source line of the user's own (own_code.h) on the same thread (work_kind.h): frames of frameworks launch for it.
#pragma once

#include <memory>

#include "core/analysis/source/source_lines.h"

namespace accelscope {

// Of the whole session: busy_ns is device time, event_count the launched events. Lines that launch nothing are left
// out. Reads dependencies, the threads and the lanes that they point at.
[[nodiscard]] Result<std::shared_ptr<const SourceLines>> launched_time(const QueryContext& query);

}  // namespace accelscope
