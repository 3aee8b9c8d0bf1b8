// What the hits of the search in the visible range add up to: how many, their time, and by name, source line or lane
// which of them take most of it.
#pragma once

#include "app/panels/context.h"
#include "render/widgets/table.h"

namespace accelscope::app {

class HitSummaryColumn {
 public:
  void draw(const PanelContext& context, const render::Rect& area);

 private:
  int by_ = 0;
  render::TableState table_;
};

}  // namespace accelscope::app
