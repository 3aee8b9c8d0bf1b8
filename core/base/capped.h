// Arithmetic on numbers that a file or a peer may have made up: what does not fit is taken for the nearest number that
// does, so that nothing wraps and nothing is undefined.
//
//   const std::int64_t end_ns = capped_sum(start_ns, length_ns);
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

namespace accelscope {

template <std::integral T>
[[nodiscard]] constexpr T capped_sum(T a, T b) noexcept {
  T sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

template <std::integral T>
[[nodiscard]] constexpr T capped_difference(T a, T b) noexcept {
  T difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < b ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

template <std::integral T>
[[nodiscard]] constexpr T capped_product(T a, T b) noexcept {
  T product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

// Without its fraction; 0 of what is no number.
[[nodiscard]] constexpr std::int64_t capped_integer(double value) noexcept {
  constexpr double kMost = 9.2e18;
  if (!(value == value)) return 0;
  return value >= kMost ? INT64_MAX : value <= -kMost ? INT64_MIN : static_cast<std::int64_t>(value);
}

}  // namespace accelscope
