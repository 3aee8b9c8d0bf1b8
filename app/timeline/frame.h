// One frame of the timeline: where its parts lie and what they are drawn with. Made by TimelinePanel::draw() and
// handed to the functions that draw the parts; timeline_*.cpp holds one part each.
#pragma once

#include <imgui.h>

#include <set>
#include <string>
#include <string_view>

#include "app/timeline/panel.h"
#include "app/timeline/state.h"
#include "app/view/motion.h"
#include "render/base/draw.h"
#include "render/base/ui.h"
#include "render/timeline/ruler.h"
#include "render/widgets/interact.h"

namespace accelscope::app {

[[nodiscard]] inline ImVec2 low(const render::Rect& rect) { return {rect.x0, rect.y0}; }
[[nodiscard]] inline ImVec2 high(const render::Rect& rect) { return {rect.x1, rect.y1}; }

struct TimelineFrame {
  const std::string& widgets;  // what their names begin with
  render::Ui& ui;
  SessionTab& tab;
  TimelineState& state;
  const Snapshot& snapshot;
  render::StripTexture& lanes_texture;
  render::StripTexture& overview_texture;
  ImDrawList* list = nullptr;
  render::Rect area;      // everything
  render::Rect overview;  // with its part of the label column
  render::Rect ruler;
  render::Rect markers;
  render::Rect path;      // the lane of the critical path; empty where none is marked
  render::Rect rows;      // all of them
  render::Rect pinned;    // its upper part, that does not scroll
  render::Rect scrolled;  // the rest
  float canvas_x = 0;     // where the label column ends
  render::TimeView view;
  SessionSpan session;
  render::Ruler time_ruler;

