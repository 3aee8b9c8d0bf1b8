#include <imgui.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/base/text.h"
#include "render/base/imgui_compat.h"
#include "render/widgets/widgets.h"

namespace accelscope::render {

Interaction interact(Ui& ui, std::string_view name, const Rect& rect, const InteractOptions& options) {
  assert(!name.empty());
  Interaction result;
  if (rect.empty()) return result;
  ui.register_widget(name, rect);
  if (ui.records_text()) {  // the name that was given may be gone when it is explained; that of the last frame is not
    const auto known = ui.widgets().find(std::string(name));
    if (known != ui.widgets().end()) result.name = known->first;
  }
  if (ui.records_text())
    ui.note_clickable({.name = std::string(name),
                       .label = std::string(options.label),
                       .rect = rect,
                       .keys = options.keys,
                       .enabled = !options.disabled,
                       .chosen = options.chosen});
  FocusStop keyboard;
  if (!options.disabled && !options.no_focus)
    keyboard = focus_stop(ui, name, rect, options.keys, options.label, options.group);
  result.focused = keyboard.here;
  result.ring = keyboard.ring;
  if (!options.group.empty() && ui.keyboard_focus().all_chosen == options.group)
    fill(ui, rect, ui.colour(Colour::accent_bg), size::kChipRadius);
  const ImGuiID id = ImHashStr(name.data(), name.size());
  const ImRect box(rect.x0, rect.y0, rect.x1, rect.y1);
  if (options.below_others) compat::allow_overlap_of_next_item();
  ImGui::KeepAliveID(id);  // made by hand, not by GetID(): without this a drag ends after two frames
  if (!ImGui::ItemAdd(box, id)) return result;  // outside of what is seen
  if (options.disabled) {
    result.hovered = ImGui::IsItemHovered();
    if (result.hovered) result.hovered_for = ui.hovered_for(name);
    return result;
  }
  ImGuiButtonFlags flags = ImGuiButtonFlags_MouseButtonLeft;
  flags |= ImGuiButtonFlags_PressedOnClickRelease;
  if (options.below_others) flags |= compat::kAllowOverlap;
  result.clicked = ImGui::ButtonBehavior(box, id, &result.hovered, &result.held, flags);
  if (options.below_others) compat::allow_overlap_of_last_item();
  if (keyboard.activated) result.clicked = result.pressed = true;
  result.double_clicked = keyboard.entered;
  result.right_clicked = keyboard.menu;
  if (!result.hovered) return result;
  result.hovered_for = ui.hovered_for(name);
  result.pressed = result.pressed || ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !options.no_focus) focus_is_at(ui, name);
  result.double_clicked = result.double_clicked || ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  // Menus open when the button comes up, and not at the end of a drag.
  const auto released_here = [](ImGuiMouseButton button) {
    return ImGui::IsMouseReleased(button) && ImGui::GetIO().MouseDragMaxDistanceSqr[button] < 16;
  };
  result.right_clicked = result.right_clicked || released_here(ImGuiMouseButton_Right);
  result.middle_clicked = released_here(ImGuiMouseButton_Middle);
  return result;
}

HandleKeys handle_keys(Ui& ui, const Interaction& handle) {
  HandleKeys keys;
  if (!handle.focused || ui.typing()) return keys;
  for (const bool far : {false, true}) {
    const auto step = [&](Key less, Key more) {
      return (ui.pressed(more, {.shift = far}) ? 1 : 0) - (ui.pressed(less, {.shift = far}) ? 1 : 0);
    };
    keys.across += step(Key::left, Key::right);
    keys.along += step(Key::up, Key::down);
    keys.far = far && (keys.across != 0 || keys.along != 0);
    if (keys.far || keys.across != 0 || keys.along != 0) break;
  }
  keys.to_end = (ui.pressed(Key::end) ? 1 : 0) - (ui.pressed(Key::home) ? 1 : 0);
  keys.removes = ui.pressed(Key::del, {}, false);
  if (keys.any()) ui.keyboard_focus().by_keyboard = true;  // also after a click: the ring shows what they move
  return keys;
}

void set_cursor(Cursor cursor) {
  constexpr ImGuiMouseCursor kCursors[] = {ImGuiMouseCursor_Arrow,     ImGuiMouseCursor_Hand,
                                           ImGuiMouseCursor_TextInput, ImGuiMouseCursor_ResizeEW,
                                           ImGuiMouseCursor_ResizeNS,  ImGuiMouseCursor_ResizeAll};
  ImGui::SetMouseCursor(kCursors[static_cast<std::size_t>(cursor)]);
}

