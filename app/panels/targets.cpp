#include "app/panels/targets.h"

#include "app/view/selection.h"

namespace accelscope::app {

void select_target(const PanelContext& context, const ListingTarget& target, bool zoom) {
  SessionTab& tab = context.tab;
  if (const auto* event = std::get_if<EventId>(&target)) {
    select_event(tab, *event);
    context.actions.reveal(*event);
    if (zoom) context.actions.run("fit_selection");
  } else if (const auto* events = std::get_if<EventFilter>(&target)) {
    tab.region = *events;
    if (zoom && events->range) show_stretch(tab, events->range->begin_ns, events->range->end_ns);
  }
}

bool is_selected(const SessionTab& tab, const ListingTarget& target) {
  if (const auto* event = std::get_if<EventId>(&target)) return tab.selected == *event;
  const auto* events = std::get_if<EventFilter>(&target);
  return events != nullptr && tab.region == *events;
}

}  // namespace accelscope::app
