// Rectangles in pixels and the one way to lay things out: cut strips off a rectangle until nothing is left.
//   Rect bar = area.cut_top(ui.px(size::kFilterRow));   // area is now what lies below the bar
// Knows nothing of drawing.
#pragma once

#include <algorithm>

namespace accelscope::render {

struct Point {
  float x = 0;
  float y = 0;
};

struct Rect {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool operator==(const Rect&) const = default;

  [[nodiscard]] constexpr float width() const noexcept { return x1 - x0; }
  [[nodiscard]] constexpr float height() const noexcept { return y1 - y0; }
  [[nodiscard]] constexpr Point centre() const noexcept { return {(x0 + x1) / 2, (y0 + y1) / 2}; }
  [[nodiscard]] constexpr bool empty() const noexcept { return x1 <= x0 || y1 <= y0; }
  [[nodiscard]] constexpr bool contains(Point p) const noexcept {
    return p.x >= x0 && p.x < x1 && p.y >= y0 && p.y < y1;
  }
  [[nodiscard]] constexpr bool overlaps(const Rect& other) const noexcept {
    return x0 < other.x1 && other.x0 < x1 && y0 < other.y1 && other.y0 < y1;
  }
  [[nodiscard]] constexpr Rect inset(float all) const noexcept { return inset(all, all); }
  [[nodiscard]] constexpr Rect inset(float x, float y) const noexcept { return {x0 + x, y0 + y, x1 - x, y1 - y}; }
  [[nodiscard]] constexpr Rect moved(float x, float y) const noexcept { return {x0 + x, y0 + y, x1 + x, y1 + y}; }
  [[nodiscard]] Rect intersected(const Rect& other) const noexcept {
    return {std::max(x0, other.x0), std::max(y0, other.y0), std::min(x1, other.x1), std::min(y1, other.y1)};
  }

  // Each takes a strip off this rectangle and returns it. A strip is never larger than what is left.
  constexpr Rect cut_left(float w) noexcept {
    const Rect strip{x0, y0, std::min(x0 + w, std::max(x0, x1)), y1};
    x0 = strip.x1;
    return strip;
  }
  constexpr Rect cut_right(float w) noexcept {
    const Rect strip{std::max(x1 - w, std::min(x0, x1)), y0, x1, y1};
    x1 = strip.x0;
    return strip;
  }
  constexpr Rect cut_top(float h) noexcept {
    const Rect strip{x0, y0, x1, std::min(y0 + h, std::max(y0, y1))};
    y0 = strip.y1;
    return strip;
  }
  constexpr Rect cut_bottom(float h) noexcept {
    const Rect strip{x0, std::max(y1 - h, std::min(y0, y1)), x1, y1};
    y1 = strip.y0;
    return strip;
  }

  // A strip of this height in the vertical middle, on whole pixels: a 26 px button in a 40 px bar.
  [[nodiscard]] Rect middle(float h) const noexcept {
    const float top = static_cast<float>(static_cast<int>(y0 + (height() - h) / 2));
    return {x0, top, x1, top + h};
  }
};

}  // namespace accelscope::render
