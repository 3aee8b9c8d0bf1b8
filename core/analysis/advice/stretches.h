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
  sort_runs(parts);
  std::int64_t length = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (kept > 0 && parts[i].first <= parts[kept - 1].second) {
      const std::int64_t end = std::max(parts[kept - 1].second, parts[i].second);
      length += end - parts[kept - 1].second;
      parts[kept - 1].second = end;
    } else {
      length += parts[i].second - parts[i].first;
      parts[kept++] = parts[i];
    }
  }
  parts.resize(kept);
  return length;
}

}  // namespace accelscope
