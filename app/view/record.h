// Between an open session and the text of its view: a link to what is shown, going to one, and the view that a
// session file keeps so that it opens as it was left.
#pragma once

#include <functional>
#include <string>

#include "app/session/tab.h"
#include "app/view/link.h"

namespace accelscope::app {

// What the tab shows now; the selected event is in it once it is known.
[[nodiscard]] ViewLink link_to_view(const SessionTab& tab);
// Called with sentences about what this session cannot show of a link; also later, in a frame of the tab.
using TellLinked = std::function<void(std::string)>;
// Shows it, as one step of the history. The event of the link is selected, and revealed, once it is known to be the
// same.
void follow_link(SessionTab& tab, const ViewLink& link, const TellLinked& tell,
                 const std::function<void(EventId)>& reveal = {});

// Once per frame: lanes that the link's filter names and that have come since join it, unless the user has changed it.
void take_awaited_lanes(SessionTab& tab);

// Keeps the view beside the session's markers: in its file, or with the next save if it has none.
void keep_view(SessionTab& tab, StoreWriter::Then then);
// The view that was kept; nothing happens if there is none.
void show_kept_view(SessionTab& tab, const TellLinked& tell);
// The same of a tab whose view nobody has read yet: in a later frame, if there is one.
void ask_kept_view(SessionTab& tab, const TellLinked& tell);

}  // namespace accelscope::app
