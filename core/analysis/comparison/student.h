// Student's t distribution: how likely a difference is by chance alone where the noise is itself known from few values.
//
// By the regularised incomplete beta function, as a continued fraction (Abramowitz and Stegun, 26.5.8 and 26.7.1);
// good to about 1e-12.
#pragma once

namespace accelscope {

// The chance that a t of so many degrees of freedom, whole or not, lies at least this far from 0 on either side.
[[nodiscard]] double student_chance(double t, double freedom) noexcept;
// How far from 0 a t lies at most with this confidence: 2.306 of 0.95 and 8.
[[nodiscard]] double student_bound(double confidence, double freedom) noexcept;
// The chance that a normally distributed number of deviation 1 lies below.
[[nodiscard]] double normal_below(double value) noexcept;

}  // namespace accelscope
