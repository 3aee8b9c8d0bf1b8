// A figure and how far it may lie beside the truth because times are whole ns. The arithmetic carries that on.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/model/definitions.h"

namespace accelscope {

struct Figure {
  double value = 0;
  double slack = 0;         // in the figure's unit, >= 0
  bool unfiltered = false;  // not made of events: which of them are looked at does not change it

  [[nodiscard]] double relative_slack() const noexcept { return value == 0 ? 0 : slack / std::abs(value); }
};

[[nodiscard]] inline Figure scaled(const Figure& figure, double factor) noexcept {
  return {figure.value * factor, figure.slack * std::abs(factor)};
}
[[nodiscard]] inline Figure divided(const Figure& part, const Figure& whole) noexcept {
  const double value = whole.value == 0 ? 0 : part.value / whole.value;
  return {value, std::abs(value) * (part.relative_slack() + whole.relative_slack())};
}

using Figures = std::map<std::string, Figure, std::less<>>;  // by the vendor's name; times in s, shares as fractions

struct DeviceFigures {
  std::string device;  // as TrackDevices names it
  Figures figures;
};

// Which of the devices, named as TrackDevices names them, the vendor's metric is of: metrics of files with one device
// name none, so they are the first's; what names a host or a rank alone is of the first of its devices.
[[nodiscard]] inline std::optional<std::size_t> device_of(const Metric& metric, std::span<const std::string> devices) {
  const auto index = [&](auto found) {
    return found == devices.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - devices.begin()));
  };
  if (metric.device.empty()) return index(devices.begin());
  const auto exact = index(std::find(devices.begin(), devices.end(), metric.device));
  return exact ? exact : index(std::find_if(devices.begin(), devices.end(), [&](const std::string& device) {
    return device.starts_with(metric.device + " ") || metric.device.ends_with(" " + device);
  }));
}

}  // namespace accelscope
