#include "app/content/log_axis.h"

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

std::vector<LogAxis::Tick> LogAxis::ticks(int most) const {
  std::vector<Tick> all;
  if (empty() || most < 1) return all;
  const double octaves = std::log2(high_ / low_);
  if (octaves <= most) {
    for (int power = static_cast<int>(std::ceil(std::log2(low_))); std::exp2(power) <= high_; ++power)
      all.push_back({std::exp2(power), true});
    return all;
  }
  const int step = std::max(1, static_cast<int>(std::ceil(std::log10(high_ / low_) / most)));
  for (int power = static_cast<int>(std::floor(std::log10(low_))); std::pow(10, power) <= high_; ++power) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = std::pow(10, power) * digit;
      const bool labelled = digit == 1 && power % step == 0;
      if (value >= low_ && value <= high_ && (labelled || step == 1)) all.push_back({value, labelled});
    }
  }
  return all;
}

}  // namespace accelscope::app
