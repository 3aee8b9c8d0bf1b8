// All that is to be said of one finding: why it costs time, what to try, what it rests on, and how the rule works.
#pragma once

#include "app/panels/context.h"
#include "core/analysis/advice/advice.h"

namespace accelscope::app {

// True when its events are to be shown ("warnings.show").
bool draw_finding_card(const PanelContext& context, const Finding& finding, const render::Rect& area);

}  // namespace accelscope::app