namespace {

int popups_open() { return ImGui::GetCurrentContext()->OpenPopupStack.Size; }
int popups_around() { return ImGui::GetCurrentContext()->BeginPopupStack.Size; }

constexpr float kButtonPadding = 10, kIconBox = 14, kIconGap = 6;
constexpr float kCheckBox = 14, kCheckGap = 8;
constexpr float kSegmentPadding = 12;
constexpr float kChipPadding = 8, kChipClose = 18;
constexpr float kHoverShare = 0.117F;  // how far a control moves toward text1 when hovered

Pixel hovered_shade(const Ui& ui, Pixel colour) { return mix(colour, ui.colour(Colour::text1), kHoverShare); }

struct ButtonLook {
  Pixel fill;  // 0: none
  Pixel border;
  Pixel label;
};

ButtonLook look_of(const Ui& ui, const ButtonOptions& options, const Interaction& at) {
  if (options.disabled) {
    const bool framed = options.kind == ButtonKind::normal || options.kind == ButtonKind::primary;
    return {{}, framed ? ui.colour(Colour::line1) : Pixel(), ui.colour(Colour::disabled)};
  }
  const bool lit = at.hovered || at.held;
  if (options.active) return {ui.colour(Colour::accent_bg), ui.colour(Colour::accent), ui.colour(Colour::text1)};
  switch (options.kind) {
    case ButtonKind::primary: {
      const Pixel accent = ui.colour(Colour::accent);
      return {lit ? hovered_shade(ui, accent) : accent, {}, ui.colour(Colour::on_accent)};
    }
    case ButtonKind::flat:
      return {lit ? ui.colour(Colour::bg4) : Pixel(), {}, ui.colour(lit ? Colour::text1 : Colour::text2)};
    case ButtonKind::normal:
    case ButtonKind::quiet:
      break;
  }
  const Pixel base = ui.colour(Colour::bg4);
  const bool framed = options.kind == ButtonKind::normal || ui.theme().kind() != ThemeKind::dark;
  return {lit ? hovered_shade(ui, base) : base, framed ? ui.colour(Colour::line2) : Pixel(), ui.colour(Colour::text1)};
}

}  // namespace

namespace {

constexpr std::size_t kPage = 10;   // members of a group that a Page key goes on by
constexpr float kPointerStep = 12;  // units

using Places = std::vector<FocusPlace>;

std::optional<std::size_t> find_place(const Places& places, const auto& fits) {
  const auto found = std::ranges::find_if(places, fits);
  if (found == places.end()) return std::nullopt;
  return static_cast<std::size_t>(found - places.begin());
}

// The member of the group where the keyboard was last, or that is to be first.
std::size_t entered(const KeyboardFocus& focus, const Places& places, std::size_t at) {
  const std::string& group = places[at].group;
  if (group.empty()) return at;
  const auto last = focus.last.find("group:" + group);
  const auto known = last == focus.last.end() ? std::nullopt : find_place(places, [&](const FocusPlace& place) {
    return place.group == group && place.name == last->second;
  });
  return known.value_or(*find_place(places, [&](const FocusPlace& place) { return place.group == group; }));
}

std::size_t next_stop(const KeyboardFocus& focus, const Places& places, std::optional<std::size_t> now, bool back) {
  const std::size_t count = places.size();
  // What had the keyboard may be gone: then on from its place.
  std::size_t at = now.value_or((std::min(focus.index, count) + (back ? 0 : count - 1)) % count);
  if (!now && focus.at.empty()) at = back ? 0 : count - 1;
  const std::size_t from = at;
  do {
    at = (at + (back ? count - 1 : 1)) % count;
  } while (at != from && now && !places[from].group.empty() && places[at].group == places[from].group);
  return entered(focus, places, at);
}

std::size_t next_pane(const KeyboardFocus& focus, const Places& places, std::optional<std::size_t> now, bool back) {
  const std::size_t count = places.size();
  std::size_t at = now.value_or(back ? 0 : count - 1);
  const std::string from = now ? places[at].pane : std::string("\n");
  do {
    at = (at + (back ? count - 1 : 1)) % count;
  } while (now && at != *now && places[at].pane == from);
  const std::string& pane = places[at].pane;
  const auto in_pane = [&](const FocusPlace& place) { return place.pane == pane; };
  const auto last = focus.last.find("pane:" + pane);
  const auto known = last == focus.last.end() ? std::nullopt : find_place(places, [&](const FocusPlace& place) {
    return in_pane(place) && place.name == last->second;
  });
  return known.value_or(entered(focus, places, *find_place(places, in_pane)));
}

// The member of the group that lies nearest in the arrow's direction.
std::optional<std::size_t> beside(const Places& places, std::size_t now, Key key) {
  const Point from = places[now].rect.centre();
  std::optional<std::size_t> nearest;
  float least = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i == now || places[i].group != places[now].group) continue;
    const Point to = places[i].rect.centre();
    const bool across = key == Key::left || key == Key::right;
    const float sign = key == Key::right || key == Key::down ? 1.0F : -1.0F;
    const float along = sign * (across ? to.x - from.x : to.y - from.y);
    const float aside = std::abs(across ? to.y - from.y : to.x - from.x);
    const bool in_row = places[i].rect.y0 < places[now].rect.y1 && places[i].rect.y1 > places[now].rect.y0;
    if (along < 1 || (across && !in_row)) continue;
    const float distance = along + 4 * aside;
    if (!nearest || distance < least) nearest = i, least = distance;
  }
  return nearest;
}

