#include "core/model/unit.h"

#include <array>
#include <cmath>

#include "core/base/format.h"

namespace accelscope {
namespace {

struct UnitRow {
  std::string_view name;
  ValueUnit unit;
  std::string (*format)(double);
};

std::string format_flop(double value, std::string_view unit) {
  return value < 0 ? "\u2212" + format_scaled(-value, unit) : format_scaled(value, unit);
}

constexpr double kNsOfSecond = 1e9;
constexpr std::array kUnitRows = std::to_array<UnitRow>({
    {"ns", ValueUnit::nanoseconds, format_duration},
    {"s", ValueUnit::seconds, [](double v) { return format_duration(v * kNsOfSecond); }},
    {"B", ValueUnit::bytes, format_bytes},
    {"B/s", ValueUnit::bytes_per_second, format_rate},
    {"share", ValueUnit::share, format_share},
    {"%", ValueUnit::percent, [](double v) { return format_share(v / 100); }},
    {"FLOP", ValueUnit::flop, [](double v) { return format_flop(v, "FLOP"); }},
    {"flop", ValueUnit::flop, [](double v) { return format_flop(v, "FLOP"); }},
    {"FLOP/s", ValueUnit::flop_per_second, [](double v) { return format_flop(v, "FLOP/s"); }},
});

const UnitRow* unit_row(std::string_view name) noexcept {
  for (const UnitRow& row : kUnitRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

ValueUnit unit_of(std::string_view name) noexcept {
  if (name.empty()) return ValueUnit::none;
  const UnitRow* row = unit_row(name);
  return row == nullptr ? ValueUnit::other : row->unit;
}

std::string format_value(double value, std::string_view unit) {
  if (const UnitRow* row = unit_row(unit)) return row->format(value);
  constexpr double kExact = 9e15;  // whole numbers below it are exact
  const bool whole = std::abs(value) < kExact && value == std::floor(value);
  std::string text = whole ? format_signed(static_cast<std::int64_t>(value)) : format_number(value);
  if (!unit.empty()) text.append(" ").append(unit);
  return text;
}

}  // namespace accelscope
