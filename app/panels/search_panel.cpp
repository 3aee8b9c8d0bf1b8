#include "app/panels/search_panel.h"

#include "render/icons.h"
#include "render/widgets/states.h"

namespace accelscope::app {

void SearchPanel::draw(const PanelContext& context, const render::Rect& area) {
  render::empty_state(context.ui, "search.empty", area, render::icon::kSearch, "Search events to list them here.");
}

}  // namespace accelscope::app
