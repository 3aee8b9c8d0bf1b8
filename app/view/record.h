// Between an open session and the text of its view: a link to what is shown, going to one, and the view that a
// session file keeps so that it opens as it was left.
#pragma once

#include <string>
#include <vector>

#include "app/session/tab.h"
#include "app/view/link.h"

namespace accelscope::app {

// What the tab shows now. Reads the selected event.
[[nodiscard]] ViewLink link_to_view(const SessionTab& tab);
// Shows it, as one step of the history. Returns sentences about what this session cannot show of it.
std::vector<std::string> follow_link(SessionTab& tab, const ViewLink& link);

// Whether what the store keeps beside the events (markers, their sets, the view) lies in the session's own file at
// once. It does not where the store is in memory, or in the file that the session was saved as a copy of.
[[nodiscard]] bool writes_to_its_file(const SessionTab& tab);
// After a change of markers or their sets: there is something to save, unless the file has it already.
void note_kept_change(SessionTab& tab);

// Keeps the view beside the session's markers: in its file, or with the next save if it has none.
Result<void> keep_view(const SessionTab& tab);
// The view that was kept; nothing happens if there is none. Returns sentences as above.
std::vector<std::string> show_kept_view(SessionTab& tab);

}  // namespace accelscope::app
