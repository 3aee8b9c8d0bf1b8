#include "render/base/input.h"

#include <algorithm>
#include <utility>

namespace accelscope::render {
namespace {

// A key may open a field, or go on to the next: what is typed after it waits so many frames, until that one has the
// keyboard.
constexpr int kFramesToOpen = 3;

bool is_modifier(std::uint8_t code) noexcept {
  const auto key = static_cast<Key>(code);
  return key >= Key::left_ctrl && key <= Key::right_alt;
}

// Its press makes a character, which comes as text.
bool is_printing(std::uint8_t code) noexcept {
  const auto key = static_cast<Key>(code);
  return key == Key::space || (key >= Key::a && key <= Key::digit9) || (key >= Key::comma && key <= Key::equals);
}

bool leaves_a_field(std::uint8_t code) noexcept {
  const auto key = static_cast<Key>(code);
  return key == Key::tab || key == Key::enter || key == Key::keypad_enter || key == Key::escape;
}

}  // namespace

void InputQueue::mouse_moved(Point to) {
  if (!events_.empty() && events_.back().kind == Event::Kind::move) {
    events_.back().point = to;  // only the last place of several in a row matters
    return;
  }
  events_.push_back({Event::Kind::move, to, 0, false, {}});
}

void InputQueue::mouse_button(MouseButton button, bool down) {
  events_.push_back({Event::Kind::button, {}, static_cast<std::uint8_t>(button), down, {}});
}

void InputQueue::wheel(Point notches) { events_.push_back({Event::Kind::wheel, notches, 0, false, {}}); }

void InputQueue::key(Key key, bool down) {
  if (key == Key::none) return;
  events_.push_back({Event::Kind::key, {}, static_cast<std::uint8_t>(key), down, {}});
}

void InputQueue::text(std::string utf8) { events_.push_back({Event::Kind::text, {}, 0, false, std::move(utf8)}); }

void InputQueue::focus(bool focused) { events_.push_back({Event::Kind::focus, {}, 0, focused, {}}); }

// In a text field what letters do comes as text; with Ctrl or Alt they act all the same.
bool InputQueue::acts(const Event& event, bool typing) const noexcept {
  const Modifiers held = state_.modifiers();
  return event.down && !is_modifier(event.code) && !(typing && is_printing(event.code) && !held.ctrl && !held.alt);
}

// What acts ends the frame: nothing may come to it that came later, and no key that goes with it may go up. Before it
// there may be text, which a field takes first. While nobody types, each action has frames of its own.
bool InputQueue::key_fits(const Event& event, const Seen& seen, bool typing) const noexcept {
  const bool acting = acts(event, typing);
  if (seen.changed.test(event.code) && (!typing || !is_printing(event.code) || seen.acted || acting)) return false;
  if (!event.down) return !seen.acted || !is_modifier(event.code);
  if (seen.acted || (!typing && acting && seen.text)) return false;
  return is_modifier(event.code) || !opening();
}

// A button is pressed in a later frame than the pointer came and a key was pressed: what is below the pointer and what
// the key began is known only when a frame has been drawn.
bool InputQueue::fits(const Event& event, const Seen& seen, bool typing) const noexcept {
  switch (event.kind) {
    case Event::Kind::move:
      return !seen.move && !seen.button && !seen.wheel;
    case Event::Kind::button:
      return !seen.button && !seen.wheel && !(event.down && (seen.move || seen.key));
    case Event::Kind::wheel:
      return !seen.button;
    case Event::Kind::key:
      return key_fits(event, seen, typing);
    case Event::Kind::text:
      return !seen.button && !opening() && (!typing || !seen.acted);  // else it is the letter of the key that acted
    case Event::Kind::focus:
      return !seen.move && !seen.button && !seen.wheel && !seen.text && !seen.key;
  }
  return true;
}

bool InputQueue::opening() const noexcept { return frames_since_opening_ < kFramesToOpen; }

void InputQueue::note(const Event& event, bool typing, Seen& seen) const {
  switch (event.kind) {
    case Event::Kind::move:
      seen.move = true;
      break;
    case Event::Kind::button:
      seen.button = true;
      break;
    case Event::Kind::wheel:
      seen.wheel = true;
      break;
    case Event::Kind::key:
      seen.key = true;
      if (acts(event, typing)) {
        seen.acted = true;
        seen.opens = !typing || leaves_a_field(event.code);
      }
      seen.changed.set(event.code);
      break;
    case Event::Kind::text:
      seen.text = true;
      break;
    case Event::Kind::focus:
      break;
  }
}

void InputQueue::apply(const Event& event) {
  switch (event.kind) {
    case Event::Kind::move:
      state_.mouse = event.point;
      break;
    case Event::Kind::button:
      state_.buttons[event.code] = event.down;
      break;
    case Event::Kind::wheel:
      state_.wheel.x += event.point.x;
      state_.wheel.y += event.point.y;
      break;
    case Event::Kind::key:
      state_.keys.set(event.code, event.down);
      break;
    case Event::Kind::text:
      state_.text += event.text;
      break;
    case Event::Kind::focus:
      state_.focused = event.down;
      if (!event.down) state_.keys.reset();  // their release goes to another window
      break;
  }
}

const Input& InputQueue::next_frame(bool typing) {
  state_.wheel = {};
  state_.text.clear();
  frames_since_opening_ = std::min(frames_since_opening_, kFramesToOpen) + 1;
  Seen seen;
  bool focus_changed = false;
  while (!events_.empty() && !focus_changed && fits(events_.front(), seen, typing)) {
    const Event event = std::move(events_.front());
    events_.pop_front();
    note(event, typing, seen);
    apply(event);
    focus_changed = event.kind == Event::Kind::focus;
  }
  if (seen.opens) frames_since_opening_ = 0;
  return state_;
}

}  // namespace accelscope::render
