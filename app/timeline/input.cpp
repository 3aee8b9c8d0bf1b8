// What the mouse does on the lanes: drag to zoom, wheel, pan, select, the menu.
#include "app/timeline/frame.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kPointerClickSlack = 4;        // units: a press that moves less is a click
constexpr double kPointerSettleSeconds = 0.4;  // a wheel that rests this long has finished its zoom
constexpr float kWheelRows = 60;               // units that a notch scrolls the rows
constexpr double kPointerWheelPan = 0.1;       // of the view

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
    move_view(frame.tab, state,
              view::panned(frame.tab.view, -notches * kPointerWheelPan * frame.tab.view.span_ns(), frame.session));
  } else {
    const double factor = std::pow(view::kWheelZoom, static_cast<double>(wheel.y));
    move_view(frame.tab, state, view::zoomed(frame.tab.view, frame.ns(mouse.x), factor, frame.session));
  }
  state.settle_at_s = frame.ui.time() + kPointerSettleSeconds;
  frame.ui.request_frame_after(kPointerSettleSeconds);
}

void take_event(session::SessionTab& tab, std::optional<EventId> event, bool add) {
  tab.chosen_in = session::ChosenIn::timeline;
  if (!add) {
    tab.also_selected.clear();
    tab.selected = event;
    return;
  }
  if (!event) return;
  const auto known = std::ranges::find(tab.also_selected, *event);
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
  const bool ctrl = frame.ui.input().modifiers().ctrl;
  if (!ctrl && !state.box_armed && take_box_handle(frame)) return;
  state.gesture = Gesture::press;
  state.box_wanted = ctrl || state.box_armed;
  state.pressed_at = state.last_mouse = frame.ui.input().mouse;
  state.pressed_ns = snapped_ns(frame, state.pressed_at);
}

// A click on an event selects it. The box stays while clicks are inside it, and so do events chosen by what they share
// while clicks meet events.
void click_left(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  session::SessionTab& tab = frame.tab;
  const bool add = frame.ui.input().modifiers().ctrl;
  const bool keeps_box = over_box(frame, state.pressed_at);
  find_under(frame, state.pressed_at, session::EventIntent::selection,
             [&tab, add, keeps_box](std::optional<EventId> event) {
               if (tab.region && !add) {
                 const bool by_terms = !tab.region->range && event.has_value();
                 if (!by_terms && !keeps_box) tab.region.reset();
               }
               take_event(tab, event, add);
             });
}

void drag_left(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  const Point mouse = frame.ui.input().mouse;
  const float across = std::abs(mouse.x - state.pressed_at.x);
  const float along = std::abs(mouse.y - state.pressed_at.y);
  const float slack = frame.ui.px(kPointerClickSlack);
  if (state.gesture == Gesture::press && state.box_wanted && std::max(across, along) > slack) {
    begin_box(frame, false);
    return drag_box(frame);
  }
  if (state.gesture == Gesture::press && across > slack) state.gesture = Gesture::zoom_box;
  const double at = state.gesture == Gesture::zoom_box ? snapped_ns(frame, mouse) : state.pressed_ns;
  if (frame.ui.input().down(MouseButton::left)) return;
  if (state.gesture == Gesture::press) {
    click_left(frame);
  } else {
    const double begin = std::min(at, state.pressed_ns);
    const double end = std::max(at, state.pressed_ns);
    move_view(frame.tab, state, view::fitted(begin, end, frame.session, 0));
    finish_move(frame.tab, state);
  }
  state.gesture = Gesture::none;
  state.snapped.reset();
}

// Along the ruler: Shift and a drag selects a stretch of time over all lanes.
void press_ruler(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  const Interaction touch = interact(frame.ui, frame.name("ruler"), frame.canvas(frame.ruler),
                                     {.no_focus = true,
                                      .keys = FocusStopKind::open,
                                      .label = "Ruler"});  // "Select a box of lanes and time" does it by a key
  if (!touch.pressed || state.gesture != Gesture::none) return;
  if (!frame.ui.input().modifiers().shift && !state.box_armed) return;
  state.pressed_at = state.last_mouse = frame.ui.input().mouse;
  state.pressed_ns = frame.ns(state.pressed_at.x);
  begin_box(frame, true);
}

