// The value in the middle of some: their median; of an even number the upper of the two in the middle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace accelscope {

// 0 of none.
template <typename Number>
[[nodiscard]] Number middle_value(std::vector<Number> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace accelscope
