#include "app/timeline/panel.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/content/folded_axis.h"
#include "app/session/analysis.h"
#include "app/timeline/frame.h"
#include "app/view/region_terms.h"
#include "app/view/selection.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr std::array<TimelineCommandInfo, 29> kTimelineCommands = {{
    {TimelineCommand::zoom_in, "zoom_in", "Zoom in", "W", ""},
    {TimelineCommand::zoom_out, "zoom_out", "Zoom out", "S", ""},
    {TimelineCommand::pan_left, "pan_left", "Earlier", "A", "Left"},
    {TimelineCommand::pan_right, "pan_right", "Later", "D", "Right"},
    {TimelineCommand::fit_all, "fit_all", "Fit the whole session", "0", ""},
    {TimelineCommand::fit_activity, "fit_activity", "Fit the activity", "Shift+0", ""},
    {TimelineCommand::fit_selection, "fit_selection", "Fit the selection", "F", ""},
    {TimelineCommand::back, "view_back", "Back to the last view", "Alt+Left", ""},
    {TimelineCommand::forward, "view_forward", "Forward to the next view", "Alt+Right", ""},
    {TimelineCommand::next_event, "next_event", "Next event of the lane", ".", ""},
    {TimelineCommand::previous_event, "previous_event", "Previous event of the lane", ",", ""},
    {TimelineCommand::next_same_name, "next_same_name", "Next event of the same name", "Shift+.", ""},
    {TimelineCommand::previous_same_name, "previous_same_name", "Previous event of the same name", "Shift+,", ""},
    {TimelineCommand::drop_marker, "drop_marker", "Drop a marker, or measure the selection", "M", ""},
    {TimelineCommand::clear_selection, "clear_selection", "Clear the selection", "Esc", ""},
    {TimelineCommand::toggle_follow, "toggle_follow", "Follow the newest events", "", ""},
    {TimelineCommand::scroll_up, "scroll_up", "Scroll the lanes up", "Up", ""},
    {TimelineCommand::scroll_down, "scroll_down", "Scroll the lanes down", "Down", ""},
    {TimelineCommand::box_select, "box_select", "Select a box of lanes and time", "B", ""},
    {TimelineCommand::colours, "colours", "Colours and their legend", "Shift+C", ""},
    {TimelineCommand::filter_by_region, "filter_by_region", "Zoom in and filter in by selection", "Shift+F", ""},
    {TimelineCommand::event_above, "event_above", "Event at this time in the lane above", "Shift+Up", ""},
    {TimelineCommand::event_below, "event_below", "Event at this time in the lane below", "Shift+Down", ""},
    {TimelineCommand::filter_lanes, "filter_lanes", "Filter lanes by name", "L", ""},
    {TimelineCommand::collapse_groups, "collapse_groups", "Collapse all groups of lanes", "C", ""},
    {TimelineCommand::expand_groups, "expand_groups", "Expand all groups of lanes", "E", ""},
    {TimelineCommand::pin_lane, "pin_lane", "Pin or unpin the lane under the pointer or of the selection", "P", ""},
    {TimelineCommand::hide_lane, "hide_lane", "Hide the lane under the pointer or of the selection", "H", ""},
    {TimelineCommand::show_hidden, "show_hidden", "Show all hidden lanes", "Shift+H", ""},
}};

constexpr double kTickPixels = 90;  // least distance of labelled ticks at 100 %
constexpr float kKeyScroll = 60;    // units

[[nodiscard]] TimelineState& state_of(SessionTab& tab) {
  if (!tab.timeline) tab.timeline = std::make_shared<TimelineState>();
  return *tab.timeline;
}

[[nodiscard]] TimelineFrame layout(Ui& ui, SessionTab& tab, const Rect& rect, StripTexture& lanes,
                                   StripTexture& overview) {
  TimelineFrame frame{.ui = ui,
                      .tab = tab,
                      .state = state_of(tab),
                      .snapshot = *tab.snapshot,
                      .lanes_texture = lanes,
                      .overview_texture = overview};
  frame.list = ui.draw();
  frame.area = rect;
  Rect rest = rect;
  frame.overview = rest.cut_top(ui.px(size::kOverview));
  frame.ruler = rest.cut_top(ui.px(size::kRuler));
  const auto further_lines = static_cast<float>(frame.state.marker_lines - 1);
  frame.markers = rest.cut_top(ui.px(size::kMarkerRow + further_lines * kMarkerLine));
  frame.rows = rest;
  frame.canvas_x = std::round(std::min(rect.x0 + ui.px(size::kLabelColumn), rect.x1 - 1));
  frame.session = session_span(*tab.snapshot);
  frame.view = {tab.view.begin_ns, std::max(tab.view.end_ns, tab.view.begin_ns + kLeastSpanNs),
                std::max(1, static_cast<int>(rect.x1 - frame.canvas_x))};
  frame.tab.view_pixels = frame.view.width;
  frame.time_ruler = make_ruler(frame.view, kTickPixels * static_cast<double>(ui.scale()));
  return frame;
}

