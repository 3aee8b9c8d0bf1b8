// The logarithm of the gamma function, by any threads at once: std::lgamma writes a sign that all of them share.
#pragma once

#include <cmath>

namespace accelscope {

[[nodiscard]] inline double log_gamma(double x) noexcept {
#ifdef _WIN32
  return std::lgamma(x);
#else
  int sign = 0;
  return ::lgamma_r(x, &sign);
#endif
}

}  // namespace accelscope
