// A closed stretch of values, as conditions have them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace accelscope {

// Values min to max, both included; empty once min > max.
template <typename T>
struct Bounds {
  static constexpr bool kReal = std::numeric_limits<T>::has_infinity;
  static constexpr T kLeast = kReal ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  static constexpr T kGreatest = kReal ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  T min = kLeast;
  T max = kGreatest;

  [[nodiscard]] constexpr bool empty() const noexcept { return min > max; }
  [[nodiscard]] constexpr bool unbounded() const noexcept { return min == kLeast && max == kGreatest; }
  [[nodiscard]] constexpr bool holds(T value) const noexcept { return min <= value && value <= max; }
  // Whether some or all values of the other are in it; neither is empty.
  [[nodiscard]] constexpr bool meets(const Bounds& other) const noexcept {
    return min <= other.max && other.min <= max;
  }
  [[nodiscard]] constexpr bool covers(const Bounds& other) const noexcept {
    return min <= other.min && other.max <= max;
  }
  constexpr void at_least(T value) noexcept { min = std::max(min, value); }
  constexpr void at_most(T value) noexcept { max = std::min(max, value); }
  constexpr void intersect(const Bounds& other) noexcept {
    at_least(other.min);
    at_most(other.max);
  }
  constexpr void clear() noexcept {
    min = kGreatest;
    max = kLeast;
  }
};
using IntegerBounds = Bounds<std::int64_t>;
using UnsignedBounds = Bounds<std::uint64_t>;
using RealBounds = Bounds<double>;

}  // namespace accelscope
