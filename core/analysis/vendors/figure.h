// A figure and how far it may lie beside the truth because times are whole ns. The arithmetic carries that on.
#pragma once

#include <cmath>
#include <map>
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

// Whether the vendor's metric belongs to the device: metrics of files with one device name none, so they are the
// first's.
[[nodiscard]] inline bool belongs_to(const Metric& metric, std::size_t index, const std::string& device) noexcept {
  return metric.device.empty() ? index == 0 : metric.device == device;
}

}  // namespace accelscope
