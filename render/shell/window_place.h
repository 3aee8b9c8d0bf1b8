// Where a new window goes: within the part of the monitor that task bars leave free, its frame included. Arithmetic
// only.
#pragma once

#include <algorithm>

namespace accelscope::render {

// In the system's window coordinates.
struct WindowPlace {
  int x = 0, y = 0, width = 0, height = 0;
};
// What the window manager draws around the content.
struct WindowFrame {
  int left = 0, top = 0, right = 0, bottom = 0;
};

// The content of a window of the wanted size: smaller where the free part is, in its middle. A part of no size (some
// systems know none) changes nothing.
[[nodiscard]] inline WindowPlace window_within(const WindowPlace& free, const WindowFrame& frame, int width,
                                               int height) {
  const int room_x = free.width - frame.left - frame.right;
  const int room_y = free.height - frame.top - frame.bottom;
  if (room_x > 0) width = std::min(width, room_x);
  if (room_y > 0) height = std::min(height, room_y);
  return {free.x + frame.left + std::max(0, room_x - width) / 2, free.y + frame.top + std::max(0, room_y - height) / 2,
          width, height};
}

}  // namespace accelscope::render
