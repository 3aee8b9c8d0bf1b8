// The marker row: flags that are dragged, renamed and deleted, measured spans, and the time between neighbours.
#include "app/timeline/frame.h"
#include "app/view/marker_sets.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kDistanceRoom = 90;  // units between two flags from which their distance is shown
constexpr float kFlagGap = 4;        // units between two flags on one line
constexpr int kMostLines = 4;        // of flags; what still collides then lies over others

[[nodiscard]] std::string flag_text(const Marker& marker) {
  return marker.name.empty() ? view::marker_letter(marker) : view::marker_letter(marker) + "  " + marker.name;
}

// The part of the marker row that is a line of flags.
[[nodiscard]] Rect line_of(const TimelineFrame& frame, int line) {
  const Rect band = frame.canvas(frame.markers);
  const float y = band.y0 + frame.ui.px(kMarkerLine) * static_cast<float>(line);
  return {band.x0, y, band.x1, y + frame.ui.px(size::kMarkerRow)};
}

// Each flag, and the span it stands for, on the first line where nothing is; one beside a sign on the second.
[[nodiscard]] std::vector<FlagPlace> place_flags(const TimelineFrame& frame) {
  const std::vector<Marker>& markers = frame.tab.markers;
  std::vector<FlagPlace> places(markers.size());
  std::vector<std::size_t> order(markers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return markers[a].ts_ns < markers[b].ts_ns; });
  std::vector<float> ends(kMostLines, -1e9F);
  const float gap = frame.ui.px(kFlagGap);
  for (const std::size_t i : order) {
    const Marker& marker = markers[i];
    FlagPlace& place = places[i];
    place.x0 = std::floor(frame.x(static_cast<double>(marker.ts_ns)));
    place.x1 = place.x0 + text_width(frame.ui, TextStyle::mono_small, flag_text(marker)) + frame.ui.px(12);
    const float end = marker.end_ns ? frame.x(static_cast<double>(*marker.end_ns)) : place.x1;
    const float taken = std::max(place.x1, end) + gap;
    if (taken < frame.canvas_x || place.x0 > frame.rows.x1) continue;  // not seen
    const auto is_free = [&](int line) {
      if (ends[static_cast<std::size_t>(line)] > place.x0) return false;
      return line > 0 || std::ranges::none_of(frame.state.signs, [&](const auto& sign) {
               return sign.first < taken && sign.second > place.x0;
             });
    };
    while (place.line + 1 < kMostLines && !is_free(place.line)) ++place.line;
    ends[static_cast<std::size_t>(place.line)] = taken;
  }
  return places;
}

void rename_in_place(TimelineFrame& frame, Marker& marker, const Rect& flag) {
  TimelineState& state = frame.state;
  const Rect box{flag.x0, flag.y0, std::max(flag.x1, flag.x0 + frame.ui.px(140)), flag.y1};
  const TextInputResult input = text_input(frame.ui, frame.name("marker.name"), box, state.marker_edit.text,
                                           {.placeholder = "name", .focus_now = state.marker_edit.focus});
  state.marker_edit.focus = false;
  const bool left = state.marker_edit.focused && !input.focused && !input.cancelled;  // by a click somewhere else
  state.marker_edit.focused = state.marker_edit.focused || input.focused;
  if ((input.submitted || left) && marker.name != state.marker_edit.text) {
    marker.name = state.marker_edit.text;
    session::put_marker(frame.tab, marker);
  }
  if (input.submitted || left || input.cancelled) state.marker_edit = {};
}

void take_marker(TimelineFrame& frame, Gesture gesture, const Marker& marker, std::int64_t at_ns) {
  frame.state.gesture = gesture;
  frame.state.held_marker = marker.id;
  frame.state.pressed_at = frame.ui.input().mouse;
  frame.state.pressed_ns = static_cast<double>(at_ns);
}

// The edges of a span, wide enough to be taken hold of. Most of the left grip lies beside the flag, which moves all.
void draw_span_edges(TimelineFrame& frame, std::size_t index, const Marker& marker, const Rect& flag, float end) {
  if (!marker.end_ns || end < flag.x1) return;
  Ui& ui = frame.ui;
  const Rect left{flag.x0 - ui.px(6), flag.y0, flag.x0 + ui.px(2), flag.y1};
  const Interaction begin = interact(ui, frame.name("marker_begin.") + std::to_string(index), left,
                                     {.no_focus = true,
                                      .keys = FocusStopKind::open,
                                      .label = "Begin of the span"});  // the Markers panel has fields for both ends
  const Rect right{end - ui.px(4), flag.y0, end + ui.px(4), flag.y1};
  const Interaction touch = interact(ui, frame.name("marker_end.") + std::to_string(index), right,
                                     {.no_focus = true, .keys = FocusStopKind::open, .label = "End of the span"});
  if (touch.hovered || begin.hovered) set_cursor(Cursor::resize_horizontal);
  if (begin.pressed) take_marker(frame, Gesture::marker_begin, marker, marker.ts_ns);
  if (touch.pressed) take_marker(frame, Gesture::marker_end, marker, *marker.end_ns);
}

