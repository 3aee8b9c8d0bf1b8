// What data sheets state of devices by name. Dense rates, no sparsity; memory bandwidth as the maker states it; the
// link to the host in one direction.
#pragma once

#include <span>
#include <string_view>

namespace accelscope {

struct SheetPeak {
  std::string_view what;
  double value = 0;  // FLOP/s, or B/s
};

struct DeviceSheet {
  std::string_view pattern;  // the device's name holds it, whatever its case; the first row that fits counts
  std::string_view source;
  std::span<const SheetPeak> peaks;
};

// Null where none fits.
[[nodiscard]] const DeviceSheet* find_sheet(std::string_view device_name) noexcept;

}  // namespace accelscope
