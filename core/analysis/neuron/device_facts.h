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

// Most floating point operations a second that the device's tensor engines can do; 0 where the metadata does not tell.
// peak = 2 * rows * columns * clock (GHz) * physical cores
[[nodiscard]] double peak_flops(const Snapshot& snapshot, const std::string& device);

}  // namespace accelscope::neuron
