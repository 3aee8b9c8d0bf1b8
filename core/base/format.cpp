#include "core/base/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/base/text.h"

namespace accelscope {
namespace {

constexpr std::string_view kMinus = "\u2212";
constexpr std::string_view kEllipsis = "\u2026";

struct Scale {
  double scale;
  std::string_view name;
};

constexpr double kNsOfSecond = 1e9;
constexpr std::array<Scale, 4> kTimes = {{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {kNsOfSecond, "s"}}};
constexpr std::array<Scale, 6> kBinary = {
    {{1, ""}, {0x1p10, "Ki"}, {0x1p20, "Mi"}, {0x1p30, "Gi"}, {0x1p40, "Ti"}, {0x1p50, "Pi"}}};
constexpr std::array<Scale, 6> kDecimal = {{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}}};

// The largest of them that `fits`; they ascend.
const Scale& largest_scale(std::span<const Scale> scales, auto fits) {
  std::size_t at = 0;
  while (at + 1 < scales.size() && fits(scales[at + 1].scale)) ++at;
  return scales[at];
}

std::string with_commas(std::string_view digits) {
  std::string out;
  out.reserve(digits.size() + digits.size() / 3);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

// Whole numbers in full; below 1,000 four significant digits without trailing zeros. The value is not negative.
std::string four_digits(double value) {
  int decimals = 0;
  for (double limit = 1000; decimals < 3 && value < limit; limit /= 10) ++decimals;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return with_commas(text);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

double rounded_to_four_digits(double value) {
  if (value == 0) return 0;
  const double step = std::pow(10.0, std::floor(std::log10(value)) - 3);
  return std::round(value / step) * step;
}

std::string not_finite(double value) { return std::isnan(value) ? "–" : value > 0 ? "∞" : fmt::format("{}∞", kMinus); }

// In the largest unit that keeps the number, as it will be shown, at or above one.
std::string in_unit(double value, std::span<const Scale> scales, std::string_view unit = {}) {
  if (!std::isfinite(value)) return not_finite(value);
  const double size = std::abs(value);
  const Scale& scale = largest_scale(scales, [&](double each) { return rounded_to_four_digits(size / each) >= 1; });
  const std::string number = four_digits(size / scale.scale);
  return fmt::format("{}{} {}{}", value < 0 && number != "0" ? kMinus : "", number, scale.name, unit);
}

// Thousands by comma, with so many decimals.
std::string fixed_number(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool is_zero = text.find_first_not_of("0.") == std::string::npos;
  const std::size_t point = std::min(text.find('.'), text.size());
  return fmt::format("{}{}{}", value < 0 && !is_zero ? kMinus : "",
                     with_commas(std::string_view(text).substr(0, point)), text.substr(point));
}

// The magnitude of a signed number, also of the most negative one.
std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

// Splits "12.5 us" into "12.5" and "us".
struct Amount {
  std::string_view number;
  std::string_view unit;
};
Amount split_amount(std::string_view text) {
  text = trimmed(text);
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.' || text[end] == '-' || text[end] == '+')) ++end;
  return {text.substr(0, end), trimmed(text.substr(end))};
}

bool parse_double(std::string_view text, double& value) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  return read_number(text, value) && std::isfinite(value);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

// A decimal number times `scale`, rounded to the nearest integer below 2^64. Exact: no detour through double.
bool scaled_decimal(std::string_view number, std::uint64_t scale, std::uint64_t& out) {
  std::uint64_t whole = 0;
  bool any = false;
  std::size_t i = 0;
  for (; i < number.size() && is_digit(number[i]); ++i) {
    const auto digit = static_cast<std::uint64_t>(number[i] - '0');
    if (__builtin_mul_overflow(whole, std::uint64_t{10}, &whole) || __builtin_add_overflow(whole, digit, &whole)) {
      return false;
    }
    any = true;
  }
  if (__builtin_mul_overflow(whole, scale, &out)) return false;
  if (i < number.size() && number[i] == '.') {
    long double fraction = 0;
    long double place = 0.1L;
    for (++i; i < number.size() && is_digit(number[i]); ++i, place /= 10) {
      fraction += place * static_cast<long double>(number[i] - '0');
      any = true;
    }
    const auto part = static_cast<std::uint64_t>(std::llround(fraction * static_cast<long double>(scale)));
    if (__builtin_add_overflow(out, part, &out)) return false;
  }
  return any && i == number.size();
}

struct ScaleName {
  std::string_view name;
  std::uint64_t scale;
};

constexpr std::array<ScaleName, 8> kTimeScales = {{{"", 1},
                                                   {"ns", 1},
                                                   {"us", 1'000},
                                                   {"\u00b5s", 1'000},
                                                   {"\u03bcs", 1'000},
                                                   {"ms", 1'000'000},
                                                   {"s", 1'000'000'000},
                                                   {"min", 60'000'000'000}}};

// A bare letter is binary, as in most tools that take sizes; "kB" is the SI unit.
constexpr std::array<ScaleName, 14> kSizeScales = {{{"", 1},
                                                    {"B", 1},
                                                    {"K", 1ULL << 10},
                                                    {"KiB", 1ULL << 10},
                                                    {"kB", 1'000},
                                                    {"M", 1ULL << 20},
                                                    {"MiB", 1ULL << 20},
                                                    {"MB", 1'000'000},
                                                    {"G", 1ULL << 30},
                                                    {"GiB", 1ULL << 30},
                                                    {"GB", 1'000'000'000},
                                                    {"T", 1ULL << 40},
                                                    {"TiB", 1ULL << 40},
                                                    {"TB", 1'000'000'000'000}}};

Result<std::int64_t> parse_share(std::string_view text, std::string_view number, std::int64_t begin_ns,
                                 std::int64_t end_ns) {
  double percent = 0;
  if (!parse_double(number, percent)) {
    return Error{fmt::format("\"{}\" is not a percentage; try 25%", text)};
  }
  const double span = static_cast<double>(end_ns) - static_cast<double>(begin_ns);
  if (percent == 100) return end_ns;
  const double offset = std::round(span * percent / 100);
  if (std::abs(offset) > 9e18) return Error{fmt::format("\"{}\" is outside of what a time can hold", text)};
  return begin_ns + static_cast<std::int64_t>(offset);
}

}  // namespace

std::string format_value(double value, Unit unit) {
  switch (unit.kind()) {
    case Unit::seconds:
      return format_value(value * kNsOfSecond, Unit::ns);
    case Unit::ns:  // a time of the clock and the same from a figure in seconds are written alike
      return in_unit(std::abs(value) >= 1e3 ? std::round(value) : value, kTimes);
    case Unit::bytes:
      return in_unit(value, kBinary, "B");
    case Unit::bytes_per_second:
      return in_unit(value, kDecimal, "B/s");
    case Unit::flop:
    case Unit::flop_per_second:
      return in_unit(value, kDecimal, Unit(unit.kind()).name());
    case Unit::share:
      return format_share(value);
    case Unit::percent:
      return format_share(value / 100);
    case Unit::none:
    case Unit::flop_per_byte:
    case Unit::other:
      break;
  }
  constexpr double kExact = 9e15;  // whole numbers below it are exact
  const bool whole = std::abs(value) < kExact && value == std::floor(value);
  const std::string text = whole ? format_signed(static_cast<std::int64_t>(value)) : format_number(value);
  return unit == Unit::none ? text : fmt::format("{} {}", text, unit.name());
}

std::string format_exact(double value, Unit unit) {
  const std::string digits = std::isfinite(value) ? fmt::format("{}", value) : not_finite(value);
  return unit == Unit::none ? digits : fmt::format("{} {}", digits, unit.name());
}

std::string format_tick(double value, double step, Unit unit) {
  switch (unit.kind()) {
    case Unit::ns: {  // the largest unit of which the step is at least a tenth; none below a nanosecond
      step = std::max(step, 1e-3);
      const Scale& scale = largest_scale(kTimes, [&](double each) { return step * 10 >= each * (1 - 1e-9); });
      const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step / scale.scale) - 1e-9)));
      return fmt::format("{} {}", fixed_number(value / scale.scale, decimals), scale.name);
    }
    case Unit::flop_per_byte:
      return value >= 1e5 || value < 1e-3 ? fmt::format("{:.0e}", value) : fmt::format("{:.4g}", value);
    case Unit::flop_per_second:
      return in_unit(value, kDecimal);
    case Unit::none:
    case Unit::other:
      return std::trunc(value) == value && std::abs(value) < 1e9 ? format_signed(static_cast<std::int64_t>(value))
                                                                 : fmt::format("{:.6g}", value);
    default:
      return format_value(value, unit);
  }
}

std::string format_range(double begin_ns, double end_ns) {
  const double span = std::max(end_ns - begin_ns, 1.0);
  const Scale& scale = largest_scale(kTimes, [&](double each) { return span >= each; });
  const int most = static_cast<int>(std::lround(std::log10(scale.scale)));  // not below a ns
  const int wanted = static_cast<int>(std::ceil(-std::log10(span / scale.scale / 1000) - 1e-9));
  const int decimals = std::clamp(wanted, 0, most);
  return fmt::format("{} – {} {}", fixed_number(begin_ns / scale.scale, decimals),
                     fixed_number(end_ns / scale.scale, decimals), scale.name);
}

UnitScale unit_scale(double largest, Unit unit) {
  const std::span<const Scale> scales = unit == Unit::bytes ? kBinary : kDecimal;
  const Scale& scale = largest_scale(scales, [&](double each) { return largest >= each; });
  return {scale.scale, fmt::format("{}{}", scale.name, unit.name())};
}

std::string format_count(std::uint64_t count) { return with_commas(fmt::format("{}", count)); }

std::string format_signed(std::int64_t value) {
  return fmt::format("{}{}", value < 0 ? kMinus : "", format_count(magnitude(value)));
}

std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural) {
  if (count != 1 && !plural.empty()) return fmt::format("{} {}", format_count(count), plural);
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

std::string format_time_exact(std::int64_t ns) { return format_signed(ns) + " ns"; }

std::string format_share(double fraction) {
  if (!std::isfinite(fraction)) return "–";
  const double percent = std::abs(fraction) * 100;
  if (percent < 1e-4 && percent > 0) return "<0.0001 %";
  const std::string text =
      percent < 0.1 && percent > 0 ? fmt::format("{:.2g}", percent) : fmt::format("{:.1f}", percent);
  return fmt::format("{}{} %", fraction < 0 && percent > 0 ? kMinus : "", text);
}

std::string format_number(double value) {
  if (!std::isfinite(value)) return not_finite(value);
  const double size = std::abs(value);
  const std::string_view sign = value < 0 ? kMinus : "";
  if (size != 0 && (size < 1e-3 || size >= 1e15)) return fmt::format("{}{:.4g}", sign, size);
  if (size < 1) return fmt::format("{}{:.4g}", sign, size);
  return fmt::format("{}{}", sign, four_digits(size));
}

double round_step(double least) noexcept {
  if (!(least > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(least) + 1e-9));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= least * (1 - 1e-9)) return power * factor;
  }
  return power * 10;
}

std::string shorten_middle(std::string_view text, std::size_t max_chars) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size();) {
    starts.push_back(i);
    const std::size_t length = utf8_length(text.substr(i));
    i += length == 0 ? 1 : length;
  }
  if (starts.size() <= max_chars) return std::string(text);
  if (max_chars == 0) return {};
  const std::size_t retained = max_chars - 1;
  const std::size_t head = (retained + 1) / 2;
  const std::size_t tail = retained - head;
  std::string out(text.substr(0, starts[head]));
  out += kEllipsis;
  if (tail > 0) out += text.substr(starts[starts.size() - tail]);
  return out;
}

Result<std::int64_t> parse_time(std::string_view text, std::int64_t begin_ns, std::int64_t end_ns) {
  const Amount amount = split_amount(text);
  if (amount.unit == "%") return parse_share(text, amount.number, begin_ns, end_ns);
  const bool negative = !amount.number.empty() && amount.number.front() == '-';
  const bool has_sign = negative || (!amount.number.empty() && amount.number.front() == '+');
  for (const ScaleName& scale : kTimeScales) {
    if (amount.unit != scale.name) continue;
    std::uint64_t ns = 0;
    if (!scaled_decimal(amount.number.substr(has_sign ? 1 : 0), scale.scale, ns) ||
        ns > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      break;
    }
    return negative ? -static_cast<std::int64_t>(ns) : static_cast<std::int64_t>(ns);
  }
  return Error{fmt::format("\"{}\" is not a time; try 1500, 12.5us, 40ms, 2s or 10%", text)};
}

Result<std::uint64_t> parse_size(std::string_view text) {
  const Amount amount = split_amount(text);
  for (const ScaleName& scale : kSizeScales) {
    if (!equal_ignoring_case(amount.unit, scale.name)) continue;
    std::uint64_t bytes = 0;
    if (!scaled_decimal(amount.number, scale.scale, bytes)) break;
    return bytes;
  }
  return Error{fmt::format("\"{}\" is not a size; try 1048576, 512MiB or 2G", text)};
}

Result<double> parse_rate(std::string_view text) {
  if (trimmed(text) == "max") return std::numeric_limits<double>::infinity();
  const Amount amount = split_amount(text);
  double number = 0;
  for (const Scale& scale : kDecimal) {
    if (!equal_ignoring_case(amount.unit, scale.name)) continue;
    if (!parse_double(amount.number, number) || number < 0) break;
    return number * scale.scale;
  }
  return Error{fmt::format("\"{}\" is not a rate; try 1500, 20k, 2M or max", text)};
}

}  // namespace accelscope
