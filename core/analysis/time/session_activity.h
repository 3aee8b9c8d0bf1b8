// Where a session of any source does its work: what a first view shows and what a range like "the active part" means.
#pragma once

#include <optional>

#include "core/scan/chunk_scan.h"

namespace accelscope {

// From the first to the last event that is work. Programs, tables and constants are loaded long before it, and real
// runs idle for 99 % of their time in between; so engines, streams and collectives say where the work is, DMA alone
// only where there is nothing else, and tracks of any kind where there is neither. Nothing if there is no work at all.
[[nodiscard]] Result<std::optional<TimeRange>> find_active_stretch(const QueryContext& query);

}  // namespace accelscope
