// Numbers and their units as users read and write them: four significant digits in the unit of their size, whole
// numbers without a unit in full; thousands are separated by commas; exact forms carry every digit. Tables for programs
// write digits.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope {

// What a number counts, by the name that columns, tracks and figures give it: "ns", "B", "share". Does not own the
// name.
class Unit {
 public:
  enum Kind : std::uint8_t {
    none,
    ns,
    seconds,
    bytes,             // binary prefixes
    bytes_per_second,  // decimal prefixes
    share,             // 1 = all
    percent,
    flop,
    flop_per_second,
    flop_per_byte,
    other,  // written behind the number as it is called
  };

  constexpr Unit(Kind kind) noexcept : name_(kNames[kind]), kind_(kind) {}
  template <std::convertible_to<std::string_view> Text>
  constexpr Unit(const Text& name) noexcept : name_(name) {
    const std::string_view known = name_ == "flop" ? kNames[flop] : name_;
    while (kind_ != other && kNames[kind_] != known) kind_ = static_cast<Kind>(kind_ + 1);
  }
  [[nodiscard]] constexpr std::string_view name() const noexcept { return name_; }
  [[nodiscard]] constexpr Kind kind() const noexcept { return kind_; }
  // Values are written in a unit of their size or as a share, not behind the name.
  [[nodiscard]] constexpr bool scales() const noexcept { return kind_ != none && kind_ < flop_per_byte; }
  friend constexpr bool operator==(const Unit& a, const Unit& b) noexcept {
    return a.kind_ == b.kind_ && (a.kind_ != other || a.name_ == b.name_);
  }

 private:
  static constexpr std::string_view kNames[] = {"",  "ns",   "s",      "B",      "B/s", "share",
                                                "%", "FLOP", "FLOP/s", "FLOP/B", ""};
  std::string_view name_;
  Kind kind_ = none;
};

template <typename T>
concept Arithmetic = std::integral<T> || std::floating_point<T>;

// "198 GB/s", "23.8 %", "1.986 µs", "9.664 GFLOP", "38,412", "1,410 MHz"
[[nodiscard]] std::string format_value(double value, Unit unit);
[[nodiscard]] std::string format_exact(double value, Unit unit);  // every digit: "3.894019e-07 s"
// For the label of an axis of which the ticks are `step` apart: "1,984.25 µs" by steps of 10 ns, so that neighbours
// differ. Units of rates and intensities stand at the head of the axis, as those that are not known.
[[nodiscard]] std::string format_tick(double value, double step, Unit unit);
// Both ends in one unit, with as many decimals as tell a thousandth of the span: "1,983.435 – 1,989.435 µs".
[[nodiscard]] std::string format_range(double begin_ns, double end_ns);
// In what all values up to the largest are written, so that they stand under each other: {1e9, "GFLOP"}.
struct UnitScale {
  double divisor = 1;
  std::string name;
};
[[nodiscard]] UnitScale unit_scale(double largest, Unit unit);

[[nodiscard]] std::string format_time_exact(std::int64_t ns);  // "1,986,695 ns"
[[nodiscard]] std::string format_count(std::uint64_t count);   // "38,412"
[[nodiscard]] std::string format_signed(std::int64_t value);   // "-1,024" with a true minus
[[nodiscard]] std::string format_share(double fraction);       // "65.6 %"
[[nodiscard]] std::string format_number(double value);         // four significant digits, thousands by comma
[[nodiscard]] std::string format_number(std::integral auto value) { return format_number(static_cast<double>(value)); }
// "609 ns", "12.5 µs", "1.869 ms", "12.34 s"
[[nodiscard]] std::string format_duration(Arithmetic auto ns) {
  return format_value(static_cast<double>(ns), Unit::ns);
}
// "256 KiB", "1.91 MiB"
[[nodiscard]] std::string format_bytes(Arithmetic auto bytes) {
  return format_value(static_cast<double>(bytes), Unit::bytes);
}
// "198 GB/s"
[[nodiscard]] inline std::string format_rate(double bytes_per_second) {
  return format_value(bytes_per_second, Unit::bytes_per_second);
}
// "1 event", "38,412 events"; "2 copies", where the plural is given.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural = {});

// The smallest of 1, 2 and 5 times a power of ten that is not below the value, for steps of axes and upper ends of
// scales; 1 for what is not above 0.
[[nodiscard]] double round_step(double least) noexcept;
// Shortened in the middle to at most max_chars characters: "qGpSimdS…Reload0".
[[nodiscard]] std::string shorten_middle(std::string_view text, std::size_t max_chars);

// "12.5us", "40 ms", "1234" (ns). "10%" is resolved against [begin_ns, end_ns].
[[nodiscard]] Result<std::int64_t> parse_time(std::string_view text, std::int64_t begin_ns, std::int64_t end_ns);
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);  // "512MiB", "2G" (binary), "1.5 GB", "1048576"
[[nodiscard]] Result<double> parse_rate(std::string_view text);         // "2M", "max" (infinity), "1500"; up to P

}  // namespace accelscope
