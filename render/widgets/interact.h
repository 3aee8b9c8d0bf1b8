// The one way a rectangle becomes something that can be clicked: every widget goes through interact(), which also
// registers its name and rectangle for tests. Works in any ImGui window, so popups and scrolled areas clip it rightly.
#pragma once

#include <optional>
#include <string>
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
  bool no_focus = false;      // Tab passes it by
};

[[nodiscard]] Interaction interact(Ui& ui, std::string_view name, const Rect& rect,
                                   const InteractOptions& options = {});

enum class Cursor : std::uint8_t { arrow, hand, text, resize_horizontal, resize_vertical, move };
void set_cursor(Cursor cursor);  // for this frame

// The keyboard's way through a form: widgets that are drawn while a FocusScope lives are reached by Tab and Shift+Tab
// in the order in which they are drawn, and pressed by Space or Enter. A ring shows where the keyboard is, once Tab was
// used. interact() and the text fields take part by themselves.
//   FocusScope keyboard(ui, "connect");
//   ... draw ...
//   if (const auto place = keyboard.moved_to()) scroll.show(*place);
class FocusScope {
 public:
  FocusScope(Ui& ui, std::string_view name);
  ~FocusScope();
  FocusScope(const FocusScope&) = delete;
  FocusScope& operator=(const FocusScope&) = delete;
  // No popup lies over it: it may react to keys.
  [[nodiscard]] bool lives() const noexcept { return lives_; }
  // Where the widget lies that Tab went to in this frame; ask when all is drawn.
  [[nodiscard]] std::optional<Rect> moved_to() const;

 private:
  Ui& ui_;
  bool lives_ = false;
};

enum class FocusStopKind : std::uint8_t { button, text };
struct FocusStop {
  bool here = false;       // the keyboard is at this widget
  bool activated = false;  // button: Space or Enter
  bool take_now = false;   // text: takes the keyboard in this frame
};
// Called by widgets, before anything can leave them undrawn.
[[nodiscard]] FocusStop focus_stop(Ui& ui, std::string_view name, const Rect& rect, FocusStopKind kind);
// The widget has the keyboard by other means (a click into a text field).
void focus_is_at(Ui& ui, std::string_view name);

}  // namespace accelscope::render
