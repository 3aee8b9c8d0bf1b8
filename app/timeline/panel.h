// The timeline of one session: overview, ruler, markers and lanes, and what the hand does with them. Draws what the
// tab says (view, selection, markers) and changes it; decoding happens on the panel's own workers.
//
//   TimelinePanel timeline;                       // one for the program
//   timeline.draw(ui, tab, rect);                 // each frame
//   timeline.run(ui, tab, TimelineCommand::fit_all);   // menus, palette and keys: timeline_commands() lists them
//
// The mouse is handled by draw(). Keys are not: whoever dispatches the program's keys adds timeline_commands() to
// its table, so that each key has one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "app/session/tab.h"
#include "render/base/ui.h"
#include "render/timeline/strip_texture.h"

namespace accelscope::app {

enum class TimelineCommand : std::uint8_t {
  zoom_in,
  zoom_out,
  pan_left,
  pan_right,
  fit_all,
  fit_activity,
  fit_selection,
  back,
  forward,
  next_event,
  previous_event,
  next_same_name,
  previous_same_name,
  drop_marker,
  clear_selection,
  toggle_follow,
  scroll_up,
  scroll_down,
  box_select,
  filter_by_region,
  event_above,
  event_below,
  filter_lanes,
  collapse_groups,
  expand_groups,
  pin_lane,
  hide_lane,
  show_hidden,
  colours,
};

struct TimelineCommandInfo {
  TimelineCommand command;
  const char* id;     // "fit_all"
  const char* title;  // "Fit the whole session"
  const char* key;    // as key_chord.h parses it
  const char* second_key;
};
[[nodiscard]] std::span<const TimelineCommandInfo> timeline_commands() noexcept;

class TimelinePanel {
 public:
  TimelinePanel();
  ~TimelinePanel();
  TimelinePanel(const TimelinePanel&) = delete;
  TimelinePanel& operator=(const TimelinePanel&) = delete;

  void draw(render::Ui& ui, SessionTab& tab, const render::Rect& rect);
  void run(render::Ui& ui, SessionTab& tab, TimelineCommand command);
  // Whether the last frame of the tab was complete: nothing it wanted is still being decoded.
  [[nodiscard]] bool settled(const SessionTab& tab) const;
  // Scrolls the lane of the event into sight in the next frame (it may lie outside the view in time).
  void reveal(SessionTab& tab, EventId event);
  // Whether the user has just chosen a region: once for each.
  [[nodiscard]] bool take_region_made(SessionTab& tab);

 private:
  render::StripTexture lanes_texture_;  // one session is in front at a time
  render::StripTexture overview_texture_;
};

}  // namespace accelscope::app