// Where a key goes in the group.
std::optional<std::size_t> next_member(Ui& ui, const Places& places, std::size_t now) {
  if (ui.typing()) return std::nullopt;
  for (const Key key : {Key::left, Key::right, Key::up, Key::down}) {
    if (ui.pressed(key)) return beside(places, now, key);
  }
  std::vector<std::size_t> members;
  std::size_t own = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].group != places[now].group) continue;
    if (i == now) own = members.size();
    members.push_back(i);
  }
  if (ui.pressed(Key::home)) return members.front();
  if (ui.pressed(Key::end)) return members.back();
  if (ui.pressed(Key::page_down)) return members[std::min(own + kPage, members.size() - 1)];
  if (ui.pressed(Key::page_up)) return members[own - std::min(own, kPage)];
  const std::string text = ui.input().text;
  if (!places[now].letters || text.empty() || text == " ") return std::nullopt;
  std::string& typed = ui.type_ahead(places[now].group);
  typed += text;
  const auto found = find_typed(members.size(), typed.size() == text.size() ? own + 1 : own, typed,
                                [&](std::size_t i) { return places[members[i]].label; });
  return found ? std::optional(members[*found]) : std::nullopt;
}

void go_to(KeyboardFocus& focus, const FocusPlace& place) {
  ImGui::ClearActiveID();  // a text field lets go of the keyboard
  focus.at = place.name;
  focus.part.clear();
  focus.all_chosen.clear();
  focus.wanted = place.name;
  focus.moved = focus.by_keyboard = true;
}

// Ctrl+A chooses all of a list, Ctrl+C then copies it.
void copy_list(Ui& ui, KeyboardFocus& focus, const Places& places, const std::string& group) {
  if (ui.pressed(Key::a, {.ctrl = true}, false)) focus.all_chosen = group;
  focus.copies_all = focus.all_chosen == group && ui.pressed(Key::c, {.ctrl = true}, false);
  if (!focus.copies_all) return;
  std::string text;
  for (const FocusPlace& place : places) {
    if (place.group == group) text += place.label + '\n';
  }
  ui.copy_to_clipboard(text);
}

// Beside each other in a row of controls; a table or a timeline is in none.
bool in_one_row(const FocusPlace& a, const FocusPlace& b) {
  const auto [lower, higher] = std::minmax({a.rect.height(), b.rect.height()});
  const float apart = std::abs(a.rect.centre().y - b.rect.centre().y);
  return a.pane == b.pane && higher < 2 * lower && apart < lower / 2;
}

// By pane; what is drawn from the right of a row comes from its left to its right all the same.
void put_in_order(Places& places) {
  std::vector<FocusPlace*> order;  // a place holds four texts: each is moved once
  for (FocusPlace& place : places) order.push_back(&place);
  std::ranges::stable_sort(order, {}, &FocusPlace::pane_order);
  for (auto first = order.begin(); first != order.end();) {
    const auto last =
        std::find_if_not(first + 1, order.end(), [&](const FocusPlace* place) { return in_one_row(**first, *place); });
    std::stable_sort(first, last, [](const FocusPlace* a, const FocusPlace* b) { return a->rect.x0 < b->rect.x0; });
    first = last;
  }
  Places sorted;
  sorted.reserve(places.size());
  for (FocusPlace* place : order) sorted.push_back(std::move(*place));
  places = std::move(sorted);
}

