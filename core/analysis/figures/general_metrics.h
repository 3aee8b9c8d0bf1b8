// Figures that any session has, whatever its source: how long it is, how many events it holds, and for every device
// and table of events how long at least one was under way, what they moved and computed; the peak of every pool of
// memory. They come from the roles that schemas give their columns and are named after the tables: "kernel_busy_time",
// "memcpy_moved_bytes". Tracks that do no work (layers, throttling, counters ...) have none of their own.
#pragma once

#include "core/analysis/figures/metrics.h"
#include "core/analysis/time/track_devices.h"

namespace accelscope {

// Those of the session, then by device in the order of `devices`. Names, values, units and devices are set. `memory` is
// made here if it is null: it takes some 250 bytes per allocation, all else memory that does not grow with the session.
[[nodiscard]] Result<std::vector<SessionMetric>> general_metrics(const QueryContext& query, const TrackDevices& devices,
                                                                 const TimeRange& range,
                                                                 const MemoryUsage* memory = nullptr);

}  // namespace accelscope
