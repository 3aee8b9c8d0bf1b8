#include "render/widgets/controls.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/base/icons.h"
#include "render/widgets/popup.h"

namespace accelscope::render {
namespace {

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
    set_cursor(Cursor::hand);
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
