// The times of Chrome JSON: decimal microseconds, read from their text. A double holds the microseconds of an
// absolute time to a quarter of a microsecond only, so the digits never pass through one.
#pragma once

#include <cstdint>
#include <string_view>

namespace accelscope::capture::sources::chrome {

// ns + part / 10^9, with 0 <= part < 10^9: a file may be finer than a ns.
struct ExactTime {
  std::int64_t ns = 0;
  std::uint32_t part = 0;

  // Both ends of an event are rounded down, so that what was nested stays nested.
  [[nodiscard]] ExactTime operator+(const ExactTime& other) const noexcept {
    constexpr std::uint32_t kWhole = 1'000'000'000;
    const std::uint32_t parts = part + other.part;
    return parts < kWhole ? ExactTime{ns + other.ns, parts} : ExactTime{ns + other.ns + 1, parts - kWhole};
  }
};

enum class TimeReading : std::uint8_t { ok, not_a_number, out_of_range };

// From 12, "12.345", -1.5, 1.7e15. Times beyond kMaxTimeNs either way are out of range.
[[nodiscard]] TimeReading read_microseconds(std::string_view text, ExactTime& time) noexcept;

// ns since 1970 are 1.8e18; sums of two times must not overflow.
inline constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;

}  // namespace accelscope::capture::sources::chrome
