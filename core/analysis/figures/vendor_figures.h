// The figures that a vendor's own summary states of a device, recomputed from its events, and what its file states that
// the device could do at most. General figures know no vendor: each is a row in vendor_figures.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/figure.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

// Of every device that a vendor knows, with the vendor's names; see core/analysis/neuron/summary.h.
[[nodiscard]] Result<std::vector<DeviceFigures>> vendor_figures(const QueryContext& query, const TrackDevices& devices,
                                                                const TimeRange& range);

// As the session's metadata state them; 0 where they do not. `device` is its label in the session. All that is known:
// core/analysis/peaks.
struct DevicePeaks {
  double flops = 0;      // floating point operations a second
  double bandwidth = 0;  // bytes a second from and to its memory
};
[[nodiscard]] DevicePeaks device_peaks(const Snapshot& snapshot, const std::string& device);

// What the figures say that the device did for the model.
struct DeviceWork {
  double flops = 0;
  double memory_bytes = 0;  // from and to its memory
  double active_ns = 0;     // in which it did anything
};
[[nodiscard]] DeviceWork device_work(const Figures& figures);

}  // namespace accelscope