void take_keys(Ui& ui, KeyboardFocus& focus, const Places& places) {
  if (places.empty()) return;
  const auto now = find_place(places, [&](const FocusPlace& place) { return place.name == focus.at; });
  const bool keeps_tab = std::exchange(focus.keeps_tab, false);
  for (const bool back : {false, true}) {
    if (!keeps_tab && ui.pressed(Key::tab, {.shift = back})) {
      return go_to(focus, places[next_stop(focus, places, now, back)]);
    }
    if (!ui.keys_go_elsewhere() && ui.pressed(Key::f6, {.shift = back})) {
      return go_to(focus, places[next_pane(focus, places, now, back)]);
    }
  }
  if (!now || !focus.by_keyboard || places[*now].group.empty()) return;
  if (focus.to_end != 0 && --focus.frames_to_end > 0) {  // what is there is drawn by now
    const auto own = [&](const FocusPlace& place) { return place.group == places[*now].group; };
    const auto last = std::ranges::find_if(places.rbegin(), places.rend(), own);
    return go_to(focus, focus.to_end < 0 ? places[*find_place(places, own)] : *last);
  }
  focus.to_end = (ui.pressed(Key::end) ? 1 : 0) - (ui.pressed(Key::home) ? 1 : 0);
  if (focus.to_end != 0) focus.frames_to_end = 3, ui.request_frame();
  const FocusStopKind kind = places[*now].kind;
  if (kind != FocusStopKind::text && places[*now].letters && !ui.typing())
    copy_list(ui, focus, places, places[*now].group);
  if (kind != FocusStopKind::button && kind != FocusStopKind::open) return;
  if (const auto next = next_member(ui, places, *now)) go_to(focus, places[*next]);
}

// Over what is drawn: arrows move, with Shift they drag, Enter and Space press.
void move_pointer(Ui& ui, const Rect& rect) {
  const Point from = rect.contains(ui.input().mouse) ? ui.input().mouse : rect.centre();
  Point at = from;
  const float step = ui.px(kPointerStep);
  const bool presses = ui.pressed(Key::space, {}, false) || ui.pressed(Key::enter, {}, false);
  const bool drags = ui.input().modifiers().shift;
  const auto by = [&](Key less, Key more) {
    return (ui.pressed(more, {.shift = drags}) ? step : 0) - (ui.pressed(less, {.shift = drags}) ? step : 0);
  };
  const float across = by(Key::left, Key::right), along = by(Key::up, Key::down);
  bool moved = across != 0 || along != 0;
  at.x = std::clamp(at.x + across, rect.x0 + 1, rect.x1 - 2);
  at.y = std::clamp(at.y + along, rect.y0 + 1, rect.y1 - 2);
  if (ui.pressed(Key::home, {.shift = drags})) at.x = rect.x0 + 1, moved = true;
  if (ui.pressed(Key::end, {.shift = drags})) at.x = rect.x1 - 2, moved = true;
  if (moved && drags) return ui.drag_to(from, at);
  if (moved || presses) ui.point_at(at, presses);
}

}  // namespace

FocusScope::FocusScope(Ui& ui, std::string_view name, bool opens)
    : ui_(ui), before_(ui.keyboard_focus()), lives_(popups_open() == popups_around()) {
  KeyboardFocus& focus = ui.begin_focus(name);
  if (opens) focus = {};
  focus.moved = focus.copies_all = false;
  focus.menu_below.reset();
  focus.alive = lives_;
  if (!lives_) return;
  focus.depth = popups_around();
  const Places places = std::exchange(focus.places, {});
  focus.mark.reset();
  if (!std::exchange(focus.drawn, false)) focus.place.reset();
  if (ui.input().down(MouseButton::left) && !ui.is_pointing()) focus.by_keyboard = false;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !ui.is_pointing()) {
    focus.at.clear();  // until something is hit
    focus.all_chosen.clear();
  }
  take_keys(ui, focus, places);
}

FocusScope::~FocusScope() {
  KeyboardFocus& focus = ui_.keyboard_focus();
  ui_.end_focus(before_);
  if (!lives_) return;
  ui_.focus_in_front(focus);
  focus.alive = false;
  focus.wanted.clear();
  put_in_order(focus.places);
  if (const auto now = find_place(focus.places, [&](const FocusPlace& place) { return place.name == focus.at; })) {
    focus.index = *now;
  }
  if (!focus.by_keyboard || !focus.mark) return;
  ImDrawList* list = focus.mark->list;
  const Rect& clip = focus.mark->clip;
  const Rect ring = focus.mark->rect.inset(-ui_.px(2)).intersected(clip.inset(1, 1));
  list->PushClipRect(ImVec2(clip.x0, clip.y0), ImVec2(clip.x1, clip.y1));
  list->AddRect(ImVec2(ring.x0, ring.y0), ImVec2(ring.x1, ring.y1), ui_.colour(Colour::accent),
                (size::kControlRadius + 1) * ui_.scale(), 0, size::kFocusRing * ui_.scale());
  list->PopClipRect();
}

