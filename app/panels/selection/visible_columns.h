// The five columns of app/content/visible_summary.h, side by side, or below each other where the panel is narrow.
// Numbers are never cut: bars and then names give way to them. A click on a row selects its events.
#pragma once

#include <optional>
#include <string>

#include "app/content/visible_summary.h"
#include "render/base/draw.h"

namespace accelscope::app {

// The search of the row that was clicked; rows without one copy their figure, through `copy`.
struct VisibleColumnsResult {
  std::optional<std::string> search;
  std::optional<std::string> copy;
};
VisibleColumnsResult draw_visible_columns(render::Ui& ui, const render::Rect& area, const VisibleColumns& columns,
                                          bool stale);

}  // namespace accelscope::app
