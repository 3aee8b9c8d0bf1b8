// One frame of the timeline: where its parts lie and what they are drawn with. Made by TimelinePanel::draw() and
// handed to the functions that draw the parts; timeline_*.cpp holds one part each.
#pragma once

#include "app/timeline_state.h"
#include "app/view_motion.h"
#include "render/draw.h"
#include "render/timeline/ruler.h"
#include "render/ui.h"

struct ImDrawList;

namespace accelscope::app {

struct TimelineFrame {
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
  render::Rect rows;
  float canvas_x = 0;  // where the label column ends
  render::TimeView view;
  SessionSpan session;
  render::Ruler time_ruler;

  [[nodiscard]] render::Rect canvas(const render::Rect& band) const { return {canvas_x, band.y0, band.x1, band.y1}; }
  [[nodiscard]] render::Rect label(const render::Rect& band) const { return {band.x0, band.y0, canvas_x, band.y1}; }
  [[nodiscard]] float x(double ns) const { return canvas_x + static_cast<float>(view.x(ns)); }
  [[nodiscard]] double ns(float x) const { return view.ns(static_cast<double>(x - canvas_x)); }
};

// timeline_lanes.cpp: strips of the visible rows, then rows, labels, lanes, counters, memory.
void prepare_lanes(TimelineFrame& frame);
void draw_lanes(TimelineFrame& frame);
// The event under the pixel, from what is drawn; reads a chunk only if asked to look closely.
[[nodiscard]] std::optional<EventId> event_under(const TimelineFrame& frame, render::Point at, bool closely);
[[nodiscard]] std::optional<render::Rect> event_rect(const TimelineFrame& frame, const EventRecord& event);

// timeline_axis.cpp
void draw_overview(TimelineFrame& frame);
void draw_ruler(TimelineFrame& frame);

// timeline_markers.cpp
void draw_markers(TimelineFrame& frame);
void drop_marker(SessionTab& tab, std::int64_t ns, std::optional<std::int64_t> end_ns = {});
void remove_marker(SessionTab& tab, std::int64_t id);

// timeline_hand.cpp: what the mouse does on the canvas, the overview and the marker row.
void handle_mouse(TimelineFrame& frame);
void draw_menu(TimelineFrame& frame);
// Changes the view during a gesture; it enters the history when the gesture is over.
void move_view(SessionTab& tab, TimelineState& state, const ViewRange& view);
void finish_move(SessionTab& tab, TimelineState& state);

// timeline_overlay.cpp: cursor, zoom box, outlines, arrows, hover card.
void draw_overlay(TimelineFrame& frame);

}  // namespace accelscope::app
