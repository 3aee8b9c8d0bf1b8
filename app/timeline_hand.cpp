// What the mouse does on the lanes: drag to zoom, wheel, pan, select, the menu.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/timeline_frame.h"
#include "core/base/format.h"
#include "render/icons.h"
#include "render/widgets/menu.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr float kClickSlack = 4;        // units: a press that moves less is a click
constexpr double kSettleSeconds = 0.4;  // a wheel that rests this long has finished its zoom
constexpr float kWheelRows = 60;        // units that a notch scrolls the rows
constexpr double kWheelPan = 0.1;       // of the view

void turn_wheel(TimelineFrame& frame) {
  const Point wheel = frame.ui.input().wheel;
  if (wheel.x == 0 && wheel.y == 0) return;
  const Modifiers keys = frame.ui.input().modifiers();
  const Point mouse = frame.ui.input().mouse;
  TimelineState& state = frame.state;
  const bool on_labels = mouse.x < frame.canvas_x;
  if (on_labels || keys.ctrl) {
    state.scroll -= wheel.y * frame.ui.px(kWheelRows);
    return;
  }
  if (keys.shift || wheel.y == 0) {
    const double notches = static_cast<double>(wheel.x != 0 ? wheel.x : wheel.y);
    move_view(frame.tab, state, panned(frame.tab.view, -notches * kWheelPan * frame.tab.view.span_ns(), frame.session));
  } else {
    const double factor = std::pow(kWheelZoom, static_cast<double>(wheel.y));
    move_view(frame.tab, state, zoomed(frame.tab.view, frame.ns(mouse.x), factor, frame.session));
  }
  state.settle_at_s = frame.ui.time() + kSettleSeconds;
  frame.ui.request_frame_after(kSettleSeconds);
}

void select_event(TimelineFrame& frame, std::optional<EventId> event, bool add) {
  SessionTab& tab = frame.tab;
  if (!add) {
    tab.also_selected.clear();
    tab.selected = event;
    return;
  }
  if (!event) return;
  const auto known = std::find(tab.also_selected.begin(), tab.also_selected.end(), *event);
  if (known != tab.also_selected.end()) {
    tab.also_selected.erase(known);
  } else if (!tab.selected) {
    tab.selected = event;
  } else if (*tab.selected != *event) {
    tab.also_selected.push_back(*event);
  }
}

void press_left(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  state.gesture = Gesture::press;
  state.pressed_at = state.last_mouse = frame.ui.input().mouse;
  state.pressed_ns = frame.ns(state.pressed_at.x);
}

void drag_left(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  const Point mouse = frame.ui.input().mouse;
  if (state.gesture == Gesture::press && std::abs(mouse.x - state.pressed_at.x) > frame.ui.px(kClickSlack)) {
    state.gesture = Gesture::zoom_box;
  }
  if (frame.ui.input().down(MouseButton::left)) return;
  if (state.gesture == Gesture::press) {
    select_event(frame, event_under(frame, state.pressed_at, true), frame.ui.input().modifiers().ctrl);
  } else {
    const double at = frame.ns(std::clamp(mouse.x, frame.canvas_x, frame.rows.x1));
    const double begin = std::min(at, state.pressed_ns);
    const double end = std::max(at, state.pressed_ns);
    move_view(frame.tab, state, fitted(begin, end, frame.session, 0));
    finish_move(frame.tab, state);
  }
  state.gesture = Gesture::none;
}

void drag_pan(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  const Point mouse = frame.ui.input().mouse;
  const bool right = frame.ui.input().down(MouseButton::right);
  const bool middle = frame.ui.input().down(MouseButton::middle);
  const float moved = std::hypot(mouse.x - state.pressed_at.x, mouse.y - state.pressed_at.y);
  if (state.right_press && moved > frame.ui.px(kClickSlack)) state.right_press = false;
  if (!state.right_press && (mouse.x != state.last_mouse.x || mouse.y != state.last_mouse.y)) {
    const double by = static_cast<double>(state.last_mouse.x - mouse.x) * frame.view.ns_per_pixel();
    if (by != 0) move_view(frame.tab, state, panned(frame.tab.view, by, frame.session));
    state.scroll -= mouse.y - state.last_mouse.y;
    state.last_mouse = mouse;
  }
  if (right || middle) return;
  if (state.right_press) {
    state.menu_marker = 0;
    state.menu_ns = static_cast<std::int64_t>(std::llround(frame.ns(mouse.x)));
    state.menu_event = event_under(frame, mouse, true);
    open_menu(frame.ui, "timeline.menu");
  } else {
    finish_move(frame.tab, state);
  }
  state.right_press = false;
  state.gesture = Gesture::none;
}

void fit_event(TimelineFrame& frame, EventId id) {
  if (!frame.tab.reader) return;
  const Result<EventRecord> event = frame.tab.reader->read(id);
  if (!event) {
    frame.tab.last_error = event.message();
    return;
  }
  frame.tab.show(fitted(static_cast<double>(event->begin_ns), static_cast<double>(event->end_ns), frame.session, 0.5));
}

