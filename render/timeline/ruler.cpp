#include "render/timeline/ruler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/format.h"

namespace accelscope::render {
namespace {

struct Unit {
  double ns;
  const char* name;
};
constexpr std::array<Unit, 4> kUnits = {{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};

// The largest unit of which the step is at least a tenth: 1,984.5 µs by steps of 500 ns, but 1,900 µs by steps of 50
// µs.
[[nodiscard]] const Unit& unit_of(double step_ns) {
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && step_ns * 10 >= kUnits[unit + 1].ns * (1 - 1e-9)) ++unit;
  return kUnits[unit];
}

}  // namespace

std::string ruler_label(double ns, double step_ns) {
  const Unit& unit = unit_of(step_ns);
  const double step = step_ns / unit.ns;
  const int decimals = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  const double value = std::abs(ns) / unit.ns;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string whole = format_count(static_cast<std::uint64_t>(std::stoull(text.substr(0, point))));
  return fmt::format("{}{}{} {}", ns < 0 ? "\u2212" : "", whole, text.substr(point), unit.name);
}

Ruler make_ruler(const TimeView& view, double least_pixels) {
  Ruler ruler;
  ruler.step_ns = round_step(std::max(1.0, least_pixels * view.ns_per_pixel()));  // a nanosecond is the finest
  // Ten parts, or as many as there are nanoseconds.
  const double minor = std::max(1.0, ruler.step_ns / 10);
  const auto parts = static_cast<std::int64_t>(std::llround(ruler.step_ns / minor));
  const auto first = static_cast<std::int64_t>(std::floor(view.begin_ns / minor));
  const auto last = static_cast<std::int64_t>(std::ceil(view.end_ns / minor));
  for (std::int64_t i = first; i <= last; ++i) {
    const double ns = static_cast<double>(i) * minor;
    ruler.ticks.push_back({view.x(ns), i % parts == 0 ? ruler_label(ns, ruler.step_ns) : std::string()});
  }
  return ruler;
}

}  // namespace accelscope::render
