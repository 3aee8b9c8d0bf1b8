#include "app/timeline/panel.h"

#include "app/timeline/frame.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr double kTickPixels = 90;  // least distance of labelled ticks at 100 %

[[nodiscard]] TimelineState& state_of(session::SessionTab& tab) {
  if (!tab.timeline) tab.timeline = std::make_shared<TimelineState>(*tab.pool);
  return *tab.timeline;
}

// Of height, in units: with less the lanes have the overview's room, and with still less nothing can be read.
constexpr float kLeastForOverview = 140, kLeastTimeline = 76;

[[nodiscard]] TimelineFrame layout(Ui& ui, session::SessionTab& tab, const Rect& rect, const std::string& name,
                                   StripTexture& lanes, StripTexture& overview, bool has_overview) {
  TimelineFrame frame{.widgets = name,
                      .ui = ui,
                      .tab = tab,
                      .state = state_of(tab),
                      .snapshot = *tab.snapshot,
                      .lanes_texture = lanes,
                      .overview_texture = overview};
  frame.list = ui.draw();
  frame.area = rect;
  Rect rest = rect;
  frame.state.has_overview = has_overview && rect.height() >= ui.px(kLeastForOverview);
  frame.overview = rest.cut_top(frame.state.has_overview ? ui.px(size::kOverview) : 0);
  frame.ruler = rest.cut_top(ui.px(size::kRuler));
  const auto further_lines = static_cast<float>(frame.state.marker_lines - 1);
  frame.markers = rest.cut_top(ui.px(size::kMarkerRow + further_lines * kMarkerLine));
  frame.path = rest.cut_top(tab.marked_path ? ui.px(size::kLane) : 0);
  frame.rows = rest;
  frame.state.rows_top = rest.y0;
  frame.canvas_x = std::round(std::min(rect.x0 + ui.px(size::kLabelColumn), rect.x1 - 1));
  frame.session = view::session_span(*tab.snapshot);
  frame.view = {tab.view.begin_ns, std::max(tab.view.end_ns, tab.view.begin_ns + view::kLeastSpanNs),
                std::max(1, static_cast<int>(rect.x1 - frame.canvas_x))};
  frame.tab.view_pixels = frame.view.width;
  frame.time_ruler = make_ruler(frame.view, kTickPixels * static_cast<double>(ui.scale()));
  return frame;
}

void draw_scroll_bar(TimelineFrame& frame) {
  const TimelineState& state = frame.state;
  if (state.content_height <= frame.scrolled.height()) return;
  Ui& ui = frame.ui;
  const float share = frame.scrolled.height() / state.content_height;
  const float length = std::max(ui.px(24), frame.scrolled.height() * share);
  const float way = frame.scrolled.height() - length;
  const float top = frame.scrolled.y0 + way * state.scroll / (state.content_height - frame.scrolled.height());
  const Rect bar{frame.canvas_x - ui.px(5), top, frame.canvas_x - ui.px(2), top + length};
  fill(ui, bar, ui.colour(Colour::line2), 1.5F);
}

void draw_too_small(Ui& ui, const Rect& rect) {
  if (rect.empty()) return;
  Rect row = padded(ui, rect);
  row = row.cut_top(std::min(row.height(), ui.px(size::kControl)));
  draw_text(ui, row, "Enlarge the window to see the timeline", {.colour = Colour::text2});
}

}  // namespace

TimelinePanel::TimelinePanel(std::string name, bool overview) : name_(std::move(name)), overview_(overview) {}
TimelinePanel::~TimelinePanel() = default;

void TimelinePanel::draw(Ui& ui, session::SessionTab& tab, const Rect& rect) {
  if (!tab.snapshot || !tab.store) return;
  TimelineState& drawn_state = state_of(tab);
  drawn_state.too_small = rect.width() < ui.px(size::kLabelColumn) + 1 || rect.height() < ui.px(kLeastTimeline);
  if (drawn_state.too_small) return draw_too_small(ui, rect);
  TimelineFrame frame = layout(ui, tab, rect, name_, lanes_texture_, overview_texture_, overview_);
  TimelineState& state = frame.state;
  state.windows.begin_frame(tab.store, tab.snapshot);
  compose_frame_rows(frame);

  ImGui::PushClipRect(ImVec2(rect.x0, rect.y0), ImVec2(rect.x1, rect.y1), true);
  fill(ui, {rect.x0, rect.y0, frame.canvas_x, rect.y1}, ui.colour(Colour::bg2));
  fill(ui, {frame.canvas_x, rect.y0, rect.x1, rect.y1}, ui.colour(Colour::bg1));
  take_cursor(frame);
  prepare_lanes(frame);
  lanes_texture_.upload(ui.textures());
  {
    const FocusGroup group(ui, frame.name("lanes"), {}, false);
    draw_lanes(frame);
  }
  draw_no_rows(frame);
  draw_scroll_bar(frame);
  if (state.has_overview) draw_overview(frame);
  draw_ruler(frame);
  draw_row_filter(frame);
  {
    const FocusGroup group(ui, frame.name("signs"), {}, false);
    draw_signs(frame);
    draw_markers(frame);
    draw_warnings(frame);
    draw_path_lane(frame);
  }
  fill(ui, {frame.canvas_x - ui.px(1), rect.y0, frame.canvas_x, rect.y1}, ui.colour(Colour::line2));
  handle_mouse(frame);
  extend_box(frame);
  draw_overlay(frame);
  draw_hover(frame);
  ImGui::PopClipRect();
  draw_menu(frame);
  draw_row_menu(frame);
  draw_legend(frame);
  state.windows.end_frame();
  if (state.windows.pending()) ui.request_frame_after(0.01);  // a task of many windows wakes us at its end only
  if (const std::string error = state.windows.last_error(); !error.empty()) tab.last_error = error;
}

void TimelinePanel::run(Ui& ui, session::SessionTab& tab, const TimelineCommand& command) {
  if (tab.snapshot) command.run({ui, tab, state_of(tab)});
}

bool TimelinePanel::settled(const session::SessionTab& tab) const {
  if (!tab.timeline) return false;
  const TimelineState& state = *tab.timeline;
  if (state.too_small) return true;
  return state.complete && (!state.has_overview || state.overview.complete) && !tab.events->pending() &&
         !state.windows.pending() && !state.derived.pending() && !state.labels.pending();
}

bool TimelinePanel::in_motion(const session::SessionTab& tab) {
  return tab.timeline && (tab.timeline->gesture != Gesture::none || tab.timeline->settle_at_s.has_value());
}

float TimelinePanel::rows_top(const session::SessionTab& tab) {
  return tab.timeline && !tab.timeline->too_small ? tab.timeline->rows_top : 0;
}

bool TimelinePanel::take_region_made(session::SessionTab& tab) {
  return std::exchange(state_of(tab).region_made, false);
}

bool TimelinePanel::take_warning_chosen(session::SessionTab& tab) {
  return std::exchange(state_of(tab).warning_chosen, false);
}

bool TimelinePanel::take_marker_chosen(session::SessionTab& tab) {
  return std::exchange(state_of(tab).marker_chosen, false);
}

void TimelinePanel::reveal(session::SessionTab& tab, EventId event) { state_of(tab).reveal = event; }

}  // namespace accelscope::app::timeline
