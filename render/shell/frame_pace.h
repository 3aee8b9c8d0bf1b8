// Which frames a window draws. Idle means idle: what the user does, what the client asks for and what ImGui has still
// to lay out make frames, and nothing else does. Knows no window and no clock, so that a test keeps the very pace of
// the real one (NullShell::rest()).
#pragma once

#include <algorithm>
#include <optional>

namespace accelscope::render {

class FramePace {
 public:
  static constexpr int kFramesAfterEvent = 3;  // ImGui needs up to three until a change is fully laid out

  // Input, a new size, a wake-up from another thread.
  void event() noexcept { frames_left_ = kFramesAfterEvent; }
  void rest() noexcept { frames_left_ = 0; }  // nothing can be drawn: the window is minimised

  // A frame was drawn at this time. at_once: it wants another one; after: so many seconds later, below 0 for none.
  void drawn(double now_s, bool at_once, double after_s) noexcept {
    if (frames_left_ > 0) --frames_left_;
    if (at_once) frames_left_ = std::max(frames_left_, 1);
    draw_at_s_ = after_s >= 0 ? std::optional(now_s + after_s) : std::nullopt;
  }

  [[nodiscard]] bool due(double now_s) const noexcept {
    return frames_left_ > 0 || (draw_at_s_ && now_s >= *draw_at_s_);
  }
  // When the next one is due without any event; nothing while it rests.
  [[nodiscard]] std::optional<double> next_s() const noexcept { return draw_at_s_; }

 private:
  int frames_left_ = kFramesAfterEvent;
  std::optional<double> draw_at_s_;
};

}  // namespace accelscope::render
