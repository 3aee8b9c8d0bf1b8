// The figures of a Neuron profile's summary, recomputed from its events for any range, with the vendor's names. One
// set for each NeuronCore of the session: of a logical core made of several physical ones one of the whole, which is
// what the vendor's own figures are about, then one of each part. Memory does not grow with the session's events.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"
#include "core/store/snapshot.h"

namespace accelscope::analysis::neuron {

// Of the devices that have instructions or DMA packets, in the order of their tracks, a logical core before its parts.
// A part's peaks are those of one physical core, its run lasts until its own last event. A device without any event in
// the range has the figures of an idle one; an empty range has none. With a mask they are of the events that pass: its
// shares of time and of peaks are what those events contribute.
[[nodiscard]] Result<std::vector<DeviceFigures>> summary(const QueryContext& query, const TrackDevices& devices,
                                                         const TimeRange& range);

// What a profile's metadata says of the device that it was taken on.

// The first of the names that the metadata has: the older files' and the newer ones'. `device` is its label in the
// session; what is known of "rank 3 nc0" may lie under "rank 3.metadata.".
[[nodiscard]] std::optional<double> device_fact(const Snapshot& snapshot, const std::string& device,
                                                std::initializer_list<std::string_view> names);

// Most floating point operations a second that one physical core can do; 0 where the metadata does not tell.
// peak = 2 * rows * columns * clock (GHz)
[[nodiscard]] double core_peak_flops(const Snapshot& snapshot, const std::string& device);

// Physical cores of a device: those that its name joins ("nc4+nc5"), 1 of one of these, else what the metadata says.
[[nodiscard]] double physical_cores(const Snapshot& snapshot, const std::string& device);

// What all of the device's tensor engines can do: core_peak_flops * physical_cores.
[[nodiscard]] double peak_flops(const Snapshot& snapshot, const std::string& device);

}  // namespace accelscope::analysis::neuron