// True when the flag was dragged: the marker has moved.
void draw_flag(TimelineFrame& frame, std::size_t index, Marker& marker, const FlagPlace& place) {
  Ui& ui = frame.ui;
  TimelineState& state = frame.state;
  const Rect band = line_of(frame, place.line);
  const float x = place.x0;
  const std::string text = flag_text(marker);
  const Rect flag{x, band.y0 + ui.px(2), place.x1, band.y1 - ui.px(2)};
  const float end = marker.end_ns ? frame.x(static_cast<double>(*marker.end_ns)) : x;
  if (std::max(flag.x1, end) < band.x0 || flag.x0 > band.x1) return;
  const Pixel colour = ui.colour(Colour::marker);
  if (marker.end_ns) {
    fill(ui, {x, flag.y0, end, flag.y1}, with_alpha(colour, 0.2F));
    const std::string length = format_duration(*marker.end_ns - marker.ts_ns);
    const Rect room{flag.x1 + ui.px(6), flag.y0, end - ui.px(4), flag.y1};
    if (room.width() >= text_width(ui, TextStyle::mono_small, length)) {
      draw_text(ui, room, length, {.style = TextStyle::mono_small, .align = Align::centre});
    }
  }
  draw_span_edges(frame, index, marker, flag, end);
  const std::string name = frame.name("marker.") + std::to_string(index);
  const Interaction touch = interact(ui, name, flag, {.keys = FocusStopKind::handle, .label = text});
  if (const HandleKeys keys = handle_keys(ui, touch); keys.any()) state.marker_keys = {marker.id, keys};
  if (state.marker_edit.id == marker.id && marker.id != 0) return rename_in_place(frame, marker, flag);
  if (touch.hovered) set_cursor(Cursor::resize_horizontal);
  if (touch.double_clicked) {
    state.marker_edit = {marker.id, marker.name, true, false};
    state.gesture = Gesture::none;
    return;
  }
  if (touch.pressed) take_marker(frame, Gesture::marker, marker, marker.ts_ns);
  if (touch.right_clicked) {
    state.menu_marker = marker.id;
    state.menu_ns = marker.ts_ns;
    state.menu_event.reset();
    open_menu(ui, frame.name("menu"));
  }
  fill(ui, flag, colour);
  if (frame.tab.chosen_marker == marker.id) outline(ui, flag.inset(-ui.px(1)), ui.colour(Colour::text1));
  draw_text(ui, {flag.x0 + ui.px(6), flag.y0, flag.x1, flag.y1}, text,
            {.style = TextStyle::mono_small, .colour = Colour::on_accent, .fit = Fit::clip});
}

// The flag moves the marker, and a span with it; the edges of a span move alone. In the lanes both hold on to edges.
void drag_marker(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  const bool held_any = state.gesture == Gesture::marker || state.gesture == Gesture::marker_begin ||
                        state.gesture == Gesture::marker_end;
  if (!held_any) return;
  const auto held =
      std::ranges::find_if(frame.tab.markers, [&](const Marker& marker) { return marker.id == state.held_marker; });
  const Point mouse = frame.ui.input().mouse;
  const float by = mouse.x - state.pressed_at.x;
  if (held != frame.tab.markers.end() && std::abs(by) > frame.ui.px(3)) {
    const double edge = snapped_ns(frame, mouse);
    const double plain = state.pressed_ns + static_cast<double>(by) * frame.view.ns_per_pixel();
    const auto to = whole_time(std::round(state.snapped ? edge : plain));
    if (state.gesture == Gesture::marker_end) {
      held->end_ns = std::max(to, held->ts_ns);
    } else if (state.gesture == Gesture::marker_begin) {
      held->ts_ns = std::min(to, held->end_ns.value_or(to));
    } else {
      if (held->end_ns) *held->end_ns += to - held->ts_ns;
      held->ts_ns = to;
    }
  }
  if (frame.ui.input().down(MouseButton::left)) return;
  if (held != frame.tab.markers.end()) {
    frame.tab.chosen_marker = held->id;
    state.marker_chosen = state.gesture == Gesture::marker && std::abs(by) <= frame.ui.px(3);  // a click, not a drag
    session::put_marker(frame.tab, *held);
  }
  state.gesture = Gesture::none;
  state.snapped.reset();
}