// One event on in the lane, or on to the next of the same name.
void step(SessionTab& tab, bool after, bool same_name) {
  if (!tab.selected) return;
  const auto to_neighbour = [after, same_name](EventReader& reader, StepPlace& place,
                                               const TaskControl& control) -> Result<void> {
    const auto found = reader.neighbour(*place.event, after, same_name, control);
    if (!found) return found.error();
    if (*found) place.event = *found;
    return {};
  };
  step_selection(tab, to_neighbour, [&tab](const StepPlace& place) {
    const EventRecord* event = tab.events->find(*place.event);
    if (place.event == tab.selected || event == nullptr) return;
    tab.selected = place.event;
    tab.chosen_in = ChosenIn::timeline;
    tab.also_selected.clear();
    state_of(tab).reveal = place.event;
    const ViewRange view = with_in_sight(tab.view, static_cast<double>(event->begin_ns),
                                         static_cast<double>(event->end_ns), session_span(*tab.snapshot));
    if (view != tab.view) tab.show(view);
  });
}

void zoom_by_key(SessionTab& tab, double factor) {
  const double middle = (tab.view.begin_ns + tab.view.end_ns) / 2;
  double at = tab.cursor_ns ? static_cast<double>(*tab.cursor_ns) : middle;
  if (at < tab.view.begin_ns || at > tab.view.end_ns) at = middle;
  tab.show(zoomed(tab.view, at, factor, session_span(*tab.snapshot)));
}

void fit_selection(SessionTab& tab) {
  if (tab.region && tab.region->range) {
    const TimeRange range = *tab.region->range;
    return tab.show(fitted(static_cast<double>(range.begin_ns), static_cast<double>(range.end_ns),
                           session_span(*tab.snapshot), 0.1));
  }
  if (tab.selected) fit_events(tab, selected_events(tab));
}

// The box, the time between two selected events, the selected one, or where the pointer is.
void mark(SessionTab& tab) {
  if (tab.region && tab.region->range) {
    return drop_marker(tab, tab.region->range->begin_ns, tab.region->range->end_ns);
  }
  const double middle = (tab.view.begin_ns + tab.view.end_ns) / 2;
  const std::int64_t at = tab.cursor_ns.value_or(static_cast<std::int64_t>(middle));
  const std::vector<EventId> events = selected_events(tab);
  tab.events->when_known(EventWish::marker, events, [&tab, events, at] {
    const EventRecord* event = events.empty() ? nullptr : tab.events->find(events.front());
    if (const auto gap = events.size() == 2 ? gap_between(tab, events.front(), events.back()) : std::nullopt) {
      const auto [from, to] = std::minmax(gap->first.end_ns, gap->second.begin_ns);
      return drop_marker(tab, from, to);
    }
    if (event != nullptr) return drop_marker(tab, event->begin_ns, event->end_ns);
    drop_marker(tab, at);
  });
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

}  // namespace

std::span<const TimelineCommandInfo> timeline_commands() noexcept { return kTimelineCommands; }

TimelinePanel::TimelinePanel() = default;
TimelinePanel::~TimelinePanel() = default;

namespace {

void draw_too_small(Ui& ui, const Rect& rect) {
  if (rect.empty()) return;
  Rect row = rect.inset(ui.px(size::kPanelPadding), 0);
  row = row.cut_top(std::min(row.height(), ui.px(size::kControl)));
  draw_text(ui, row, "Enlarge the window to see the timeline", {.colour = Colour::text2});
}

}  // namespace

void TimelinePanel::draw(Ui& ui, SessionTab& tab, const Rect& rect) {
  if (!tab.snapshot || !tab.store) return;
  TimelineState& drawn_state = state_of(tab);
  drawn_state.too_small = rect.width() < ui.px(size::kLabelColumn) + 1 || rect.height() < ui.px(100);
  if (drawn_state.too_small) return draw_too_small(ui, rect);
  TimelineFrame frame = layout(ui, tab, rect, lanes_texture_, overview_texture_);
  TimelineState& state = frame.state;
  state.windows.begin_frame(tab.store, tab.snapshot);
  compose_frame_rows(frame);

  ImGui::PushClipRect(ImVec2(rect.x0, rect.y0), ImVec2(rect.x1, rect.y1), true);
  frame.list->AddRectFilled(ImVec2(rect.x0, rect.y0), ImVec2(frame.canvas_x, rect.y1), ui.colour(Colour::bg2));
  frame.list->AddRectFilled(ImVec2(frame.canvas_x, rect.y0), ImVec2(rect.x1, rect.y1), ui.colour(Colour::bg1));
  take_cursor(frame);
  prepare_lanes(frame);
  lanes_texture_.upload(ui.textures());
  draw_lanes(frame);
  draw_no_rows(frame);
  draw_scroll_bar(frame);
  draw_overview(frame);
  draw_ruler(frame);
  draw_row_filter(frame);
  draw_signs(frame);
  draw_markers(frame);
  frame.list->AddRectFilled(ImVec2(frame.canvas_x - ui.px(1), rect.y0), ImVec2(frame.canvas_x, rect.y1),
                            ui.colour(Colour::line2));
  handle_mouse(frame);
  draw_overlay(frame);
  draw_hover(frame);
  ImGui::PopClipRect();
  draw_menu(frame);
  draw_row_menu(frame);
  draw_legend(frame);
  state.windows.end_frame();
  if (state.windows.pending() || state.derived.pending() || state.labels.pending() || state.incidents.task.valid())
    ui.request_frame_after(0.01);
  if (const std::string error = state.windows.last_error(); !error.empty()) tab.last_error = error;
}

