// The figures of a Neuron profile's summary, recomputed from its events for any range, with the vendor's names. One
// set for each NeuronCore of the session: of a logical core made of several physical ones one of the whole, which is
// what the vendor's own figures are about, then one of each part. Memory does not grow with the session's events.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"

namespace accelscope::neuron {

// Of the devices that have instructions or DMA packets, in the order of their tracks, a logical core before its parts.
// A part's peaks are those of one physical core, its run lasts until its own last event. A device without any event in
// the range has the figures of an idle one; an empty range has none. With a mask they are of the events that pass: its
// shares of time and of peaks are what those events contribute.
[[nodiscard]] Result<std::vector<DeviceFigures>> summary(const QueryContext& query, const TrackDevices& devices,
                                                         const TimeRange& range);

}  // namespace accelscope::neuron
