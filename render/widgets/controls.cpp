#include <imgui.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "render/base/imgui_compat.h"
#include "render/widgets/widgets.h"

namespace accelscope::render {

Interaction interact(Ui& ui, std::string_view name, const Rect& rect, const InteractOptions& options) {
  assert(!name.empty());
  Interaction result;
  if (rect.empty()) return result;
  ui.register_widget(name, rect);
  FocusStop keyboard;
  if (!options.disabled && !options.no_focus) keyboard = focus_stop(ui, name, rect, FocusStopKind::button);
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
  if (!result.hovered) return result;
  result.hovered_for = ui.hovered_for(name);
  result.pressed = result.pressed || ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  result.double_clicked = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  // Menus open when the button comes up, and not at the end of a drag.
  const auto released_here = [](ImGuiMouseButton button) {
    return ImGui::IsMouseReleased(button) && ImGui::GetIO().MouseDragMaxDistanceSqr[button] < 16;
  };
  result.right_clicked = released_here(ImGuiMouseButton_Right);
  result.middle_clicked = released_here(ImGuiMouseButton_Middle);
  return result;
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
  const bool framed = options.kind == ButtonKind::normal || ui.theme().kind() == ThemeKind::light;
  return {lit ? hovered_shade(ui, base) : base, framed ? ui.colour(Colour::line2) : Pixel(), ui.colour(Colour::text1)};
}

}  // namespace

FocusScope::FocusScope(Ui& ui, std::string_view name) : ui_(ui), lives_(popups_open() == popups_around()) {
  KeyboardFocus& focus = ui.keyboard_focus();
  focus.moved = false;
  if (!lives_) return;
  if (focus.scope != name) focus = {.scope = std::string(name)};
  focus.depth = popups_around();
  focus.alive = true;
  const std::vector<std::string> order = std::exchange(focus.order, {});
  focus.mark.reset();
  if (ui.input().down(MouseButton::left)) focus.by_keyboard = false;
  const bool back = ui.pressed(Key::tab, {.shift = true});
  if (order.empty() || (!back && !ui.pressed(Key::tab))) return;
  const auto now = std::ranges::find(order, focus.at);
  const std::size_t count = order.size();
  std::size_t next = back ? count - 1 : 0;
  if (now != order.end()) {
    next = (static_cast<std::size_t>(now - order.begin()) + (back ? count - 1 : 1)) % count;
  }
  ImGui::ClearActiveID();  // a text field lets go of the keyboard
  focus.at = order[next];
  focus.wanted = focus.at;
  focus.moved = focus.by_keyboard = true;
}

FocusScope::~FocusScope() {
  if (!lives_) return;
  KeyboardFocus& focus = ui_.keyboard_focus();
  focus.alive = false;
  focus.wanted.clear();
  if (!focus.by_keyboard || !focus.mark) return;
  ImDrawList* list = focus.mark->list;
  const Rect& clip = focus.mark->clip;
  const Rect ring = focus.mark->rect.inset(-ui_.px(2));
  list->PushClipRect(ImVec2(clip.x0, clip.y0), ImVec2(clip.x1, clip.y1));
  list->AddRect(ImVec2(ring.x0, ring.y0), ImVec2(ring.x1, ring.y1), ui_.colour(Colour::accent),
                (size::kControlRadius + 1) * ui_.scale(), 0, size::kFocusRing * ui_.scale());
  list->PopClipRect();
}

std::optional<Rect> FocusScope::moved_to() const {
  const KeyboardFocus& focus = ui_.keyboard_focus();
  if (!lives_ || !focus.moved || !focus.mark) return std::nullopt;
  return focus.mark->rect;
}

FocusStop focus_stop(Ui& ui, std::string_view name, const Rect& rect, FocusStopKind kind) {
  KeyboardFocus& focus = ui.keyboard_focus();
  FocusStop stop;
  if (!focus.alive || popups_around() != focus.depth) return stop;
  focus.order.emplace_back(name);
  stop.here = focus.at == name;
  if (!stop.here) return stop;
  ImDrawList* list = ui.draw();
  const ImVec2 low = list->GetClipRectMin();
  const ImVec2 high = list->GetClipRectMax();
  focus.mark = {rect, {low.x, low.y, high.x, high.y}, list};
  stop.take_now = kind == FocusStopKind::text && focus.wanted == name;
  stop.activated = kind == FocusStopKind::button && focus.by_keyboard && !focus.moved && !ui.typing() &&
                   (ui.pressed(Key::space, {}, false) || ui.pressed(Key::enter, {}, false));
  return stop;
}

void focus_is_at(Ui& ui, std::string_view name) {
  KeyboardFocus& focus = ui.keyboard_focus();
  if (focus.alive && popups_around() == focus.depth) focus.at = name;
}

float button_width(const Ui& ui, const ButtonOptions& options) {
  float width = 2 * ui.px(kButtonPadding) + std::ceil(text_width(ui, TextStyle::body, options.label));
  if (options.icon != nullptr) width += ui.px(kIconBox) + (options.label.empty() ? 0 : ui.px(kIconGap));
  return width;
}

bool button(Ui& ui, std::string_view name, const Rect& rect, const ButtonOptions& options) {
  const Interaction at = interact(ui, name, rect, {.disabled = options.disabled});
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
  const Interaction at = interact(ui, name, whole, {.disabled = disabled});
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
  for (std::size_t index = 0; index < segments.size(); ++index) {
    const Segment& segment = segments[index];
    const Rect part = rest.cut_left(segment_width(ui, segment));
    const Interaction at =
        interact(ui, std::string(name) + '.' + std::to_string(index), part, {.disabled = segment.disabled});
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
  const Interaction at = interact(ui, name, rect, {.below_others = options.closable});
  const Pixel base = ui.colour(options.accent || options.selected ? Colour::accent_bg : Colour::bg4);
  fill(ui, rect, at.hovered ? hovered_shade(ui, base) : base, size::kChipRadius);
  if (options.selected) outline(ui, rect, ui.colour(Colour::accent), size::kChipRadius);
  ChipResult result;
  Rect inside = rect.inset(ui.px(kChipPadding), 0);
  if (options.closable) {
    const Rect close = {inside.x1 - ui.px(12), rect.y0, rect.x1, rect.y1};
    inside.x1 -= ui.px(kChipClose);
    const Interaction at_close = interact(ui, std::string(name) + ".close", close);
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

bool slider(Ui& ui, std::string_view name, const Rect& rect, float& value, bool disabled) {
  const Interaction at = interact(ui, name, rect, {.disabled = disabled});
  const float knob_width = ui.px(12);
  const float from = rect.x0 + knob_width / 2;
  const float travel = std::max(1.0F, rect.width() - knob_width);
  bool changed = false;
  if (at.held) {
    const float wanted = std::clamp((ui.input().mouse.x - from) / travel, 0.0F, 1.0F);
    changed = wanted != value;
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
  const Interaction at = interact(ui, name, box);
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