  [[nodiscard]] std::string name(std::string_view part) const { return widgets + "." + std::string(part); }
  [[nodiscard]] render::Rect canvas(const render::Rect& band) const { return {canvas_x, band.y0, band.x1, band.y1}; }
  [[nodiscard]] render::Rect label(const render::Rect& band) const { return {band.x0, band.y0, canvas_x, band.y1}; }
  [[nodiscard]] float x(double ns) const { return canvas_x + static_cast<float>(view.x(ns)); }
  [[nodiscard]] double ns(float x) const { return view.ns(static_cast<double>(x - canvas_x)); }
};

// timeline/layout.cpp: which rows there are, where they lie, and the strips of those that are seen.
void compose_frame_rows(TimelineFrame& frame);
void prepare_lanes(TimelineFrame& frame);

// timeline/lanes.cpp: rows, labels, lanes.
void draw_lanes(TimelineFrame& frame);
// The event under the pixel, of those that are drawn one by one.
[[nodiscard]] std::optional<EventId> event_under(const TimelineFrame& frame, render::Point at);
// The same, but where they are narrower than pixels the nearest, which a worker looks for: `then` gets it at once or in
// a later frame, and must not hold on to this one.
void find_under(const TimelineFrame& frame, render::Point at, EventWish wish,
                std::function<void(std::optional<EventId>)> then);
[[nodiscard]] std::optional<render::Rect> event_rect(const TimelineFrame& frame, const EventRecord& event);

// timeline/plots.cpp: counters and memory. Return what the row's label says: the value at the cursor, else of the view.
[[nodiscard]] std::string draw_counter(TimelineFrame& frame, const DrawnRow& drawn);
[[nodiscard]] std::string draw_memory(TimelineFrame& frame, const DrawnRow& drawn);
// timeline/derived.cpp: counters that no source recorded. want_derived() once per frame, when the rows are placed.
void want_derived(TimelineFrame& frame);
[[nodiscard]] std::string draw_derived(TimelineFrame& frame, const DrawnRow& drawn);
[[nodiscard]] std::string percent(double share);

// timeline/row_menu.cpp: what the user does with a row's label: its menu, and dragging it to another place.
void touch_label(TimelineFrame& frame, const TimelineRow& row, const render::Interaction& touch);
void drag_row(TimelineFrame& frame);
void draw_row_menu(TimelineFrame& frame);
void flip_pin(RowChoices& choices, const std::string& key);
void open_all(const TimelineState& state, RowChoices& choices, bool open);

// timeline/row_filter.cpp: the name filter, and what is shown when it leaves nothing.
void draw_row_filter(TimelineFrame& frame);
void draw_no_rows(TimelineFrame& frame);

// timeline/shade.cpp: what a lane's strip is dimmed and marked by. hold_masks() once per frame before shade_of().
void hold_masks(TimelineFrame& frame);
[[nodiscard]] render::Pixel event_colour(const TimelineFrame& frame, const EventRecord& event);
[[nodiscard]] render::LaneShade shade_of(const TimelineFrame& frame, std::uint32_t lane_index);

// timeline/axis.cpp
void draw_overview(TimelineFrame& frame);
void draw_ruler(TimelineFrame& frame);

// timeline/signs.cpp: where errors, throttling and warnings happened, and where something was compiled.
void draw_signs(TimelineFrame& frame);

// timeline/warnings.cpp: a box round what the chosen finding, and the largest others, rest on, with its reason above.
void draw_warnings(TimelineFrame& frame);

// timeline/markers.cpp
inline constexpr float kMarkerLine = 18;  // units: what a further line of flags takes
void draw_markers(TimelineFrame& frame);
void drop_marker(SessionTab& tab, std::int64_t ns, std::optional<std::int64_t> end_ns = {});

// timeline/box.cpp: the tracks that a row shows by itself, and where a row begins, in sight or not: pinned rows stand
// still, the others scroll below them.
[[nodiscard]] std::set<TrackNumber> tracks_of(const TimelineFrame& frame, const TimelineRow& row);
[[nodiscard]] float top_of(const TimelineFrame& frame, std::size_t row);

// timeline/box.cpp: the box of lanes and time that is selected (SessionTab::region).
void begin_box(TimelineFrame& frame, bool whole);
void drag_box(TimelineFrame& frame);
// Takes hold of a handle or side of the box under the pointer; false: there is none.
[[nodiscard]] bool take_box_handle(TimelineFrame& frame);
[[nodiscard]] bool over_box(const TimelineFrame& frame, render::Point at);
void draw_box(TimelineFrame& frame);

// timeline/snap.cpp: the time under the pointer, or the begin or end of a drawn event beside it. Alt: never an edge.
[[nodiscard]] double snapped_ns(TimelineFrame& frame, render::Point at);

// timeline/measure.cpp: from the end of the first to the begin of the second of two selected events; < 0: they overlap.
struct Gap {
  EventRecord first, second;
  [[nodiscard]] std::int64_t length_ns() const noexcept { return second.begin_ns - first.end_ns; }
};
// Nothing until both are known.
[[nodiscard]] std::optional<Gap> gap_between(SessionTab& tab, EventId one, EventId other);
[[nodiscard]] std::optional<Gap> selected_gap(SessionTab& tab);
void draw_gap(TimelineFrame& frame);

// timeline/input.cpp: what the mouse does on the canvas, the overview and the marker row.
void handle_mouse(TimelineFrame& frame);
// Changes the view during a gesture; it enters the history when the gesture is over.
void move_view(SessionTab& tab, TimelineState& state, const ViewRange& view);
void finish_move(SessionTab& tab, TimelineState& state);
// The selected one first, then those beside it.
[[nodiscard]] std::vector<EventId> selected_events(const SessionTab& tab);
// Shows the stretch that they take, once they are known.
void fit_events(SessionTab& tab, std::vector<EventId> events);

// timeline/menu.cpp: the menu of the lanes and of a marker.
void draw_menu(TimelineFrame& frame);

// timeline/overlay.cpp: cursor, zoom box, outlines, arrows.
void draw_overlay(TimelineFrame& frame);
// The lane of the critical path: its events one after another, what it waited for between them hatched.
void draw_path_lane(TimelineFrame& frame);

// timeline/hover.cpp: the time at the pointer, before anything that shows values at it is drawn, and the card of what
// the pointer rests on.
void take_cursor(TimelineFrame& frame);
void draw_hover(TimelineFrame& frame);

}  // namespace accelscope::app
