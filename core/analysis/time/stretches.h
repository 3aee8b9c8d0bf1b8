// Stretches of time in a list, joined where they touch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/analysis/time/sorted_runs.h"

namespace accelscope {

using Stretches = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Joins the stretch added before it where they touch.
inline void add_stretch(Stretches& parts, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  if (!parts.empty() && parts.back().second >= begin && parts.back().first <= begin) {
    parts.back().second = std::max(parts.back().second, end);
  } else {
    parts.emplace_back(begin, end);
  }
}

// Sorted and apart; returns their length.
inline std::int64_t settle(Stretches& parts) {
  join_runs(parts);
  std::int64_t length = 0;
  for (const auto& [begin, end] : parts) length += end - begin;
  return length;
}

}  // namespace accelscope
