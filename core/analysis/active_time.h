// How long at least one of the selected lanes was busy: the sum of busy times counts lanes that work side by side
// several times, this counts each moment once. Reads every chunk of the range, so it comes later than the summary.
#pragma once

#include <memory>

#include "core/query/chunk_scan.h"
#include "core/query/event_filter.h"

namespace accelscope {

struct ActiveTime {
  EventFilter filter;
  std::uint64_t snapshot_version = 0;
  std::int64_t active_ns = 0;
};

// Of the lanes whose time selection_summary() adds up, without allocations, which last but do not work. Events whose
// names mean waiting do not count. The filter's terms are met by the query's mask. Fails when a chunk cannot be read or
// the work is cancelled.
[[nodiscard]] Result<std::shared_ptr<const ActiveTime>> active_time(const QueryContext& query,
                                                                    const EventFilter& filter);

}  // namespace accelscope