namespace {

// All of the work; asked again, each of its bursts in turn, where long gaps part them.
void fit_activity(SessionTab& tab, const SessionSpan& session) {
  const auto fit = [&](double begin_ns, double end_ns) { return fitted(begin_ns, end_ns, session, 0.01); };
  if (!tab.active) return tab.show(fit(session.begin_ns, session.end_ns));
  std::vector<ViewRange> stops = {
      fit(static_cast<double>(tab.active->begin_ns), static_cast<double>(tab.active->end_ns))};
  if (const auto activity = tab.analysis ? tab.analysis->activity() : nullptr) {
    const auto folded = stretches_to_fold(session.begin_ns, session.end_ns, tab.active, activity->gaps);
    const std::vector<TimeRange> bursts = bursts_of(*tab.active, folded);
    for (const TimeRange& burst : bursts) {
      if (bursts.size() > 1)
        stops.push_back(fit(static_cast<double>(burst.begin_ns), static_cast<double>(burst.end_ns)));
    }
  }
  const auto at = std::find(stops.begin(), stops.end(), tab.view);
  tab.show(at == stops.end() || at + 1 == stops.end() ? stops.front() : *(at + 1));
}

}  // namespace

void TimelinePanel::run(Ui& ui, SessionTab& tab, TimelineCommand command) {
  if (!tab.snapshot) return;
  const SessionSpan session = session_span(*tab.snapshot);
  TimelineState& state = state_of(tab);
  if (run_row_command(tab, state, command, ui.input().mouse)) return;
  switch (command) {
    case TimelineCommand::zoom_in:
      return zoom_by_key(tab, kKeyZoom);
    case TimelineCommand::zoom_out:
      return zoom_by_key(tab, 1 / kKeyZoom);
    case TimelineCommand::pan_left:
      return tab.show(panned(tab.view, -kKeyPan * tab.view.span_ns(), session));
    case TimelineCommand::pan_right:
      return tab.show(panned(tab.view, kKeyPan * tab.view.span_ns(), session));
    case TimelineCommand::fit_all:
      return tab.show(fitted(session.begin_ns, session.end_ns, session, 0.01));
    case TimelineCommand::fit_activity:
      return fit_activity(tab, session);
    case TimelineCommand::fit_selection:
      return fit_selection(tab);
    case TimelineCommand::back:
    case TimelineCommand::forward: {
      const bool back = command == TimelineCommand::back;
      if (state.settle_at_s) finish_move(tab, state);  // a zoom under way counts as finished
      if (back ? !tab.history.can_go_back() : !tab.history.can_go_forward()) return;
      tab.restore(back ? tab.history.back() : tab.history.forward());
      return;
    }
    case TimelineCommand::next_event:
      return step(tab, true, false);
    case TimelineCommand::previous_event:
      return step(tab, false, false);
    case TimelineCommand::next_same_name:
      return step(tab, true, true);
    case TimelineCommand::previous_same_name:
      return step(tab, false, true);
    case TimelineCommand::drop_marker:
      return mark(tab);
    case TimelineCommand::clear_selection:
      tab.events->drop(EventWish::selection);
      tab.selected.reset();
      tab.also_selected.clear();
      tab.related.clear();
      tab.lit.reset();
      tab.region.reset();
      state.box_armed = false;
      if (state.gesture == Gesture::box) state.gesture = Gesture::none;
      return;
    case TimelineCommand::box_select:
      state.box_armed = !state.box_armed;
      return;
    case TimelineCommand::filter_by_region:
      return filter_by_selection(tab);
    case TimelineCommand::colours:
      state.legend.open_wanted = true;
      return;
    case TimelineCommand::toggle_follow:
      tab.follow = !tab.follow;
      return;
    case TimelineCommand::scroll_up:
      state.scroll -= ui.px(kKeyScroll);
      return;
    case TimelineCommand::scroll_down:
      state.scroll += ui.px(kKeyScroll);
      return;
    default:
      return;
  }
}

bool TimelinePanel::settled(const SessionTab& tab) const {
  if (!tab.timeline) return false;
  const TimelineState& state = *tab.timeline;
  if (state.too_small) return true;
  return state.complete && state.overview.complete && !tab.events->pending() && !state.windows.pending() &&
         !state.derived.pending() && !state.labels.pending() && !state.incidents.task.valid();
}

bool TimelinePanel::take_region_made(SessionTab& tab) { return std::exchange(state_of(tab).region_made, false); }

void TimelinePanel::reveal(SessionTab& tab, EventId event) { state_of(tab).reveal = event; }

}  // namespace accelscope::app
