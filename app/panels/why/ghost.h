// The same lanes on one axis: now above, predicted below in a dashed edge; time saved is hatched.
#pragma once

#include <cstdint>
#include <vector>

#include "app/content/why/what_if.h"
#include "app/panels/context.h"

namespace accelscope::app {

struct GhostTimes {
  std::int64_t before_ns = 0, after_ns = 0;
  std::vector<GhostRow> rows;
};

void draw_ghost(const PanelContext& context, const render::Rect& area, const GhostTimes& times, bool stale);

}  // namespace accelscope::app
