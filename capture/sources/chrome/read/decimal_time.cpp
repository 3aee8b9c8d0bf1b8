#include "capture/sources/chrome/read/decimal_time.h"

#include "core/base/text.h"

namespace accelscope::capture::sources::chrome {
namespace {

constexpr int kNsShift = 3;     // a microsecond is 10^3 ns
constexpr int kPartDigits = 9;  // kept behind the ns

// A number as its digits and the place of its point among them.
struct Decimal {
  std::string_view whole;     // digits before the point
  std::string_view fraction;  // and after it
  long exponent = 0;

  [[nodiscard]] long digits() const noexcept { return static_cast<long>(whole.size() + fraction.size()); }
  // 0 outside of the digits that were written.
  [[nodiscard]] unsigned digit(long index) const noexcept {
    if (index < 0 || index >= digits()) return 0;
    const auto at = static_cast<std::size_t>(index);
    return static_cast<unsigned>((at < whole.size() ? whole[at] : fraction[at - whole.size()]) - '0');
  }
};

[[nodiscard]] std::string_view take_digits(std::string_view& text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

[[nodiscard]] bool split(std::string_view text, Decimal& number) noexcept {
  number.whole = take_digits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    number.fraction = take_digits(text);
  }
  if (number.digits() == 0) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const std::string_view exponent = take_digits(text);
    if (exponent.empty()) return false;
    constexpr long kEnough = 100'000;  // beyond it every time is 0 or out of range
    for (const char c : exponent) {
      if (number.exponent < kEnough) number.exponent = number.exponent * 10 + (c - '0');
    }
    if (negative) number.exponent = -number.exponent;
  }
  return text.empty();
}

[[nodiscard]] TimeReading to_time(const Decimal& number, ExactTime& time) noexcept {
  long first = 0;  // that is not 0
  while (first < number.digits() && number.digit(first) == 0) ++first;
  if (first == number.digits()) {
    time = {};
    return TimeReading::ok;
  }
  const long end = static_cast<long>(number.whole.size()) + number.exponent + kNsShift;  // of the whole ns
  constexpr long kMostDigits = 19;                                                       // of kMaxTimeNs
  if (end - first > kMostDigits) return TimeReading::out_of_range;
  std::uint64_t ns = 0;
  for (long i = first; i < end; ++i) ns = ns * 10 + number.digit(i);
  if (ns > static_cast<std::uint64_t>(kMaxTimeNs)) return TimeReading::out_of_range;
  std::uint32_t part = 0;
  for (long i = end; i < end + kPartDigits; ++i) part = part * 10 + number.digit(i);
  time = {static_cast<std::int64_t>(ns), part};
  return TimeReading::ok;
}

// Up to 15 digits, a point and 3 more: nearly every time there is.
[[nodiscard]] bool read_short(std::string_view text, ExactTime& time) noexcept {
  constexpr std::size_t kMostDigits = 18;
  std::int64_t value = 0;
  std::size_t at = 0;
  while (at < text.size() && is_digit(text[at])) value = value * 10 + (text[at++] - '0');
  if (at == 0 || at > kMostDigits - kNsShift) return false;
  int missing = kNsShift;
  if (at < text.size() && text[at] == '.') {
    ++at;
    for (; missing > 0 && at < text.size() && is_digit(text[at]); --missing) value = value * 10 + (text[at++] - '0');
  }
  if (at != text.size()) return false;
  for (; missing > 0; --missing) value *= 10;
  time = {value, 0};
  return true;
}

}  // namespace

TimeReading read_microseconds(std::string_view text, ExactTime& time) noexcept {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.size() < 20 && read_short(text, time)) return TimeReading::ok;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  Decimal number;
  if (!split(text, number)) return TimeReading::not_a_number;
  const TimeReading reading = to_time(number, time);
  if (negative && reading == TimeReading::ok) {
    constexpr std::uint32_t kWhole = 1'000'000'000;
    time = time.part == 0 ? ExactTime{-time.ns, 0} : ExactTime{-time.ns - 1, kWhole - time.part};
  }
  return reading;
}

}  // namespace accelscope::capture::sources::chrome