// By a pixel, with Shift by ten, to an end of the view; or away.
void move_marker_by_keys(TimelineFrame& frame) {
  const MarkerKeys by = std::exchange(frame.state.marker_keys, {});
  session::SessionTab& tab = frame.tab;
  const auto found = std::ranges::find(tab.markers, by.id, &Marker::id);
  if (!by.keys.any() || found == tab.markers.end()) return;
  if (by.keys.removes) return session::remove_marker(tab, by.id);
  const double pixels = by.keys.across * (by.keys.far ? 10 : 1);
  auto step = whole_time(std::round(pixels * frame.view.ns_per_pixel()));
  if (step == 0) step = by.keys.across;
  if (by.keys.to_end != 0)
    step = whole_time(std::round(by.keys.to_end < 0 ? frame.view.begin_ns : frame.view.end_ns)) - found->ts_ns;
  if (step == 0) return;
  Marker moved = *found;
  moved.ts_ns += step;
  if (moved.end_ns) *moved.end_ns += step;
  session::put_marker(tab, moved);
  const auto index = std::ranges::find(tab.markers, by.id, &Marker::id) - tab.markers.begin();
  focus_is_at(frame.ui, frame.name("marker.") + std::to_string(index));  // it may have passed another one
  const auto at = static_cast<double>(moved.ts_ns);
  const session::ViewRange seen = view::with_in_sight(tab.view, at, at, frame.session);
  if (seen != tab.view) tab.show(seen);
  frame.ui.request_frame();
}

// The time between two neighbours, where there is room for it.
void draw_distance(TimelineFrame& frame, float from, float to, int line, const Marker& left, const Marker& right) {
  Ui& ui = frame.ui;
  if (to - from < ui.px(kDistanceRoom)) return;
  const Rect band = line_of(frame, line);
  const float y = std::round(band.centre().y);
  const Pixel colour = ui.colour(Colour::marker);
  const std::string text = format_time_exact(right.ts_ns - left.ts_ns);
  const float half = text_width(ui, TextStyle::mono_strong, text) / 2 + ui.px(8);
  float middle = (from + to) / 2;
  for (const auto& [x0, x1] : frame.state.signs) {  // beside a sign, not below it
    if (line == 0 && x0 < middle + half && x1 > middle - half) middle = x1 + half;
  }
  if (middle + half > to) return;
  fill(ui, {from, band.y0 + ui.px(2), to, band.y1 - ui.px(2)}, with_alpha(colour, 0.14F));
  if (middle - half > from + ui.px(8)) {
    fill(ui, {from + ui.px(2), y, middle - half, y + ui.px(1)}, colour);
    fill(ui, {middle + half, y, to - ui.px(2), y + ui.px(1)}, colour);
    const float head = ui.px(4);
    frame.list->AddTriangleFilled(ImVec2(from, y + 0.5F), ImVec2(from + 2 * head, y - head),
                                  ImVec2(from + 2 * head, y + head + 1), colour);
    frame.list->AddTriangleFilled(ImVec2(to, y + 0.5F), ImVec2(to - 2 * head, y - head),
                                  ImVec2(to - 2 * head, y + head + 1), colour);
  }
  draw_text(ui, {middle - half, band.y0, middle + half, band.y1}, text,
            {.style = TextStyle::mono_strong, .align = Align::centre, .fit = Fit::clip});
}

}  // namespace

void drop_marker(session::SessionTab& tab, std::int64_t ns, std::optional<std::int64_t> end_ns) {
  Marker marker;
  marker.ts_ns = ns;
  marker.end_ns = end_ns;
  session::put_marker(tab, std::move(marker));
}

void draw_markers(TimelineFrame& frame) {
  Ui& ui = frame.ui;
  const Rect band = frame.canvas(frame.markers);
  drag_marker(frame);
  frame.list->PushClipRect(ImVec2(band.x0, band.y0), ImVec2(band.x1, frame.rows.y1), true);
  const std::vector<Marker>& markers = frame.tab.markers;
  const std::vector<FlagPlace> places = place_flags(frame);
  int lines = 1;
  for (const FlagPlace& place : places) lines = std::max(lines, place.line + 1);
  if (std::exchange(frame.state.marker_lines, lines) != lines) ui.request_frame();
  for (std::size_t i = 0; i < markers.size(); ++i) {  // below the flags
    for (const std::optional<std::int64_t>& at : {std::optional(markers[i].ts_ns), markers[i].end_ns}) {
      if (!at) continue;
      const float x = std::floor(frame.x(static_cast<double>(*at)));
      fill(ui, {x, line_of(frame, places[i].line).y0, x + ui.px(1), frame.rows.y1}, ui.colour(Colour::marker));
    }
  }
  for (std::size_t i = 0; i + 1 < markers.size(); ++i) {
    if (markers[i].end_ns) continue;
    const float from = places[i].x1 + ui.px(2);
    const float to = std::floor(frame.x(static_cast<double>(markers[i + 1].ts_ns)));
    if (to > band.x0 && from < band.x1) draw_distance(frame, from, to, places[i].line, markers[i], markers[i + 1]);
  }
  for (std::size_t i = 0; i < frame.tab.markers.size(); ++i) draw_flag(frame, i, frame.tab.markers[i], places[i]);
  move_marker_by_keys(frame);
  frame.list->PopClipRect();
  horizontal_line(ui, frame.markers.x0, frame.markers.x1, frame.markers.y1 - ui.px(1), ui.colour(Colour::line2));
}

}  // namespace accelscope::app::timeline
