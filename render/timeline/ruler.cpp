#include "render/timeline/ruler.h"

#include <algorithm>

#include "core/base/format.h"

namespace accelscope::render {

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
    ruler.ticks.push_back({view.x(ns), i % parts == 0 ? format_tick(ns, ruler.step_ns, Unit::ns) : std::string()});
  }
  return ruler;
}

}  // namespace accelscope::render
