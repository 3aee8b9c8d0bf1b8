#include "app/panels/selection_panel.h"

#include "render/icons.h"
#include "render/widgets/states.h"

namespace accelscope::app {

void SelectionPanel::draw(const PanelContext& context, const render::Rect& area) {
  render::empty_state(context.ui, "selection.empty", area, render::icon::kInfo,
                      "Select a stretch of the timeline to sum it up.");
}

}  // namespace accelscope::app
