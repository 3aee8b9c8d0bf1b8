// What a profile's metadata says of the device that it was taken on.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/store/snapshot.h"

namespace accelscope::neuron {

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

}  // namespace accelscope::neuron
