// A half-open stretch of time, and what it means that an event lies in it: an interval if they share time, an
// instant if it lies inside. An empty range holds nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "core/base/result.h"

namespace accelscope {

// No event is farther from 0 than this, in ticks and in ns of session time: no difference of two times overflows then.
// A store takes no others, and clocks saturate here.
inline constexpr std::int64_t kFarthestTime = (std::int64_t{1} << 62) - 1;
[[nodiscard]] constexpr bool is_near_enough(std::int64_t time) noexcept {
  return time >= -kFarthestTime && time <= kFarthestTime;
}

// A time that was computed, as the nearest one that an event may have: views reach beyond those.
[[nodiscard]] constexpr std::int64_t whole_time(double time) noexcept {
  constexpr double kEnd = 0x1p62;
  if (!(time > -kEnd)) return -kFarthestTime;
  return time < kEnd ? static_cast<std::int64_t>(time) : kFarthestTime;
}

// The difference of two times of any kind, as are the ends of a range that has none: the largest where int64 has no
// other.
[[nodiscard]] constexpr std::int64_t time_between(std::int64_t begin, std::int64_t end) noexcept {
  const auto steps = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (end < begin) return -time_between(end, begin);
  return steps > static_cast<std::uint64_t>(kLargest) ? kLargest : static_cast<std::int64_t>(steps);
}

namespace detail {
[[nodiscard]] constexpr bool stretch_holds(std::int64_t begin, std::int64_t end, std::int64_t event_begin,
                                           std::int64_t event_end) noexcept {
  if (begin >= end || event_begin >= end) return false;
  return event_end > begin || (event_begin == event_end && event_begin >= begin);
}
}  // namespace detail

struct TimeRange {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] constexpr bool empty() const noexcept { return begin_ns >= end_ns; }
  [[nodiscard]] constexpr std::int64_t length_ns() const noexcept {
    return empty() ? 0 : time_between(begin_ns, end_ns);
  }
  [[nodiscard]] constexpr bool holds(std::int64_t event_begin, std::int64_t event_end) const noexcept {
    return detail::stretch_holds(begin_ns, end_ns, event_begin, event_end);
  }
  bool operator==(const TimeRange&) const = default;
};

// "12.5us:40us", "10%:20%" of the session, "5ms:" to its end. The sides are read by parse_time; never empty.
[[nodiscard]] Result<TimeRange> parse_time_range(std::string_view text, const TimeRange& session);

// The same in the ticks of one lane.
struct TickRange {
  std::int64_t begin = std::numeric_limits<std::int64_t>::min();
  std::int64_t end = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] constexpr bool empty() const noexcept { return begin >= end; }
  [[nodiscard]] constexpr bool holds(std::int64_t event_begin, std::int64_t event_end) const noexcept {
    return detail::stretch_holds(begin, end, event_begin, event_end);
  }
  // Ticks that the event and the range share.
  [[nodiscard]] constexpr std::uint64_t shared(std::int64_t event_begin, std::int64_t event_end) const noexcept {
    const std::int64_t first = std::max(begin, event_begin);
    const std::int64_t last = std::min(end, event_end);
    return last > first ? static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) : 0;
  }
  // True if all of [first, last] lies inside, instants at its end included.
  [[nodiscard]] constexpr bool covers(std::int64_t first, std::int64_t last) const noexcept {
    return begin <= first && last < end;
  }
};

}  // namespace accelscope
