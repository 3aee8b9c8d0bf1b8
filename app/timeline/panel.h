// The timeline of one session: overview, ruler, markers and lanes, and what the hand does with them. Draws what the
// tab says (view, selection, markers) and changes it; decoding happens on the panel's own workers.
//
//   TimelinePanel timeline;                       // one for the program
//   timeline.draw(ui, tab, rect);                 // each frame
//   timeline.run(ui, tab, timeline_commands()[0]);   // menus, palette and keys: a row each of commands.cpp
//
// The mouse is handled by draw(). Keys are not: whoever dispatches the program's keys adds timeline_commands() to
// its table, so that each key has one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "app/palette/command_table.h"
#include "app/session/tab.h"
#include "render/base/ui.h"
#include "render/timeline/strip_texture.h"

namespace accelscope::app::timeline {

struct TimelineState;

// What a command acts on.
struct TimelineTarget {
  render::Ui& ui;
  session::SessionTab& tab;
  TimelineState& state;
};
struct TimelineCommand {
  const char* id;     // "fit_all"
  const char* title;  // "Fit the whole session"
  palette::MenuId menu;
  const char* submenu;
  const char* key;  // as command_table.h parses it
  const char* second_key;
  void (*run)(const TimelineTarget& target);
  bool (*enabled)(const session::SessionTab& tab) = nullptr;  // null: always
};
[[nodiscard]] std::span<const TimelineCommand> timeline_commands() noexcept;

class TimelinePanel {
 public:
  // The name that its widgets begin with, when there are two; the one below another has no overview of its own.
  explicit TimelinePanel(std::string name = "timeline", bool overview = true);
  ~TimelinePanel();
  TimelinePanel(const TimelinePanel&) = delete;
  TimelinePanel& operator=(const TimelinePanel&) = delete;

  void draw(render::Ui& ui, session::SessionTab& tab, const render::Rect& rect);
  void run(render::Ui& ui, session::SessionTab& tab, const TimelineCommand& command);
  // Whether the last frame of the tab was complete: nothing it wanted is still being decoded.
  [[nodiscard]] bool settled(const session::SessionTab& tab) const;
  // A gesture of the hand, or a wheel that has not come to rest.
  [[nodiscard]] static bool in_motion(const session::SessionTab& tab);
  // Where the lanes began when it was drawn last, below the overview and the axis; 0 where there was no room for it.
  [[nodiscard]] static float rows_top(const session::SessionTab& tab);
  // Scrolls the lane of the event into sight in the next frame (it may lie outside the view in time).
  void reveal(session::SessionTab& tab, EventId event);
  // Whether the user has just chosen a region: once for each.
  [[nodiscard]] bool take_region_made(session::SessionTab& tab);
  [[nodiscard]] bool take_warning_chosen(session::SessionTab& tab);  // the same of a warning
  [[nodiscard]] bool take_marker_chosen(session::SessionTab& tab);   // and of a marker: SessionTab::chosen_marker

 private:
  std::string name_;
  bool overview_;
  render::StripTexture lanes_texture_;  // one session is in front at a time
  render::StripTexture overview_texture_;
};

}  // namespace accelscope::app::timeline
