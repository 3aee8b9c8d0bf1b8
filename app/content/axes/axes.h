#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/statistics/value_details.h"
#include "core/model/time_range.h"
#include "render/timeline/ruler.h"

namespace accelscope::app::content {

// A time axis on which long idle stretches take a few pixels each. Pure arithmetic; pixels count from the axis's left
// edge.
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

// A linear or logarithmic axis of values: where a value lies, what lies at a place, round ticks and how they are
// written. From one value to another, or as wide as what it holds. No drawing in here.
//
//   ValueAxis axis(BinScale::log);
//   for (...) axis.include(value);
//   axis.widen(2);
struct ValueTick {
  double value = 0;
  std::string text;  // "" for one that needs no label: a fine line
};

// decimal: 1 2 5, 1 5 or powers of ten on a log scale, with those between them as fine lines; doubling: powers of two,
// where so many fit.
enum class TickSteps : std::uint8_t { decimal, doubling };

class ValueAxis {
 public:
  ValueAxis() = default;
  // From min to max; on a log scale both must be above 0.
  ValueAxis(double min, double max, analysis::BinScale scale);
  explicit ValueAxis(analysis::BinScale scale) : scale_(scale), min_(1), max_(0) {}

  // Widens to hold the value; what has no place on it, such as 0 on a log scale, is passed over.
  void include(double value) noexcept;
  // Leaves so much room beyond its ends, as a factor of at least 1; of log scales.
  void widen(double factor) noexcept;

  [[nodiscard]] bool empty() const noexcept { return min_ > max_; }
  [[nodiscard]] double low() const noexcept { return min_; }
  [[nodiscard]] double high() const noexcept { return max_; }
  // 0 at the low end, 1 at the high one, beyond them outside of that. 0.5: there is no span. Below it, on a log scale,
  // for what has no place.
  [[nodiscard]] double place(double value) const noexcept;
  [[nodiscard]] double value(double place) const noexcept;
  // Ascending, about `most` with a label; the unit of times follows the step. Labels are of format_tick().
  [[nodiscard]] std::vector<ValueTick> ticks(std::size_t most, Unit unit, TickSteps steps = TickSteps::decimal) const;
  bool operator==(const ValueAxis&) const = default;

 private:
  [[nodiscard]] std::vector<ValueTick> even_ticks(std::size_t most, Unit unit) const;
  [[nodiscard]] std::vector<ValueTick> decade_ticks(std::size_t most, Unit unit) const;

  analysis::BinScale scale_ = analysis::BinScale::linear;
  double min_ = 0, max_ = 1;
};

}  // namespace accelscope::app::content
