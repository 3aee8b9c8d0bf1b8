// Up to three regions beside each other, each as a strip on one axis from nothing to the longest: least to most as a
// line, p10 to p90 as a bar, the median as a mark, and how its median stands to that of the first.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/iterations/regions.h"
#include "render/base/geometry.h"
#include "render/base/ui.h"

namespace accelscope::app {

inline constexpr std::size_t kMostComparedRegions = 3;

void draw_spreads(render::Ui& ui, render::Rect area, const std::vector<const NamedRegion*>& regions);

}  // namespace accelscope::app
