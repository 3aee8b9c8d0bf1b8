// What of a chunk works rather than waits, as covered time.
#pragma once

#include "core/analysis/time/covered_time.h"
#include "core/scan/window_scan.h"

namespace accelscope {

// Adds the chunk's events within the window, cut at its edges; those that only wait (Schema::wait_names) are left out.
void add_busy(const ScannedChunk& chunk, const ScanWindow& window, const StringPool& strings, CoveredTime& busy);

}  // namespace accelscope
