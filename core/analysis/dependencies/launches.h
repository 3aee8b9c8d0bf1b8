// What the threads of a host launched: dependencies from an event of a thread (work_kind.h) to work elsewhere.
#pragma once

#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/analysis/time/work_kind.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

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

}  // namespace accelscope
