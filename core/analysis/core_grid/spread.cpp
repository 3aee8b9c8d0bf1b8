#include "core/analysis/core_grid/grid_frames.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/analysis/statistics/middle.h"

namespace accelscope {

CoreSpread core_spread(std::span<const double> values) {
  constexpr std::size_t kLeastValues = 4;
  constexpr double kDeviations = 3 * 1.4826, kLeastShare = 0.05;
  CoreSpread spread;
  if (values.empty()) return spread;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  spread.least = static_cast<std::size_t>(least - values.begin());
  spread.most = static_cast<std::size_t>(most - values.begin());
  spread.min = *least;
  spread.max = *most;
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  spread.imbalance = spread.mean > 0 ? spread.max / spread.mean : 0;
  if (values.size() < kLeastValues) return spread;
  const double median = middle_value(std::vector<double>(values.begin(), values.end()));
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - median));
  const double far = std::max(kDeviations * middle_value(distances), kLeastShare * std::abs(median));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (distances[i] > far) spread.outliers.push_back(i);
  }
  return spread;
}

}  // namespace accelscope
