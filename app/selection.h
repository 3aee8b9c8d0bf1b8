// What it means to select: the event, the line that it came from, the events it depends on. All panels use these, so
// that a selection made in one shows in all.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "app/session_tab.h"

namespace accelscope::app {

void select_event(SessionTab& tab, EventId id);  // brings it into the view in time when it lies outside
void clear_selection(SessionTab& tab);

// Shows a stretch with a margin of a tenth on both sides.
void show_stretch(SessionTab& tab, std::int64_t begin_ns, std::int64_t end_ns);
// The stretch from the first to the last of the events; nothing if none can be read.
[[nodiscard]] std::optional<TimeRange> stretch_of(SessionTab& tab, std::span<const EventId> events);

// Follows what the user selected since the last frame, in whichever panel: sets the source line of a newly selected
// event and lights its dependencies once they are known. Holds what was seen last.
class SelectionFollower {
 public:
  void update(SessionTab& tab);

 private:
  std::optional<EventId> seen_;
  bool dependencies_wanted_ = false;
};

}  // namespace accelscope::app
