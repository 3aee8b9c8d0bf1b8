// The time that at least one of many intervals of session time covers. Intervals are gathered window by window
// (core/scan/chunk_scan.h), so that only one window's are held at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/analysis/time/sorted_runs.h"
#include "core/model/time_range.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

// The longest stretches that intervals leave free between them: where a session does nothing. The intervals come in the
// order of their begins; what two stretches of time hold is added up like the times of
// core/analysis/time/covered_time.h.

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
    std::ranges::sort(gaps, {}, &TimeRange::begin_ns);
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

class CoveredTime {
 public:
  // Joins the one added before it where they touch, so that a lane's back-to-back events cost one entry.
  void add(std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    if (!parts_.empty() && parts_.back().second >= begin && parts_.back().first <= begin) {
      parts_.back().second = std::max(parts_.back().second, end);
    } else {
      parts_.emplace_back(begin, end);
    }
  }

  // What was added to the other one since its last window.
  void add_open(const CoveredTime& other) { parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end()); }

  // Sums up what was added since the last call and forgets it. What comes later must not overlap it.
  void close_window(LongestGaps* gaps = nullptr) {
    take_stretches([this, gaps](std::int64_t begin, std::int64_t end) {
      if (gaps != nullptr) gaps->add(begin, end);
      ++stretches_;
      length_ns_ += end - begin;
    });
  }

  // Keeps no memory for windows to come: for those of whom there are many, each with something now and then.
  void free_room() noexcept { parts_ = {}; }

  // visit(begin, end) for each gapless stretch of what was added since the last call, in the order of time, which then
  // is forgotten.
  template <typename Visit>
  void take_stretches(Visit visit) {
    join_runs(parts_);
    for (const auto& [begin, end] : parts_) visit(begin, end);
    parts_.clear();
  }

  // Of closed windows only. Another one's closed windows must not overlap this one's.
  void add(const CoveredTime& other) noexcept {
    length_ns_ += other.length_ns_;
    stretches_ += other.stretches_;
  }
  [[nodiscard]] std::int64_t length_ns() const noexcept { return length_ns_; }
  // Gapless stretches it consists of; one that reaches over an edge of a window counts in both.
  [[nodiscard]] std::uint64_t stretches() const noexcept { return stretches_; }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> parts_;
  std::int64_t length_ns_ = 0;
  std::uint64_t stretches_ = 0;
};

// A lane's amounts spread over equal stretches of time, from its tree: nodes that lie in one stretch are added as a
// whole, leaves longer than a quarter of a stretch are decoded, shorter ones at an edge are split by their length.

// Adds to each cell the ns in which an event of the lane does not wait. Cells divide the range evenly.
[[nodiscard]] Result<void> add_busy_time(const QueryContext& query, std::uint32_t lane, const TimeRange& range,
                                         std::span<double> cells);

// Adds to each cell the useful floating point operations of the lane's events, spread over their time. `sums` is that
// of LeafWork::Lane.
[[nodiscard]] Result<void> add_work(const QueryContext& query, std::uint32_t lane, const std::vector<double>& sums,
                                    const TimeRange& range, std::span<double> cells);

}  // namespace accelscope::analysis
