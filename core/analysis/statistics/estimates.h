// Small numbers from statistics: a middle value, the gamma function, how likely a difference is by chance.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace accelscope::analysis {

// The value in the middle of some: their median; of an even number the upper of the two in the middle.

// 0 of none.
template <typename Number>
[[nodiscard]] Number middle_value(std::vector<Number> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The logarithm of the gamma function, by any threads at once: std::lgamma writes a sign that all of them share.
[[nodiscard]] inline double log_gamma(double x) noexcept {
#ifdef _WIN32
  return std::lgamma(x);
#else
  int sign = 0;
  return ::lgamma_r(x, &sign);
#endif
}

// Student's t distribution: how likely a difference is by chance alone where the noise is itself known from few values.
//
// By the regularised incomplete beta function, as a continued fraction (Abramowitz and Stegun, 26.5.8 and 26.7.1);
// good to about 1e-12.

// The chance that a t of so many degrees of freedom, whole or not, lies at least this far from 0 on either side.
[[nodiscard]] double student_chance(double t, double freedom) noexcept;
// How far from 0 a t lies at most with this confidence: 2.306 of 0.95 and 8.
[[nodiscard]] double student_bound(double confidence, double freedom) noexcept;
// The chance that a normally distributed number of deviation 1 lies below.
[[nodiscard]] double normal_below(double value) noexcept;

}  // namespace accelscope::analysis