void drag_pan(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  const Point mouse = frame.ui.input().mouse;
  const bool right = frame.ui.input().down(MouseButton::right);
  const bool middle = frame.ui.input().down(MouseButton::middle);
  const float moved = std::hypot(mouse.x - state.pressed_at.x, mouse.y - state.pressed_at.y);
  if (state.right_press && moved > frame.ui.px(kPointerClickSlack)) state.right_press = false;
  if (!state.right_press && (mouse.x != state.last_mouse.x || mouse.y != state.last_mouse.y)) {
    const double by = static_cast<double>(state.last_mouse.x - mouse.x) * frame.view.ns_per_pixel();
    if (by != 0) move_view(frame.tab, state, view::panned(frame.tab.view, by, frame.session));
    state.scroll -= mouse.y - state.last_mouse.y;
    state.last_mouse = mouse;
  }
  if (right || middle) return;
  if (state.right_press) {
    state.menu_marker = 0;
    state.menu_ns = whole_time(std::round(frame.ns(mouse.x)));
    state.menu_event.reset();
    find_under(frame, mouse, session::EventIntent::menu,
               [&state](std::optional<EventId> event) { state.menu_event = event; });
    open_menu(frame.ui, frame.name("menu"));
  } else {
    finish_move(frame.tab, state);
  }
  state.right_press = false;
  state.gesture = Gesture::none;
}

}  // namespace

std::vector<EventId> selected_events(const session::SessionTab& tab) {
  std::vector<EventId> events;
  if (!tab.selected) return events;
  events.push_back(*tab.selected);
  events.insert(events.end(), tab.also_selected.begin(), tab.also_selected.end());
  return events;
}

void fit_events(session::SessionTab& tab, std::vector<EventId> events) {
  tab.events->when_known(session::EventIntent::view, events, [&tab, events] {
    std::optional<TimeRange> stretch;
    for (const EventId id : events) {
      const EventRecord* event = tab.events->find(id);
      if (event == nullptr) {
        tab.last_error = tab.events->problem(id);
        continue;
      }
      if (!stretch) stretch = {event->begin_ns, event->end_ns};
      stretch = {std::min(stretch->begin_ns, event->begin_ns), std::max(stretch->end_ns, event->end_ns)};
    }
    if (!stretch) return;
    tab.show(view::fitted(static_cast<double>(stretch->begin_ns), static_cast<double>(stretch->end_ns),
                          view::session_span(*tab.snapshot), 0.5));
  });
}

void move_view(session::SessionTab& tab, TimelineState& state, const session::ViewRange& view) {
  (void)state;
  tab.follow = false;
  tab.view = view;
}

void finish_move(session::SessionTab& tab, TimelineState& state) {
  state.settle_at_s.reset();
  tab.remember_view();
}

void handle_mouse(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  Ui& ui = frame.ui;
  const Interaction touch = interact(ui, frame.name("canvas"), frame.canvas(frame.rows),
                                     {.below_others = true, .keys = FocusStopKind::open, .label = "Timeline"});
  if (touch.focused && touch.right_clicked && state.gesture == Gesture::none) {  // by a key: of what is selected
    state.menu_marker = 0;
    state.menu_ns = whole_time(std::round((frame.view.begin_ns + frame.view.end_ns) / 2));
    state.menu_event = frame.tab.selected;
    open_menu(ui, frame.name("menu"));
  }
  const bool over = frame.area.contains(ui.input().mouse) && ImGui::IsWindowHovered();
  if (over && state.gesture == Gesture::none) turn_wheel(frame);
  // What the wheel did is a step of its own once it rests, or when another gesture begins.
  const bool rests = state.settle_at_s && (ui.time() >= *state.settle_at_s || ui.input().down(MouseButton::left) ||
                                           ui.input().down(MouseButton::middle));
  if (rests) finish_move(frame.tab, state);

  if (touch.double_clicked) {
    find_under(frame, ui.input().mouse, session::EventIntent::view, [&tab = frame.tab](std::optional<EventId> event) {
      if (event) fit_events(tab, {*event});
    });
    state.gesture = Gesture::none;
    return;
  }
  press_ruler(frame);
  if (touch.pressed) press_left(frame);
  const bool panning = ui.input().down(MouseButton::right) || ui.input().down(MouseButton::middle);
  if (touch.hovered && panning && state.gesture == Gesture::none) {
    state.gesture = Gesture::pan;
    state.right_press = ui.input().down(MouseButton::right);
    state.pressed_at = state.last_mouse = ui.input().mouse;
  }
  if (state.gesture == Gesture::press || state.gesture == Gesture::zoom_box) {
    drag_left(frame);
  } else if (state.gesture == Gesture::box) {
    drag_box(frame);
  }
  if (state.gesture == Gesture::pan) drag_pan(frame);
}

}  // namespace accelscope::app::timeline
