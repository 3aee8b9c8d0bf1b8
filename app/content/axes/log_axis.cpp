#include "app/content/axes/log_axis.h"

#include <algorithm>
#include <cmath>

namespace accelscope::app {

void LogAxis::include(double value) noexcept {
  if (!(value > 0) || !std::isfinite(value)) return;
  if (empty()) {
    low_ = high_ = value;
  } else {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
}

void LogAxis::widen(double factor) noexcept {
  if (empty()) return;
  low_ /= factor;
  high_ *= factor;
}

double LogAxis::place(double value) const noexcept {
  return high_ > low_ ? std::log(value / low_) / std::log(high_ / low_) : 0.5;
}

double LogAxis::value_at(double place) const noexcept { return low_ * std::pow(high_ / low_, place); }

std::vector<LogAxis::Tick> LogAxis::ticks(int most, Steps steps) const {
  std::vector<Tick> all;
  if (empty() || most < 1) return all;
  if (steps == Steps::doubling && std::log2(high_ / low_) <= most) {
    for (int power = static_cast<int>(std::ceil(std::log2(low_))); std::exp2(power) <= high_; ++power)
      all.push_back({std::exp2(power), true});
    return all;
  }
  const double decades = std::log10(high_ / low_);
  const int each = decades * 3 <= most ? 3 : decades * 2 <= most ? 2 : 1;  // labelled ones of a decade
  const int step = std::max(1, static_cast<int>(std::ceil(decades / most)));
  const auto is_labelled = [&](int digit, int power) {
    if (digit == 1) return power % step == 0;
    return (digit == 5 && each >= 2) || (digit == 2 && each == 3);
  };
  for (int power = static_cast<int>(std::floor(std::log10(low_))); std::pow(10, power) <= high_; ++power) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = std::pow(10, power) * digit;
      const bool labelled = is_labelled(digit, power);
      if (value >= low_ && value <= high_ && (labelled || step == 1)) all.push_back({value, labelled});
    }
  }
  return all;
}

}  // namespace accelscope::app
