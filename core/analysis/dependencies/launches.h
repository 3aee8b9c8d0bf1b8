// What the threads of a host launched: dependencies from an event of a thread (work_kind.h) to work elsewhere.
#pragma once

#include <memory>
#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/analysis/source/source_lines.h"
#include "core/analysis/time/work_kind.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

struct HostLaunch {
  EventId source = kNoEvent;  // of the host
  EventId target = kNoEvent;  // what it launched; that of several launches counts for the first
  std::size_t thread = 0;     // of the source, as WorkKinds numbers them
  std::int64_t begin_ns = 0;  // of the source
  std::int64_t end_ns = 0;
  TimeRange work;  // of the target
};

// By target. Reads the lanes that dependencies point at, and these themselves unless they are known.
[[nodiscard]] Result<std::vector<HostLaunch>> host_launches(const QueryContext& query, const WorkKinds& kinds,
                                                            const Dependencies* known = nullptr);

// What the lines of a host program cost the device: the time of the work that was launched while they ran. A launch is
// a dependency from an event of a host thread to an event elsewhere; it is counted for the innermost event with a
// source line of the user's own (own_code.h) on the same thread (work_kind.h): frames of frameworks launch for it.

// Of the whole session: busy_ns is device time, event_count the launched events. Lines that launch nothing are left
// out. Reads dependencies, the threads and the lanes that they point at.
[[nodiscard]] Result<std::shared_ptr<const SourceLines>> launched_time(const QueryContext& query);

}  // namespace accelscope::analysis