void draw_ring(Ui& ui, const Rect& rect) {
  outline(ui, rect, ui.colour(Colour::accent), size::kControlRadius, size::kFocusRing);
}

FocusPane::FocusPane(Ui& ui, std::string_view name, int order, std::string_view first)
    : drawn_in_(ui.keyboard_focus().drawn_in), before_(drawn_in_) {
  drawn_in_.pane = name;
  drawn_in_.pane_order = order;
  if (!first.empty()) ui.keyboard_focus().last.try_emplace("pane:" + drawn_in_.pane, first);
}
FocusPane::~FocusPane() { drawn_in_ = before_; }

FocusGroup::FocusGroup(Ui& ui, std::string_view name, std::string_view first, bool letters)
    : drawn_in_(ui.keyboard_focus().drawn_in), before_(drawn_in_) {
  drawn_in_.group = name;
  drawn_in_.letters = letters;
  KeyboardFocus& focus = ui.keyboard_focus();
  const bool inside = focus.place && focus.place->group == name;
  if (!inside && !first.empty()) focus.last["group:" + drawn_in_.group] = first;
}
FocusGroup::~FocusGroup() { drawn_in_ = before_; }

// Where the stop is one of a list, the next one comes into sight, too: only what is in sight is drawn.
static void show_focused(const KeyboardFocus& focus, const Rect& rect) {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  const float around = focus.drawn_in.group.empty() && focus.places.back().group.empty() ? 0 : rect.height();
  ImGui::ScrollToBringRectIntoView(window, ImRect(rect.x0, rect.y0 - around, rect.x1, rect.y1 + around));
  if (focus.to_end == 0) return;
  ImGui::SetScrollY(window, focus.to_end < 0 ? 0 : window->ScrollMax.y);
}

FocusStop focus_stop(Ui& ui, std::string_view name, const Rect& rect, FocusStopKind kind, std::string_view label,
                     std::string_view group) {
  KeyboardFocus& focus = ui.keyboard_focus();
  FocusStop stop;
  if (!focus.alive || popups_around() != focus.depth) return stop;
  FocusPlace& place = focus.places.emplace_back(focus.drawn_in);
  place.name = name;
  place.label = label;
  place.kind = kind;
  if (!group.empty()) {
    place.group = group;
    place.letters = true;
  }
  place.rect = rect;
  stop.here = focus.at == name;
  if (!stop.here) return stop;
  if (focus.moved) show_focused(focus, rect);
  focus.place = place;
  focus.drawn = true;
  focus.last["pane:" + place.pane] = name;
  if (!place.group.empty()) focus.last["group:" + place.group] = name;
  ImDrawList* list = ui.draw();
  const ImVec2 low = list->GetClipRectMin();
  const ImVec2 high = list->GetClipRectMax();
  focus.mark = {rect, {low.x, low.y, high.x, high.y}, list};
  stop.ring = focus.by_keyboard;
  const bool idle = !focus.moved && !ui.typing() && !ui.keys_go_elsewhere();
  const bool enter = idle && focus.by_keyboard && ui.pressed(Key::enter, {}, false);
  stop.take_now = kind == FocusStopKind::text && (focus.wanted == name || enter);
  const bool button = kind == FocusStopKind::button;
  stop.entered = enter && (button || kind == FocusStopKind::handle);
  stop.activated = button && idle && focus.by_keyboard && (enter || ui.pressed(Key::space, {}, false));
  stop.menu = kind != FocusStopKind::text && idle && ui.pressed(Key::f10, {.shift = true}, false);
  if (stop.menu) focus.menu_below = rect;
  if (kind == FocusStopKind::pointer && stop.ring && idle) move_pointer(ui, rect);
  const bool copies = stop.ring && idle && !focus.copies_all && ui.pressed(Key::c, {.ctrl = true}, false);
  if (button && copies && !label.empty()) ui.copy_to_clipboard(std::string(label));
  return stop;
}

bool copies_all_of(Ui& ui, std::string_view group) {
  return ui.keyboard_focus().copies_all && ui.keyboard_focus().all_chosen == group;
}

