// What the user does, in one struct for all shells: the window fills it from GLFW, tests fill it by hand. Events are
// queued and handed out so that no frame misses a change of a button or key: a click that is pressed and released
// between two frames is still a click. What is typed into a text field is taken as fast as it comes, however slow the
// frames are.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <string>

#include "render/base/geometry.h"

namespace accelscope::render {

// Keys by their place in the US layout. Where the character counts ("?"), use Input::text.
enum class Key : std::uint8_t {
  none,
  tab,
  left,
  right,
  up,
  down,
  page_up,
  page_down,
  home,
  end,
  insert,
  del,
  backspace,
  space,
  enter,
  escape,
  keypad_enter,
  a,
  b,
  c,
  d,
  e,
  f,
  g,
  h,
  i,
  j,
  k,
  l,
  m,
  n,
  o,
  p,
  q,
  r,
  s,
  t,
  u,
  v,
  w,
  x,
  y,
  z,
  digit0,
  digit1,
  digit2,
  digit3,
  digit4,
  digit5,
  digit6,
  digit7,
  digit8,
  digit9,
  f1,
  f2,
  f3,
  f4,
  f5,
  f6,
  f7,
  f8,
  f9,
  f10,
  f11,
  f12,
  comma,
  period,
  slash,
  semicolon,
  apostrophe,
  bracket_left,
  bracket_right,
  backslash,
  grave,
  minus,
  equals,
  left_ctrl,
  right_ctrl,
  left_shift,
  right_shift,
  left_alt,
  right_alt,
};
inline constexpr std::size_t kKeyCount = static_cast<std::size_t>(Key::right_alt) + 1;

struct Modifiers {
  bool ctrl = false;
  bool shift = false;
  bool alt = false;
  bool operator==(const Modifiers&) const = default;
};

enum class MouseButton : std::uint8_t { left, right, middle };
inline constexpr std::size_t kMouseButtonCount = 3;

// The state at one frame.
struct Input {
  Point mouse{-1, -1};  // pixels; outside the window: negative
  Point wheel;          // notches since the last frame; y > 0: away from the user
  std::array<bool, kMouseButtonCount> buttons{};
  std::bitset<kKeyCount> keys;
  std::string text;     // characters typed since the last frame, UTF-8
  bool focused = true;  // the window has the keyboard

  [[nodiscard]] bool down(Key key) const noexcept { return keys.test(static_cast<std::size_t>(key)); }
  [[nodiscard]] bool down(MouseButton button) const noexcept { return buttons[static_cast<std::size_t>(button)]; }
  [[nodiscard]] Modifiers modifiers() const noexcept {
    return {down(Key::left_ctrl) || down(Key::right_ctrl), down(Key::left_shift) || down(Key::right_shift),
            down(Key::left_alt) || down(Key::right_alt)};
  }
};

class InputQueue {
 public:
  void mouse_moved(Point to);
  void mouse_button(MouseButton button, bool down);
  void wheel(Point notches);
  void key(Key key, bool down);
  void text(std::string utf8);
  void focus(bool focused);

  // The input of the next frame: takes events up to the first that would hide what another one did. typing: a text
  // field has the keyboard, so that letters are text, and as many of them as have come are taken at once.
  [[nodiscard]] const Input& next_frame(bool typing);
  [[nodiscard]] bool empty() const noexcept { return events_.empty(); }

 private:
  struct Event {
    enum class Kind : std::uint8_t { move, button, wheel, key, text, focus } kind;
    Point point;
    std::uint8_t code = 0;
    bool down = false;
    std::string text;
  };
  // What the frame that is being put together has taken already.
  struct Seen {
    bool move = false, button = false, wheel = false, text = false, key = false;
    bool acted = false;  // a key that does something went down
    bool opens = false;  // and may bring the keyboard to another field
    std::bitset<kKeyCount> changed;
  };
  [[nodiscard]] bool fits(const Event& event, const Seen& seen, bool typing) const noexcept;
  [[nodiscard]] bool key_fits(const Event& event, const Seen& seen, bool typing) const noexcept;
  [[nodiscard]] bool opening() const noexcept;
  [[nodiscard]] bool acts(const Event& event, bool typing) const noexcept;
  void apply(const Event& event);
  void note(const Event& event, bool typing, Seen& seen) const;

  std::deque<Event> events_;
  Input state_;
  int frames_since_opening_ = 1 << 20;  // by a key
};

}  // namespace accelscope::render
