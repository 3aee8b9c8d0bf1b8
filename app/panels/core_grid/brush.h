// The stretch of time that the grid is of: whole frames of what was asked for. It is dragged, moved, or moves by itself
// while it is played.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/analysis/core_grid/grid_frames.h"

namespace accelscope::app {

struct FrameSpan {
  std::size_t first = 0, last = 0;  // [first, last)
  bool operator==(const FrameSpan&) const = default;
};

class GridBrush {
 public:
  [[nodiscard]] bool whole() const noexcept { return !stretch_; }
  void clear() noexcept { stretch_.reset(); }
  // Between two times in any order; never less than a frame.
  void set(const GridFrames& frames, double a_ns, double b_ns) {
    const double least = frame_ns(frames);
    const auto low = static_cast<double>(frames.range.begin_ns), high = static_cast<double>(frames.range.end_ns);
    double begin = std::clamp(std::min(a_ns, b_ns), low, high), end = std::clamp(std::max(a_ns, b_ns), low, high);
    if (end - begin < least) begin = std::clamp(begin, low, high - least), end = begin + least;
    stretch_ = Stretch{begin, end};
  }
  // Keeps its length and stays inside.
  void move_to(const GridFrames& frames, double begin_ns) {
    const Stretch now = of(frames);
    const auto low = static_cast<double>(frames.range.begin_ns), high = static_cast<double>(frames.range.end_ns);
    const double length = std::min(now.end - now.begin, high - low);
    const double begin = std::clamp(begin_ns, low, high - length);
    stretch_ = Stretch{begin, begin + length};
  }
  struct Stretch {
    double begin = 0, end = 0;  // ns
  };
  // Where it lies in these frames, which may be of another range than when it was set.
  [[nodiscard]] Stretch of(const GridFrames& frames) const noexcept {
    const auto low = static_cast<double>(frames.range.begin_ns), high = static_cast<double>(frames.range.end_ns);
    if (!stretch_ || stretch_->end <= low || stretch_->begin >= high) return {low, high};
    return {std::max(low, stretch_->begin), std::min(high, stretch_->end)};
  }
  [[nodiscard]] FrameSpan span(const GridFrames& frames) const noexcept {
    if (frames.count == 0) return {};
    const Stretch at = of(frames);
    const auto nearest = [&](double ns) {
      const double share = (ns - static_cast<double>(frames.range.begin_ns)) /
                           static_cast<double>(std::max<std::int64_t>(1, frames.range.length_ns()));
      return static_cast<std::size_t>(std::lround(share * static_cast<double>(frames.count)));
    };
    const std::size_t first = std::min(nearest(at.begin), frames.count - 1);
    return {first, std::clamp(nearest(at.end), first + 1, frames.count)};
  }

 private:
  [[nodiscard]] static double frame_ns(const GridFrames& frames) noexcept {
    return static_cast<double>(frames.range.length_ns()) / static_cast<double>(std::max<std::size_t>(1, frames.count));
  }
  std::optional<Stretch> stretch_;
};

}  // namespace accelscope::app
