#include "app/content/axes/time_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace accelscope::app {

namespace {

struct TimeUnit {
  double ns;
  const char* name;
};
constexpr std::array kUnits = {TimeUnit{1e9, "s"}, TimeUnit{1e6, "ms"}, TimeUnit{1e3, "µs"}, TimeUnit{1, "ns"}};

const TimeUnit& time_unit_of(double ns) {
  for (const TimeUnit& unit : kUnits) {
    if (ns >= unit.ns) return unit;
  }
  return kUnits.back();
}

// Thousands by comma, with so many decimals.
std::string with_commas(double value, int decimals) {
  std::array<char, 64> digits{};
  const int size = std::snprintf(digits.data(), digits.size(), "%.*f", decimals, std::abs(value));
  std::string text(digits.data(), static_cast<std::size_t>(std::clamp(size, 0, 63)));
  std::size_t whole = std::min(text.find('.'), text.size());
  while (whole > 3) {
    whole -= 3;
    text.insert(whole, ",");
  }
  return value < 0 ? "−" + text : text;
}

}  // namespace

std::vector<TimeTick> time_ticks(const TimeRange& range, std::size_t most) {
  std::vector<TimeTick> ticks;
  if (range.empty() || most == 0) return ticks;
  const double least = static_cast<double>(range.length_ns()) / static_cast<double>(most);
  double step = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(least, 1.0)))));
  for (const double factor : {2.0, 2.5, 2.0}) {  // 1, 2, 5, 10
    if (step >= least) break;
    step *= factor;
  }
  const auto step_ns = static_cast<std::int64_t>(std::llround(step));
  const TimeUnit& unit = time_unit_of(step);
  std::int64_t at = range.begin_ns / step_ns * step_ns;
  while (at < range.begin_ns) at += step_ns;
  for (; at <= range.end_ns && ticks.size() <= most; at += step_ns) {
    ticks.push_back({at, with_commas(static_cast<double>(at) / unit.ns, 0) + " " + unit.name});
    if (time_between(at, range.end_ns) < step_ns) break;
  }
  return ticks;
}

std::string range_text(double begin_ns, double end_ns) {
  const double span = std::max(end_ns - begin_ns, 1.0);
  const TimeUnit& unit = time_unit_of(span);
  const int most = static_cast<int>(std::lround(std::log10(unit.ns)));  // not below a ns
  const int wanted = static_cast<int>(std::ceil(-std::log10(span / unit.ns / 1000) - 1e-9));
  const int decimals = std::clamp(wanted, 0, most);
  return with_commas(begin_ns / unit.ns, decimals) + " – " + with_commas(end_ns / unit.ns, decimals) + " " + unit.name;
}

}  // namespace accelscope::app
