#include "app/content/axes/value_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/format.h"
#include "render/timeline/ruler.h"

namespace accelscope::app {
namespace {

// Times below a nanosecond have no unit of their own.
std::string time_text(double value, double step) { return render::ruler_label(value, std::max(step, 1e-3)); }

}  // namespace

std::string axis_text(double value, double step, std::string_view unit) {
  if (unit == "ns") return time_text(value, step);
  if (unit == "B") return format_bytes(value);
  return std::trunc(value) == value && std::abs(value) < 1e9 ? format_signed(static_cast<std::int64_t>(value))
                                                             : fmt::format("{:.6g}", value);
}

ValueAxis::ValueAxis(double min, double max, BinScale scale)
    : min_(min), max_(max > min ? max : min + 1), scale_(scale) {}

double ValueAxis::place(double value) const noexcept {
  if (scale_ == BinScale::linear) return (value - min_) / (max_ - min_);
  return value <= 0 ? -1 : std::log(value / min_) / std::log(max_ / min_);
}

double ValueAxis::value(double place) const noexcept {
  return scale_ == BinScale::linear ? min_ + place * (max_ - min_) : min_ * std::pow(max_ / min_, place);
}

std::vector<ValueTick> ValueAxis::ticks(std::size_t most, std::string_view unit) const {
  std::vector<ValueTick> ticks;
  most = std::max<std::size_t>(most, 1);
  const double decades = scale_ == BinScale::log ? std::log10(max_ / min_) : 0;
  if (decades < 1) {
    const double step = round_step((max_ - min_) / static_cast<double>(most));
    for (double i = std::ceil(min_ / step - 1e-9); i * step <= max_ * (1 + 1e-12); ++i)
      ticks.push_back({i * step, axis_text(i * step, step, unit)});
    return ticks;
  }
  // Powers of ten; 2 and 5 between them where there is room.
  const bool halves = decades * 3 <= static_cast<double>(most);
  const double every = std::max(1.0, std::ceil(decades / static_cast<double>(most)));
  for (double decade = std::floor(std::log10(min_) + 1e-9); decade <= std::log10(max_); ++decade) {
    const double base = std::pow(10.0, decade);
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = base * factor;
      if (value < min_ * (1 - 1e-9) || value > max_ * (1 + 1e-9)) continue;
      const bool labelled = factor == 1 ? std::fmod(std::abs(decade), every) < 0.5 : halves;
      // Far apart, each in the unit of its own size.
      const std::string text = unit == "ns" ? format_duration(value) : axis_text(value, base, unit);
      ticks.push_back({value, labelled ? text : std::string()});
    }
  }
  return ticks;
}

}  // namespace accelscope::app
