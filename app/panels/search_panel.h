// The list of what the search found.
#pragma once

#include "app/panels/panel_context.h"

namespace accelscope::app {

class SearchPanel {
 public:
  void draw(const PanelContext& context, const render::Rect& area);
};

}  // namespace accelscope::app
