// Between an open session and the text of its view: a link to what is shown, going to one, and the view that a
// session file keeps so that it opens as it was left.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/session/tab.h"
#include "app/view/link.h"

namespace accelscope::app::view {

// What the tab shows now; the selected event is in it once it is known.
[[nodiscard]] ViewLink link_to_view(const session::SessionTab& tab);
// Called with sentences about what this session cannot show of a link; also later, in a frame of the tab.
using TellLinked = std::function<void(std::string)>;
// Shows it, as one step of the history. The event of the link is selected, and revealed, once it is known to be the
// same.
void follow_link(session::SessionTab& tab, const ViewLink& link, const TellLinked& tell,
                 const std::function<void(EventId)>& reveal = {});

// Once per frame: lanes that the link's filter names and that have come since join it, unless the user has changed it.
void take_awaited_lanes(session::SessionTab& tab);

// Keeps the view beside the session's markers: in its file, or with the next save if it has none.
void keep_view(session::SessionTab& tab, session::StoreWriter::Then then);
// The view that was kept; nothing happens if there is none.
void show_retained_view(session::SessionTab& tab, const TellLinked& tell);
// The same of a tab whose view nobody has read yet: in a later frame, if there is one.
void ask_retained_view(session::SessionTab& tab, const TellLinked& tell);

// The view settings: what each table is coloured by, how many levels of layers and which semaphores are shown, and the
// minimal and the full view. Every change acts at once and is undone like any change of the view.

// The one way in which the user's choices about rows change; choices that are there already are no step to undo.
void choose_rows(session::SessionTab& tab, rows::RowChoices rows);

// Only what executes and how well it is used; host and devices in the order of work's way; or everything. All show all
// that was hidden, and keep how rows are arranged: pins, order, heights.
[[nodiscard]] rows::RowChoices minimal_view(rows::RowChoices choices);
[[nodiscard]] rows::RowChoices platform_view(rows::RowChoices choices);
[[nodiscard]] rows::RowChoices full_view(rows::RowChoices choices);

// How many levels the Layers groups have.
[[nodiscard]] std::uint32_t layer_levels(const Snapshot& snapshot);

struct SemaphoreRow {
  std::string key;      // of its row
  std::string heading;  // key of its group's row
  std::string label;    // "S[4] Tensor", with its device where the session has several
};
[[nodiscard]] std::vector<SemaphoreRow> semaphore_rows(const Snapshot& snapshot);

// Shows or hides them; a group of which one is shown is opened.
void show_semaphores(rows::RowChoices& choices, const std::vector<SemaphoreRow>& rows, bool shown);

}  // namespace accelscope::app::view
