// Round figures for a time axis: where its ticks lie and how they are written. The unit follows the step, not the
// size, so that neighbouring ticks differ in their last digits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/time_range.h"

namespace accelscope::app {

struct TimeTick {
  std::int64_t ns = 0;
  std::string text;  // "1,986 µs"
};

// At most `most` ticks within the range, 1, 2 or 5 times a power of ten ns apart.
[[nodiscard]] std::vector<TimeTick> time_ticks(const TimeRange& range, std::size_t most);

// "1,983.435 – 1,989.435 µs": both ends in one unit, with as many decimals as tell a thousandth of the span.
[[nodiscard]] std::string range_text(double begin_ns, double end_ns);

}  // namespace accelscope::app
