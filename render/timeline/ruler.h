// Where the ruler has its ticks and what they say: round steps of 1, 2 or 5 times a power of ten, the unit by the
// step and not by the time, so that neighbours differ where they must. Pure.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/clock.h"
#include "core/model/time_range.h"

namespace accelscope::render {

// The visible stretch of session time and its way to pixels. Pure arithmetic; pixels count from the left edge of
// the canvas.

struct TimeView {
  double begin_ns = 0;
  double end_ns = 1;
  int width = 1;  // pixels

  [[nodiscard]] double span_ns() const noexcept { return end_ns - begin_ns; }
  [[nodiscard]] double ns_per_pixel() const noexcept { return span_ns() / width; }
  [[nodiscard]] double x(double ns) const noexcept { return (ns - begin_ns) / ns_per_pixel(); }
  [[nodiscard]] double ns(double x) const noexcept { return begin_ns + x * ns_per_pixel(); }
  bool operator==(const TimeView&) const = default;
};

// Ticks to pixels where the clock is one straight line: exact at the left edge of the view, so that nothing is lost
// to large tick numbers.
class AffineTicks {
 public:
  AffineTicks(const ClockMap& clock, const TimeView& view) noexcept
      : reference_(clock.to_ticks(whole_time(std::floor(view.begin_ns)))),
        offset_(view.x(static_cast<double>(clock.to_ns(reference_)))),
        pixels_per_tick_(clock.ns_per_tick() / view.ns_per_pixel()) {}

  [[nodiscard]] double x(std::int64_t ticks) const noexcept {
    return static_cast<double>(time_between(reference_, ticks)) * pixels_per_tick_ + offset_;
  }
  // Pixels that `ticks` of the stretch [x0, x1) of length `length` take.
  [[nodiscard]] double extent(double ticks, double, double, std::int64_t) const noexcept {
    return ticks * pixels_per_tick_;
  }

 private:
  std::int64_t reference_;
  double offset_;
  double pixels_per_tick_;
};

// The same through a clock whose rate changes.
class MappedTicks {
 public:
  MappedTicks(const ClockMap& clock, const TimeView& view) noexcept
      : clock_(clock), begin_ns_(view.begin_ns), pixels_per_ns_(1.0 / view.ns_per_pixel()) {}

  [[nodiscard]] double x(std::int64_t ticks) const noexcept {
    return (static_cast<double>(clock_.to_ns(ticks)) - begin_ns_) * pixels_per_ns_;
  }
  [[nodiscard]] double extent(double ticks, double x0, double x1, std::int64_t length) const noexcept {
    return length > 0 ? ticks * (x1 - x0) / static_cast<double>(length) : 0;
  }

 private:
  const ClockMap& clock_;
  double begin_ns_;
  double pixels_per_ns_;
};

struct RulerTick {
  double x = 0;
  std::string label;  // "1,984 µs"; empty for a minor tick
};

struct Ruler {
  double step_ns = 1;  // between labelled ticks
  std::vector<RulerTick> ticks;
};

// Labelled ticks are at least `least_pixels` apart.
[[nodiscard]] Ruler make_ruler(const TimeView& view, double least_pixels);

}  // namespace accelscope::render
