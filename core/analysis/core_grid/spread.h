// How evenly values are spread over the cores: the least, the most, those far from the others, and how much longer the
// most loaded one works than the mean (a chip is done when its last core is).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace accelscope {

struct CoreSpread {
  double mean = 0, min = 0, max = 0;
  std::size_t least = 0, most = 0;  // indices of the values
  // max / mean; 1 is even, 0: there is no mean.
  double imbalance = 0;
  // Farther from the median than three standard deviations as the median deviation tells them (3 * 1.4826 * MAD), and
  // than a twentieth of the median; by index. Needs four values at least.
  std::vector<std::size_t> outliers;
};

[[nodiscard]] CoreSpread core_spread(std::span<const double> values);

}  // namespace accelscope
