
#include <cmath>

#include "core/analysis/statistics/estimates.h"

namespace accelscope::analysis {
namespace {

// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double x, double a, double b) noexcept {
  constexpr double kNearZero = 1e-300, kCloseEnough = 1e-15;
  constexpr int kMostTerms = 500;
  const auto retained_from_zero = [](double value) { return std::abs(value) < kNearZero ? kNearZero : value; };
  double numerator = 1, denominator = 1 / retained_from_zero(1 - (a + b) * x / (a + 1));
  double sum = denominator;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    denominator = 1 / retained_from_zero(1 + even * denominator);
    numerator = retained_from_zero(1 + even / numerator);
    sum *= denominator * numerator;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    denominator = 1 / retained_from_zero(1 + odd * denominator);
    numerator = retained_from_zero(1 + odd / numerator);
    const double step = denominator * numerator;
    sum *= step;
    if (std::abs(step - 1) < kCloseEnough) break;
  }
  return sum;
}

double incomplete_beta(double x, double a, double b) noexcept {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on this side of the mean, and by symmetry on the other.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

}  // namespace

double student_chance(double t, double freedom) noexcept {
  if (std::isnan(t) || !(freedom > 0)) return 1;
  if (std::isinf(t)) return 0;
  return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

double student_bound(double confidence, double freedom) noexcept {
  const double chance = 1 - confidence;
  double below = 0, above = 1;
  while (student_chance(above, freedom) > chance && above < 1e15) above *= 2;
  for (int i = 0; i < 200 && above - below > 1e-12 * above; ++i) {
    const double middle = (below + above) / 2;
    (student_chance(middle, freedom) > chance ? below : above) = middle;
  }
  return above;
}

double normal_below(double value) noexcept { return std::erfc(-value / std::sqrt(2.0)) / 2; }

}  // namespace accelscope::analysis
