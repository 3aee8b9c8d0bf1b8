// A linear or logarithmic axis of values: where a value lies, what lies at a place, round ticks and how they are
// written. From one value to another, or as wide as what it holds. No drawing in here.
//
//   ValueAxis axis(BinScale::log);
//   for (...) axis.include(value);
//   axis.widen(2);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/statistics/value_details.h"

namespace accelscope::app {

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
  ValueAxis(double min, double max, BinScale scale);
  explicit ValueAxis(BinScale scale) : scale_(scale), min_(1), max_(0) {}

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
  // Ascending, about `most` with a label; the unit of times follows the step. Units as in axis_text().
  [[nodiscard]] std::vector<ValueTick> ticks(std::size_t most, std::string_view unit,
                                             TickSteps steps = TickSteps::decimal) const;
  bool operator==(const ValueAxis&) const = default;

 private:
  [[nodiscard]] std::vector<ValueTick> even_ticks(std::size_t most, std::string_view unit) const;
  [[nodiscard]] std::vector<ValueTick> decade_ticks(std::size_t most, std::string_view unit) const;

  BinScale scale_ = BinScale::linear;
  double min_ = 0, max_ = 1;
};

// A value for a label: with as many digits as tell `step` apart. Units: "ns", "B", those of rates and intensities
// ("FLOP/s", "FLOP/B": the head of the axis has them, and labels none), or "" for plain numbers.
[[nodiscard]] std::string axis_text(double value, double step, std::string_view unit);

}  // namespace accelscope::app
