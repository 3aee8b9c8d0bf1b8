// What the selected events are and cost together.
#pragma once

#include "app/panels/panel_context.h"

namespace accelscope::app {

class SelectionPanel {
 public:
  void draw(const PanelContext& context, const render::Rect& area);
};

}  // namespace accelscope::app
