#include "app/content/axes/value_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/format.h"
#include "core/model/unit.h"
#include "render/timeline/ruler.h"

namespace accelscope::app {
namespace {

// Times below a nanosecond have no unit of their own.
std::string time_text(double value, double step) { return render::ruler_label(value, std::max(step, 1e-3)); }

std::string ratio_text(double value) {
  return value >= 1e5 || value < 1e-3 ? fmt::format("{:.0e}", value) : fmt::format("{:.4g}", value);
}

constexpr double kTickSlack = 1e-9;  // of a step or a value: what is lost in rounding

}  // namespace

std::string axis_text(double value, double step, std::string_view unit) {
  if (unit == "FLOP/B") return ratio_text(value);
  switch (unit_of(unit)) {
    case ValueUnit::nanoseconds:
      return time_text(value, step);
    case ValueUnit::none:
    case ValueUnit::other:  // the axis itself is named with it
      break;
    case ValueUnit::flop_per_second:
      return format_scaled(value, "");  // the axis itself is named with the unit
    default:
      return format_value(value, unit);
  }
  return std::trunc(value) == value && std::abs(value) < 1e9 ? format_signed(static_cast<std::int64_t>(value))
                                                             : fmt::format("{:.6g}", value);
}

ValueAxis::ValueAxis(double min, double max, BinScale scale)
    : scale_(scale), min_(min), max_(max > min ? max : min + 1) {}

void ValueAxis::include(double value) noexcept {
  if (!std::isfinite(value) || (scale_ == BinScale::log && !(value > 0))) return;
  if (empty()) {
    min_ = max_ = value;
  } else {
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
}

void ValueAxis::widen(double factor) noexcept {
  if (empty()) return;
  min_ /= factor;
  max_ *= factor;
}

double ValueAxis::place(double value) const noexcept {
  if (scale_ == BinScale::log && value <= 0) return -1;
  if (!(max_ > min_)) return 0.5;
  if (scale_ == BinScale::linear) return (value - min_) / (max_ - min_);
  return std::log(value / min_) / std::log(max_ / min_);
}

double ValueAxis::value(double place) const noexcept {
  return scale_ == BinScale::linear ? min_ + place * (max_ - min_) : min_ * std::pow(max_ / min_, place);
}

std::vector<ValueTick> ValueAxis::even_ticks(std::size_t most, std::string_view unit) const {
  std::vector<ValueTick> ticks;
  const double step = round_step((max_ - min_) / static_cast<double>(most));
  for (double i = std::ceil(min_ / step - kTickSlack); i * step <= max_ * (1 + 1e-12); ++i)
    ticks.push_back({i * step, axis_text(i * step, step, unit)});
  return ticks;
}

std::vector<ValueTick> ValueAxis::decade_ticks(std::size_t most, std::string_view unit) const {
  std::vector<ValueTick> ticks;
  const double decades = std::log10(max_ / min_), room = static_cast<double>(most);
  const int each = decades * 3 <= room ? 3 : decades * 2 <= room ? 2 : 1;  // labelled ones of a decade
  const double every = std::max(1.0, std::ceil(decades / room));
  const auto is_labelled = [&](int digit, double decade) {
    if (digit == 1) return std::fmod(std::abs(decade), every) < 0.5;
    return (digit == 5 && each >= 2) || (digit == 2 && each == 3);
  };
  for (double decade = std::floor(std::log10(min_) + kTickSlack); std::pow(10, decade) <= max_; ++decade) {
    const double base = std::pow(10, decade);
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = base * digit;
      const bool labelled = is_labelled(digit, decade);
      if (value < min_ * (1 - kTickSlack) || value > max_ * (1 + kTickSlack) || (!labelled && every > 1)) continue;
      // Far apart, each in the unit of its own size.
      const std::string text = unit == "ns" ? format_duration(value) : axis_text(value, base, unit);
      ticks.push_back({value, labelled ? text : std::string()});
    }
  }
  return ticks;
}

std::vector<ValueTick> ValueAxis::ticks(std::size_t most, std::string_view unit, TickSteps steps) const {
  if (empty() || most < 1) return {};
  if (scale_ == BinScale::linear || !(max_ > min_)) return even_ticks(most, unit);
  if (steps == TickSteps::doubling && std::log2(max_ / min_) <= static_cast<double>(most)) {
    std::vector<ValueTick> ticks;
    for (double power = std::ceil(std::log2(min_)); std::exp2(power) <= max_; ++power)
      ticks.push_back({std::exp2(power), axis_text(std::exp2(power), std::exp2(power), unit)});
    return ticks;
  }
  return std::log10(max_ / min_) < 1 ? even_ticks(most, unit) : decade_ticks(most, unit);
}

}  // namespace accelscope::app
