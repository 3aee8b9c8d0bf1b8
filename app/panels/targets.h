// What a row, a bar, a box or a point of a panel speaks of, selected on the timeline and so in every panel.
#pragma once

#include "app/content/listings/base/listing.h"
#include "app/panels/context.h"

namespace accelscope::app {

// An event becomes the selected one and comes into sight; a filter becomes what is selected. zoom: the view goes to it,
// where it has a range of its own.
void select_target(const PanelContext& context, const ListingTarget& target, bool zoom);
[[nodiscard]] bool is_selected(const SessionTab& tab, const ListingTarget& target);

}  // namespace accelscope::app
