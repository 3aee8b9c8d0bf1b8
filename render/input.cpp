#include "render/input.h"

#include <utility>

namespace accelscope::render {
namespace {

// What a frame has already seen, one bit each.
constexpr unsigned kSawMove = 1, kSawButton = 2, kSawWheel = 4, kSawKey = 8, kSawText = 16;

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

// A frame takes either keys or text: "press A, type b" must not arrive as "b" with A held. A button is pressed in a
// later frame than the pointer came and a key was pressed: what is below the pointer and what the key began is known
// only when a frame has been drawn.
bool InputQueue::fits(const Event& event, unsigned seen) const noexcept {
  switch (event.kind) {
    case Event::Kind::move:
      return (seen & (kSawMove | kSawButton | kSawWheel)) == 0;
    case Event::Kind::button:
      return (seen & (kSawButton | kSawWheel)) == 0 && !(event.down && (seen & (kSawMove | kSawKey)) != 0);
    case Event::Kind::wheel:
      return (seen & kSawButton) == 0;
    case Event::Kind::key:
      return (seen & (kSawKey | kSawText)) == 0;
    case Event::Kind::text:
      return (seen & kSawButton) == 0;
    case Event::Kind::focus:
      return seen == 0;
  }
  return true;
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

const Input& InputQueue::next_frame() {
  state_.wheel = {};
  state_.text.clear();
  unsigned seen = 0;
  while (!events_.empty() && fits(events_.front(), seen)) {
    const Event& event = events_.front();
    apply(event);
    constexpr unsigned kMarks[] = {kSawMove, kSawButton, kSawWheel, kSawKey, kSawText, ~0U};
    seen |= kMarks[static_cast<std::size_t>(event.kind)];
    events_.pop_front();
  }
  return state_;
}

}  // namespace accelscope::render
