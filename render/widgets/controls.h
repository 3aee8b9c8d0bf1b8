// Buttons, checkboxes, segments, chips, sliders, links: small controls that fill the rectangle they are given. Each has
// a name (its identity) and returns what happened in this frame. Widths that depend on text come from *_width().
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "render/base/draw.h"
#include "render/widgets/interact.h"

namespace accelscope::render {

enum class ButtonKind : std::uint8_t {
  normal,   // bg4 with a border
  quiet,    // bg4 without a border (small buttons in panels)
  primary,  // accent; one in a form
  flat,     // no background until hovered (menus, tool bars)
};

struct ButtonOptions {
  std::string_view label = {};
  const char* icon = nullptr;
  Pixel icon_colour = {};  // 0: as the label
  ButtonKind kind = ButtonKind::normal;
  bool disabled = false;
  bool active = false;             // stays pressed: what it opened is open, what it toggles is on
  std::string_view tooltip = {};   // for a disabled one: why
  std::string_view shortcut = {};  // "Ctrl+O", shown in the tooltip
};

[[nodiscard]] float button_width(const Ui& ui, const ButtonOptions& options);
bool button(Ui& ui, std::string_view name, const Rect& rect, const ButtonOptions& options);
// A 24 or 26 px square with an icon; flat. The tooltip is its explanation, so it must have one.
bool icon_button(Ui& ui, std::string_view name, const Rect& rect, const char* icon, std::string_view tooltip,
                 const ButtonOptions& options = {});

[[nodiscard]] float checkbox_width(const Ui& ui, std::string_view label);
bool checkbox(Ui& ui, std::string_view name, const Rect& rect, std::string_view label, bool& on, bool disabled = false);

struct Segment {
  std::string_view label;
  const char* icon = nullptr;
  bool disabled = false;
  std::string_view tooltip = {};
};
[[nodiscard]] float segmented_width(const Ui& ui, std::span<const Segment> segments);
// One of several; `chosen` changes and true is returned on a click. Segments register as NAME.0, NAME.1 ...
bool segmented(Ui& ui, std::string_view name, const Rect& rect, std::span<const Segment> segments, int& chosen);

struct ChipOptions {
  std::string_view label;
  Pixel swatch = {};      // 0: none
  bool closable = false;  // its x registers as NAME.close
  bool accent = true;     // accent_bg (filters); false: bg4 (tags, legends)
  bool selected = false;  // accent outline
  std::string_view tooltip = {};
};
struct ChipResult {
  bool clicked = false;
  bool closed = false;
};
[[nodiscard]] float chip_width(const Ui& ui, const ChipOptions& options);
ChipResult chip(Ui& ui, std::string_view name, const Rect& rect, const ChipOptions& options);

// value runs from 0 to 1. True while it changes.
bool slider(Ui& ui, std::string_view name, const Rect& rect, float& value, bool disabled = false);

[[nodiscard]] float link_width(const Ui& ui, std::string_view label, TextStyle style = TextStyle::body);
bool link(Ui& ui, std::string_view name, const Rect& rect, std::string_view label, TextStyle style = TextStyle::body);

// A key cap such as "Ctrl+F" on bg4, right-aligned in the row; returns its width.
float key_cap(Ui& ui, Rect row, std::string_view keys);
[[nodiscard]] float key_cap_width(const Ui& ui, std::string_view keys);
// A small count behind a tab's or group's name; returns its width.
float badge(Ui& ui, const Rect& row, std::string_view text);

}  // namespace accelscope::render