void focus_is_at(Ui& ui, std::string_view name) {
  KeyboardFocus& focus = ui.keyboard_focus();
  if (!focus.alive || popups_around() != focus.depth || focus.at == name) return;
  focus.at = name;
  focus.part.clear();
}

std::optional<std::size_t> find_typed(std::size_t count, std::size_t from, std::string_view typed,
                                      const std::function<std::string(std::size_t)>& label) {
  const std::string wanted = lower_case(typed);
  for (const bool any_word : {false, true}) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (from + i) % count;
      const std::string text = lower_case(label(at));
      if (text.starts_with(wanted) || (any_word && text.find(" " + wanted) != std::string::npos)) return at;
    }
  }
  return std::nullopt;
}

float button_width(const Ui& ui, const ButtonOptions& options) {
  float width = 2 * ui.px(kButtonPadding) + std::ceil(text_width(ui, TextStyle::body, options.label));
  if (options.icon != nullptr) width += ui.px(kIconBox) + (options.label.empty() ? 0 : ui.px(kIconGap));
  return width;
}

bool button(Ui& ui, std::string_view name, const Rect& rect, const ButtonOptions& options) {
  const std::string_view label = options.label.empty() ? options.tooltip : options.label;
  const Interaction at = interact(ui, name, rect, {.disabled = options.disabled, .label = label});
  const ButtonLook look = look_of(ui, options, at);
  if (look.fill != 0) fill(ui, rect, look.fill, size::kControlRadius);
  if (look.border != 0) outline(ui, rect, look.border, size::kControlRadius);
  const float content = button_width(ui, options) - 2 * ui.px(kButtonPadding);
  Rect inside = rect;
  inside.x0 = std::round(rect.x0 + std::max(0.0F, (rect.width() - content) / 2));
  if (options.icon != nullptr) {
    const bool own_colour = options.icon_colour != 0 && !options.disabled;
    draw_icon(ui, inside.cut_left(ui.px(kIconBox)), options.icon, own_colour ? options.icon_colour : look.label);
    if (!options.label.empty()) inside.cut_left(ui.px(kIconGap));
  }
  draw_text(ui, inside, options.label, {.pixel = look.label});
  if (!options.tooltip.empty() || !options.shortcut.empty()) tooltip(ui, at, rect, options.tooltip, options.shortcut);
  return at.clicked;
}

bool button_left(Ui& ui, std::string_view name, Rect& row, const ButtonOptions& options, float height) {
  return button(ui, name, row.cut_left(button_width(ui, options)).middle(ui.px(height)), options);
}

bool button_right(Ui& ui, std::string_view name, Rect& row, const ButtonOptions& options, float height) {
  return button(ui, name, row.cut_right(button_width(ui, options)).middle(ui.px(height)), options);
}

bool icon_button(Ui& ui, std::string_view name, const Rect& rect, const char* icon, std::string_view explanation,
                 const ButtonOptions& options) {
  ButtonOptions with_icon = options;
  with_icon.icon = icon;
  with_icon.tooltip = explanation;
  with_icon.kind = ButtonKind::flat;
  return button(ui, name, rect, with_icon);
}

float checkbox_width(const Ui& ui, std::string_view label) {
  return ui.px(kCheckBox) + ui.px(kCheckGap) + std::ceil(text_width(ui, TextStyle::body, label));
}

bool checkbox(Ui& ui, std::string_view name, const Rect& rect, std::string_view label, bool& on, bool disabled) {
  const Rect whole{rect.x0, rect.y0, std::min(rect.x1, rect.x0 + checkbox_width(ui, label)), rect.y1};
  const Interaction at = interact(ui, name, whole, {.disabled = disabled, .label = label});
  if (at.clicked) on = !on;
  Rect row = rect;
  const Rect box = row.cut_left(ui.px(kCheckBox)).middle(ui.px(kCheckBox));
  row.cut_left(ui.px(kCheckGap));
  if (on) {
    const Pixel accent = ui.colour(disabled ? Colour::disabled : Colour::accent);
    fill(ui, box, at.hovered ? hovered_shade(ui, accent) : accent, size::kChipRadius);
    draw_icon(ui, box, icon::kCheck, ui.colour(Colour::on_accent), TextStyle::icon12);
  } else {
    fill(ui, box, ui.colour(Colour::bg1), size::kChipRadius);
    outline(ui, box, ui.colour(at.hovered && !disabled ? Colour::text3 : Colour::line2), size::kChipRadius);
  }
  draw_text(ui, row, label, {.colour = disabled ? Colour::disabled : Colour::text1});
  return at.clicked;
}

