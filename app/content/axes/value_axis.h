// A linear or logarithmic axis of values: where a value lies, what lies at a place, round ticks and how they are
// written. No drawing in here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/statistics/value_details.h"

namespace accelscope::app {

struct ValueTick {
  double value = 0;
  std::string text;  // "" for one that needs no label
};

class ValueAxis {
 public:
  ValueAxis() = default;
  // From min to max; on a log scale both must be above 0.
  ValueAxis(double min, double max, BinScale scale);

  [[nodiscard]] double place(double value) const noexcept;  // 0 at min, 1 at max; beyond them outside of that
  [[nodiscard]] double value(double place) const noexcept;
  // At most `most` with a label; the unit of times follows the step.
  [[nodiscard]] std::vector<ValueTick> ticks(std::size_t most, std::string_view unit) const;

 private:
  double min_ = 0, max_ = 1;
  BinScale scale_ = BinScale::linear;
};

// A value for a label: with as many digits as tell `step` apart.
[[nodiscard]] std::string axis_text(double value, double step, std::string_view unit);

}  // namespace accelscope::app
