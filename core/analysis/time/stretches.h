// Stretches of time in a list, joined where they touch, and what such lists share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/analysis/time/sorted_runs.h"

namespace accelscope::analysis {

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

// Of stretches that lie apart.
[[nodiscard]] inline std::int64_t length_of(const Stretches& parts) noexcept {
  std::int64_t length = 0;
  for (const auto& [begin, end] : parts) length += end - begin;
  return length;
}

// Sorted and apart; returns their length.
inline std::int64_t settle(Stretches& parts) {
  join_runs(parts);
  return length_of(parts);
}

// The parts that both have; both settled.
[[nodiscard]] inline Stretches shared_parts(const Stretches& a, const Stretches& b) {
  Stretches both;
  std::size_t at = 0;
  for (const auto& [begin, end] : a) {
    while (at < b.size() && b[at].second <= begin) ++at;
    for (std::size_t i = at; i < b.size() && b[i].first < end; ++i)
      add_stretch(both, std::max(begin, b[i].first), std::min(end, b[i].second));
  }
  return both;
}

// How much of a stretch lies in parts that are settled.
[[nodiscard]] inline std::int64_t shared_ns(const Stretches& parts, std::int64_t begin_ns,
                                            std::int64_t end_ns) noexcept {
  auto part = std::ranges::upper_bound(parts, begin_ns, {}, [](const auto& each) { return each.second; });
  std::int64_t sum = 0;
  for (; part != parts.end() && part->first < end_ns; ++part)
    sum += std::min(end_ns, part->second) - std::max(begin_ns, part->first);
  return sum;
}

}  // namespace accelscope::analysis