void choose(TimelineFrame& frame, const std::string& item) {
  TimelineState& state = frame.state;
  SessionTab& tab = frame.tab;
  if (item == "drop") drop_marker(tab, state.menu_ns);
  if (item == "fit" && state.menu_event) fit_event(frame, *state.menu_event);
  if (item == "fit_all") tab.show(fitted(frame.session.begin_ns, frame.session.end_ns, frame.session, 0.01));
  if (item == "copy_time") frame.ui.copy_to_clipboard(std::to_string(state.menu_ns));
  if (item == "delete") remove_marker(tab, state.menu_marker);
  if (item == "delete_all") {
    while (!tab.markers.empty()) {
      const std::size_t before = tab.markers.size();
      remove_marker(tab, tab.markers.back().id);
      if (tab.markers.size() == before) return;  // the error is shown
    }
  }
  const auto marker = std::find_if(tab.markers.begin(), tab.markers.end(),
                                   [&](const Marker& each) { return each.id == state.menu_marker; });
  if (item == "rename" && marker != tab.markers.end()) state.marker_edit = {marker->id, marker->name, true};
  if (!state.menu_event || !tab.reader) return;
  const Result<EventRecord> event = tab.reader->read(*state.menu_event);
  if (!event) return;
  if (item == "copy_name") frame.ui.copy_to_clipboard(event->name_text);
  if (item == "copy_event") {
    frame.ui.copy_to_clipboard(
        fmt::format("{}\t{}\t{}", event->name_text, event->begin_ns, event->end_ns - event->begin_ns));
  }
  if (item == "span") drop_marker(tab, event->begin_ns, event->end_ns);
}

// Differences to every other marker, as items that copy what they say.
[[nodiscard]] MenuItem differences(const SessionTab& tab, std::int64_t marker_id) {
  MenuItem menu{.id = "diff", .label = "Time to"};
  const auto from = std::find_if(tab.markers.begin(), tab.markers.end(),
                                 [marker_id](const Marker& each) { return each.id == marker_id; });
  for (std::size_t i = 0; from != tab.markers.end() && i < tab.markers.size(); ++i) {
    const Marker& other = tab.markers[i];
    if (other.id == marker_id) continue;
    const std::string name = std::string(1, static_cast<char>('A' + i % 26)) + "  " + other.name;
    menu.children.push_back({.id = fmt::format("diff:{}", other.ts_ns - from->ts_ns),
                             .label = name,
                             .shortcut = format_signed(other.ts_ns - from->ts_ns) + " ns"});
  }
  menu.enabled = !menu.children.empty();
  return menu;
}

}  // namespace

void move_view(SessionTab& tab, TimelineState& state, const ViewRange& view) {
  (void)state;
  tab.follow = false;
  tab.view = view;
}

void finish_move(SessionTab& tab, TimelineState& state) {
  state.settle_at_s.reset();
  tab.remember_view();
}

void handle_mouse(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  Ui& ui = frame.ui;
  const Interaction touch =
      interact(ui, "timeline.canvas", frame.canvas(frame.rows), {.disabled = false, .below_others = true});
  const bool over = frame.area.contains(ui.input().mouse) && ImGui::IsWindowHovered();
  if (over && state.gesture == Gesture::none) turn_wheel(frame);
  if (state.settle_at_s && ui.time() >= *state.settle_at_s) finish_move(frame.tab, state);

  if (touch.double_clicked) {
    if (const auto event = event_under(frame, ui.input().mouse, true)) fit_event(frame, *event);
    state.gesture = Gesture::none;
    return;
  }
  if (touch.pressed) press_left(frame);
  const bool panning = ui.input().down(MouseButton::right) || ui.input().down(MouseButton::middle);
  if (touch.hovered && panning && state.gesture == Gesture::none) {
    state.gesture = Gesture::pan;
    state.right_press = ui.input().down(MouseButton::right);
    state.pressed_at = state.last_mouse = ui.input().mouse;
  }
  if (state.gesture == Gesture::press || state.gesture == Gesture::zoom_box) drag_left(frame);
  if (state.gesture == Gesture::pan) drag_pan(frame);
}

void draw_menu(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  std::vector<MenuItem> items;
  if (state.menu_marker != 0) {
    items.push_back({.id = "rename", .label = "Rename the marker", .icon = icon::kEdit});
    items.push_back(differences(frame.tab, state.menu_marker));
    items.push_back({.id = "delete", .label = "Delete the marker", .icon = icon::kTrash, .line_above = true});
    items.push_back({.id = "delete_all", .label = "Delete all markers"});
  } else {
    const bool event = state.menu_event.has_value();
    items.push_back({.id = "drop", .label = "Drop a marker here", .shortcut = "M", .icon = icon::kFlag});
    items.push_back({.id = "span", .label = "Measure the event", .enabled = event});
    items.push_back(
        {.id = "fit", .label = "Fit the event", .icon = icon::kExpand, .enabled = event, .line_above = true});
    items.push_back({.id = "fit_all", .label = "Fit the whole session", .shortcut = "0"});
    items.push_back(
        {.id = "copy_name", .label = "Copy the name", .icon = icon::kCopy, .enabled = event, .line_above = true});
    items.push_back({.id = "copy_event", .label = "Copy name, start and duration", .enabled = event});
    items.push_back({.id = "copy_time", .label = "Copy the time in ns"});
  }
  const std::optional<std::string> chosen = popup_menu(frame.ui, "timeline.menu", items);
  if (!chosen) return;
  if (chosen->starts_with("diff:")) {
    frame.ui.copy_to_clipboard(chosen->substr(5));
  } else {
    choose(frame, *chosen);
  }
}

}  // namespace accelscope::app
