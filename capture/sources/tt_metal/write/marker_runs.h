// The markers of one processor in the order of their times, however they come. The newest are held back, so that rows
// that are out of order by little - firmware ends before the kernel in it begins - still make one sorted run; others
// begin a further run, and merge() goes through all runs at once. Runs are packed to a few bytes a marker.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "capture/sources/base/event_sorter.h"
#include "capture/sources/tracks/doubtful_times.h"
#include "capture/sources/tt_metal/read/layout.h"

namespace accelscope::capture::sources::tt_metal {

class MarkerRuns {
 public:
  static constexpr std::size_t kHeld = 1024;  // markers that wait; half of them are packed at a time

  Result<void> add(const LogMarker& marker, ChunkSpill& spill) {
    held_.push_back(marker);
    ++count_;
    if (held_.size() < kHeld) return {};
    return pack(kHeld / 2, spill);
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t run_count() const noexcept { return runs_.size(); }
  // Once every marker was added. Needs at least one.
  Result<void> finish(ChunkSpill& spill);
  [[nodiscard]] std::int64_t first_time() const noexcept { return first_time_; }
  [[nodiscard]] std::int64_t last_time() const noexcept { return last_time_; }

  // Hands out all markers by time, those of one time together; ends the object. The visitor returns false to stop.
  using Visit = std::function<bool(std::vector<LogMarker>& of_one_time)>;
  Result<void> merge(ChunkSpill& spill, const Visit& visit);

 private:
  struct Run {
    std::vector<std::size_t> segments;  // indices in the spill
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
  };
  Result<void> pack(std::size_t count, ChunkSpill& spill);

  std::vector<LogMarker> held_;
  std::vector<Run> runs_;
  std::uint64_t count_ = 0;
  std::int64_t first_time_ = 0;
  std::int64_t last_time_ = 0;
};

// When the markers of a chip's processors were, those left out whose times cannot be true (tracks/doubtful_times.h).

// Of the markers of one processor.
struct MarkerTimes {
  tracks::TimeSketch sketch;
  tracks::TimeExtremes extremes;

  void add(std::int64_t time) {
    sketch.add(time, 0);
    extremes.add(time, time);
  }
};

struct ChipTimes {
  tracks::TimeBounds bounds;
  std::optional<std::int64_t> first, last;  // within the bounds
};
[[nodiscard]] ChipTimes times_of_chip(std::span<const MarkerTimes* const> processors, double frequency_mhz);

}  // namespace accelscope::capture::sources::tt_metal
