// What an event shares with others, as filters in the search grammar: all of its name, its source line, its layer, its
// lane. And what is done with such a filter: select, show only, hide. No drawing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/tab.h"

namespace accelscope::app {

struct SharedTrait {
  std::string id;      // "name", "line", "layer", "lane"
  std::string label;   // "named MATMUL", "of kernel.py:3"
  EventFilter filter;  // the events that have it
};
// Those that the event has.
[[nodiscard]] std::vector<SharedTrait> traits_of(const EventRecord& event, const Snapshot& snapshot);

void show_only(SessionTab& tab, const EventFilter& trait);
// A lane is hidden by keeping all others.
void hide(SessionTab& tab, const EventFilter& trait);
// What "Zoom in and filter in by selection" would let through: the region, else all events named as the selected one,
// else the visible stretch; and how a menu says that.
struct SelectedPart {
  EventFilter filter;
  std::string label;
};
[[nodiscard]] SelectedPart selected_part(const SessionTab& tab);
// The view and the filter become those of it, in one step of the history.
void filter_by_selection(SessionTab& tab);

}  // namespace accelscope::app