static float segment_width(const Ui& ui, const Segment& segment) {
  const float icon = segment.icon != nullptr ? ui.px(kIconBox) + ui.px(kIconGap) : 0;
  return 2 * ui.px(kSegmentPadding) + icon + std::ceil(text_width(ui, TextStyle::body, segment.label));
}

float segmented_width(const Ui& ui, std::span<const Segment> segments) {
  float width = 0;
  for (const Segment& segment : segments) width += segment_width(ui, segment);
  return width;
}

bool segmented(Ui& ui, std::string_view name, const Rect& rect, std::span<const Segment> segments, int& chosen) {
  fill(ui, rect, ui.colour(Colour::bg4), size::kControlRadius);
  bool changed = false;
  Rect rest = rect;
  const FocusGroup group(ui, name, std::string(name) + '.' + std::to_string(chosen));
  for (std::size_t index = 0; index < segments.size(); ++index) {
    const Segment& segment = segments[index];
    const Rect part = rest.cut_left(segment_width(ui, segment));
    const std::string_view label = segment.label.empty() ? segment.tooltip : segment.label;
    const Interaction at =
        interact(ui, std::string(name) + '.' + std::to_string(index), part,
                 {.disabled = segment.disabled, .chosen = static_cast<int>(index) == chosen, .label = label});
    const bool is_chosen = static_cast<int>(index) == chosen;
    if (at.clicked && !is_chosen) {
      chosen = static_cast<int>(index);
      changed = true;
    }
    if (is_chosen) {
      fill(ui, part, ui.colour(Colour::accent_bg), size::kControlRadius);
      outline(ui, part, ui.colour(Colour::accent), size::kControlRadius);
    } else if (at.hovered && !segment.disabled) {
      fill(ui, part, hovered_shade(ui, ui.colour(Colour::bg4)), size::kControlRadius);
    }
    Rect inside = part.inset(ui.px(kSegmentPadding), 0);
    if (segment.icon != nullptr) {
      draw_icon(ui, inside.cut_left(ui.px(kIconBox)), segment.icon,
                ui.colour(is_chosen ? Colour::accent : Colour::text3));
      inside.cut_left(ui.px(kIconGap));
    }
    const Colour colour = segment.disabled ? Colour::disabled : is_chosen ? Colour::text1 : Colour::text2;
    draw_text(ui, inside, segment.label, {.colour = colour, .fit = Fit::clip});
    if (!segment.tooltip.empty()) tooltip(ui, at, part, segment.tooltip);
  }
  return changed;
}

bool segmented_left(Ui& ui, std::string_view name, Rect& row, std::span<const Segment> segments, int& chosen,
                    float height) {
  return segmented(ui, name, row.cut_left(segmented_width(ui, segments)).middle(ui.px(height)), segments, chosen);
}

bool segmented_right(Ui& ui, std::string_view name, Rect& row, std::span<const Segment> segments, int& chosen,
                     float height) {
  return segmented(ui, name, row.cut_right(segmented_width(ui, segments)).middle(ui.px(height)), segments, chosen);
}

static TextStyle chip_style(const Ui& ui, float height) {
  return height < ui.px(22) ? TextStyle::small : TextStyle::body;  // tags in a row of a list are smaller
}

float chip_width(const Ui& ui, const ChipOptions& options) {
  float width = 2 * ui.px(kChipPadding) + std::ceil(text_width(ui, TextStyle::body, options.label));
  if (options.swatch != 0) width += ui.px(14);
  if (options.closable) width += ui.px(kChipClose);
  return width;
}

ChipResult chip(Ui& ui, std::string_view name, const Rect& rect, const ChipOptions& options) {
  // One with a tooltip only explains; its cross acts.
  const Interaction at = interact(ui, name, rect,
                                  {.below_others = options.closable,
                                   .chosen = options.selected,
                                   .keys = options.tooltip.empty() ? FocusStopKind::button : FocusStopKind::open,
                                   .label = options.label});
  const Pixel base = ui.colour(options.accent || options.selected ? Colour::accent_bg : Colour::bg4);
  fill(ui, rect, at.hovered ? hovered_shade(ui, base) : base, size::kChipRadius);
  if (options.selected) outline(ui, rect, ui.colour(Colour::accent), size::kChipRadius);
  ChipResult result;
  Rect inside = rect.inset(ui.px(kChipPadding), 0);
  if (options.closable) {
    const Rect close = {inside.x1 - ui.px(12), rect.y0, rect.x1, rect.y1};
    inside.x1 -= ui.px(kChipClose);
    const Interaction at_close = interact(ui, std::string(name) + ".close", close, {.label = "Remove"});
    result.closed = at_close.clicked;
    const Rect box{close.x0, close.y0, close.x0 + ui.px(12), close.y1};
    draw_icon(ui, box, icon::kClose, ui.colour(at_close.hovered ? Colour::text1 : Colour::text3), TextStyle::icon12);
  }
  if (options.swatch != 0) {
    draw_swatch(ui, inside, options.swatch);
    inside.cut_left(ui.px(14));
  }
  draw_text(ui, inside, options.label, {.style = chip_style(ui, rect.height()), .fit = Fit::middle});
  if (!options.tooltip.empty()) tooltip(ui, at, rect, options.tooltip);
  result.clicked = at.clicked && !result.closed;
  return result;
}

