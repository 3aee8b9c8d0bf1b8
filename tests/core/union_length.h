// How much of time intervals cover, by nothing but sorting them: what the analysis of unions is checked against.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace accelscope {

using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;

[[nodiscard]] inline std::int64_t length_of_union(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::int64_t sum = 0, reached = INT64_MIN;
  for (const auto& [begin, end] : intervals) {
    if (end <= reached) continue;
    sum += end - std::max(begin, reached);
    reached = end;
  }
  return sum;
}

}  // namespace accelscope
