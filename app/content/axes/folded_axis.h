// A time axis on which long idle stretches take a few pixels each. Pure arithmetic; pixels count from the axis's left
// edge.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/model/time_range.h"
#include "render/timeline/time_view.h"

namespace accelscope::app {

class FoldedAxis {
 public:
  struct Part {
    bool folded = false;
    double begin_ns = 0, end_ns = 0;
    int x0 = 0, x1 = 0;
    [[nodiscard]] render::TimeView view() const noexcept { return {begin_ns, end_ns, x1 - x0}; }
    bool operator==(const Part&) const = default;
  };

  FoldedAxis() = default;
  // From `begin_ns` to `end_ns` on `width` pixels. `idle` by time; each takes what `stub_width` says of it, in pixels.
  // None is folded where the stubs would take more than half of the axis.
  FoldedAxis(double begin_ns, double end_ns, int width, const std::vector<TimeRange>& idle,
             const std::function<int(double idle_ns)>& stub_width);

  [[nodiscard]] const std::vector<Part>& parts() const noexcept { return parts_; }  // by time, without gaps
  [[nodiscard]] double x(double ns) const noexcept;
  [[nodiscard]] double ns(double x) const noexcept;
  bool operator==(const FoldedAxis&) const = default;

 private:
  std::vector<Part> parts_;
};

// Which stretches of a session are folded: all before `work` begins if that is much of it, and the gaps of `gaps` that
// are long beside it, if together they are. A little time stays on both sides of what happens.
[[nodiscard]] std::vector<TimeRange> stretches_to_fold(double begin_ns, double end_ns,
                                                       const std::optional<TimeRange>& work,
                                                       const std::vector<TimeRange>& gaps);

// What of the work lies between those; the work as a whole where none lies within it.
[[nodiscard]] std::vector<TimeRange> bursts_of(const TimeRange& work, const std::vector<TimeRange>& folded);

}  // namespace accelscope::app