bool slider(Ui& ui, std::string_view name, const Rect& rect, float& value, bool disabled, std::string_view label) {
  const Interaction at = interact(ui, name, rect, {.disabled = disabled, .keys = FocusStopKind::list, .label = label});
  const float knob_width = ui.px(12);
  const float from = rect.x0 + knob_width / 2;
  const float travel = std::max(1.0F, rect.width() - knob_width);
  bool changed = false;
  if (at.held) {
    const float wanted = std::clamp((ui.input().mouse.x - from) / travel, 0.0F, 1.0F);
    changed = wanted != value;
    value = wanted;
  }
  if (at.ring) {
    constexpr float kStep = 0.05F;
    const float step = (ui.pressed(Key::right) || ui.pressed(Key::up) ? kStep : 0) -
                       (ui.pressed(Key::left) || ui.pressed(Key::down) ? kStep : 0);
    const float wanted = ui.pressed(Key::home) ? 0 : ui.pressed(Key::end) ? 1 : std::clamp(value + step, 0.0F, 1.0F);
    changed = changed || wanted != value;
    value = wanted;
  }
  const float x = std::round(from + travel * std::clamp(value, 0.0F, 1.0F));
  Rect track = rect.middle(ui.px(4));
  fill(ui, track, ui.colour(Colour::bg4), 2);
  track.x1 = x;
  fill(ui, track, ui.colour(disabled ? Colour::disabled : Colour::accent), 2);
  const Rect knob = Rect{x - knob_width / 2, rect.y0, x + knob_width / 2, rect.y1}.middle(ui.px(16));
  fill(ui, knob, ui.colour(disabled ? Colour::disabled : Colour::text1), size::kChipRadius);
  if (at.hovered || at.held) outline(ui, knob.inset(-ui.px(2)), ui.colour(Colour::accent), 5, size::kFocusRing);
  return changed;
}

float link_width(const Ui& ui, std::string_view label, TextStyle style) {
  return std::ceil(text_width(ui, style, label));
}

bool link(Ui& ui, std::string_view name, const Rect& rect, std::string_view label, TextStyle style) {
  Rect box = rect;
  box.x1 = std::min(rect.x1, rect.x0 + link_width(ui, label, style));
  const Interaction at = interact(ui, name, box, {.label = label});
  const float width =
      draw_text(ui, {box.x0, box.y0, rect.x1, box.y1}, label, {.style = style, .colour = Colour::accent});
  if (at.hovered) {
    set_cursor(Cursor::response);
    const float baseline = box.centre().y + ui.fonts().baseline_offset(style);
    horizontal_line(ui, box.x0, box.x0 + width, baseline + ui.px(2), ui.colour(Colour::accent));
  }
  return at.clicked;
}

float key_cap_width(const Ui& ui, std::string_view keys) {
  return std::ceil(text_width(ui, TextStyle::mono_small, keys)) + 2 * ui.px(5);
}

float key_cap(Ui& ui, Rect row, std::string_view keys) {
  const float width = key_cap_width(ui, keys);
  const Rect cap = row.cut_right(width).middle(ui.px(18));
  fill(ui, cap, ui.colour(Colour::bg4), size::kChipRadius);
  draw_text(ui, cap, keys, {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::centre});
  return width;
}

float badge(Ui& ui, const Rect& row, std::string_view text) {
  const float width = std::ceil(text_width(ui, TextStyle::mono_small, text)) + 2 * ui.px(4);
  const Rect box = Rect{row.x0, row.y0, row.x0 + width, row.y1}.middle(ui.px(16));
  fill(ui, box, ui.colour(Colour::bg4), size::kChipRadius);
  draw_text(ui, box, text, {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::centre});
  return width;
}

}  // namespace accelscope::render
