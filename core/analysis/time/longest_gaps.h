// The longest stretches that intervals leave free between them: where a session does nothing. The intervals come in the
// order of their begins; what two stretches of time hold is added up like the times of
// core/analysis/time/covered_time.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/time_range.h"

namespace accelscope {

class LongestGaps {
 public:
  static constexpr std::size_t kMost = 8;

  void add(std::int64_t begin_ns, std::int64_t end_ns) {
    if (!any_) first_ns_ = reached_ns_ = begin_ns;
    any_ = true;
    offer({reached_ns_, begin_ns});
    reached_ns_ = std::max(reached_ns_, end_ns);
  }
  // Of a later time.
  void append(const LongestGaps& later) {
    if (!later.any_) return;
    add(later.first_ns_, later.reached_ns_);
    for (const TimeRange& gap : later.gaps_) offer(gap);
  }
  // By time, at most kMost.
  [[nodiscard]] std::vector<TimeRange> by_time() const {
    std::vector<TimeRange> gaps = gaps_;
    std::sort(gaps.begin(), gaps.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; });
    return gaps;
  }

 private:
  static bool shorter(const TimeRange& a, const TimeRange& b) { return a.length_ns() < b.length_ns(); }
  void offer(const TimeRange& gap) {
    if (gap.begin_ns >= gap.end_ns) return;
    if (gaps_.size() < kMost) return gaps_.push_back(gap);
    const auto shortest = std::min_element(gaps_.begin(), gaps_.end(), shorter);
    if (shorter(*shortest, gap)) *shortest = gap;
  }

  bool any_ = false;
  std::int64_t first_ns_ = 0, reached_ns_ = 0;
  std::vector<TimeRange> gaps_;
};

}  // namespace accelscope
