// The unit of a column, a counter or a figure, and the one way in which a value of it is written for people: four
// significant digits in the unit of its size, whole numbers without a unit in full. Tables for programs write digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace accelscope {

enum class ValueUnit : std::uint8_t {
  none,
  nanoseconds,
  seconds,
  bytes,             // binary prefixes
  bytes_per_second,  // decimal prefixes
  share,             // 1 = all
  percent,
  flop,
  flop_per_second,
  other,  // written behind the number as it is called
};

// As columns, tracks and figures name it: "ns", "B", "share" ...
[[nodiscard]] ValueUnit unit_of(std::string_view name) noexcept;

// "198 GB/s", "23.8 %", "1.986 µs", "9.664 GFLOP", "38,412", "1,410 MHz"
[[nodiscard]] std::string format_value(double value, std::string_view unit);

}  // namespace accelscope
