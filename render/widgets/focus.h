// The keyboard's way through a form: widgets that are drawn while a FocusScope lives are reached by Tab and Shift+Tab
// in the order in which they are drawn, and pressed by Space or Enter. A ring shows where the keyboard is, once Tab was
// used. interact() and the text fields take part by themselves.
//   FocusScope keyboard(ui, "connect");
//   ... draw ...
//   if (const auto place = keyboard.moved_to()) scroll.show(*place);
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "render/base/ui.h"

namespace accelscope::render {

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
