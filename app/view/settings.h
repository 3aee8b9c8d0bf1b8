// The view settings: what each table is coloured by, how many levels of layers and which semaphores are shown, and the
// minimal and the full view. Every change acts at once and is undone like any change of the view.
#pragma once

#include <string>
#include <vector>

#include "app/session/tab.h"

namespace accelscope::app {

// The one way in which the user's choices about rows change; choices that are there already are no step to undo.
void choose_rows(SessionTab& tab, RowChoices rows);

// Only what executes and how well it is used; or everything. Both show all that was hidden, and keep how rows are
// arranged: pins, order, heights.
[[nodiscard]] RowChoices minimal_view(RowChoices choices);
[[nodiscard]] RowChoices full_view(RowChoices choices);

// How many levels the Layers groups have.
[[nodiscard]] std::uint32_t layer_levels(const Snapshot& snapshot);

struct SemaphoreRow {
  std::string key;      // of its row
  std::string heading;  // key of its group's row
  std::string label;    // "S[4] Tensor", with its device where the session has several
};
[[nodiscard]] std::vector<SemaphoreRow> semaphore_rows(const Snapshot& snapshot);

// Shows or hides them; a group of which one is shown is opened.
void show_semaphores(RowChoices& choices, const std::vector<SemaphoreRow>& rows, bool shown);

}  // namespace accelscope::app
