// The one way a rectangle becomes something that can be clicked: every widget goes through interact(), which also
// registers its name and rectangle for tests. Works in any ImGui window, so popups and scrolled areas clip it rightly.
#pragma once

#include <string_view>

#include "render/base/ui.h"

namespace accelscope::render {

struct Interaction {
  bool hovered = false;
  bool held = false;     // the left button is down since it went down here
  bool clicked = false;  // released here
  bool pressed = false;  // went down here in this frame
  bool double_clicked = false;
  bool right_clicked = false;
  bool middle_clicked = false;
  double hovered_for = 0;  // seconds that the pointer has rested here
};

struct InteractOptions {
  bool disabled = false;
  bool below_others = false;  // widgets drawn later inside this one take the pointer (rows with buttons)
  bool no_focus = false;      // Tab passes it by (see focus.h)
};

[[nodiscard]] Interaction interact(Ui& ui, std::string_view name, const Rect& rect,
                                   const InteractOptions& options = {});

enum class Cursor : std::uint8_t { arrow, hand, text, resize_horizontal, resize_vertical, move };
void set_cursor(Cursor cursor);  // for this frame

}  // namespace accelscope::render
