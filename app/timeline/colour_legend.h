// What the colours of the timeline stand for: a button beside the overview, and below it a card that says which table
// is coloured by which column and lists the values with their events and time. A click on a value filters to it,
// Ctrl+click hides it, and what the pointer rests on is lit.
#pragma once

#include "core/colour/event_colours.h"
#include "core/model/event_filter.h"
#include "render/widgets/table.h"

namespace accelscope::app::session {
struct SessionTab;
struct ViewChoices;
}  // namespace accelscope::app::session

namespace accelscope::app::timeline {

struct TimelineFrame;

struct ColourLegend {
  bool open_wanted = false;  // by a command
  bool open = false;
  std::string table;  // whose values are listed
  EventFilter lit;    // of the value under the pointer
  render::TableState rows;
  colour::ColourChoice usual;  // what tables are coloured by that the user has chosen nothing for, other than the name
  std::uint64_t usual_version = 0;  // of the snapshot
};

// What the timeline needs colours for: all that the view chooses or that is usual, and the table that is listed, also
// by name.
[[nodiscard]] colour::ColourChoice wanted_colours(const Snapshot& snapshot, const session::ViewChoices& choices,
                                                  ColourLegend& legend);

// A button that says what a table is coloured by and opens a menu of its columns; the chosen one.
[[nodiscard]] std::optional<std::string> colour_menu(render::Ui& ui, const std::string& name, const render::Rect& rect,
                                                     const session::SessionTab& tab, const std::string& table);

void draw_legend(TimelineFrame& frame);

}  // namespace accelscope::app::timeline
