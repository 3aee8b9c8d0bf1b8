// One frame, the same in all three shells: fonts for the scale, input into ImGui, the client's drawing, the draw data.
// A shell calls prepare(), uploads the atlas when told so, calls draw(), and shows draw_data() its own way.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "render/shell/shell.h"

struct ImGuiContext;
struct ImDrawData;
struct ImFontAtlas;

namespace accelscope::render {

// Fonts that several loops use, rasterised once for each scale: that takes as long as fifty frames.
class SharedFonts {
 public:
  struct Built;
  SharedFonts();
  ~SharedFonts();
  SharedFonts(const SharedFonts&) = delete;
  SharedFonts& operator=(const SharedFonts&) = delete;
  [[nodiscard]] Built& of(float scale);

 private:
  std::map<float, std::unique_ptr<Built>> built_;
};

class FrameLoop {
 public:
  FrameLoop(ThemeKind theme, Textures& textures, SharedFonts* fonts = nullptr);  // null: it has its own
  ~FrameLoop();
  FrameLoop(const FrameLoop&) = delete;
  FrameLoop& operator=(const FrameLoop&) = delete;

  // Sets the size in pixels and the DPI scale. True: the font atlas was rebuilt and must be uploaded.
  [[nodiscard]] bool prepare(int width, int height, float dpi_scale);
  // Draws one frame that lies `seconds` after the last. The caret of text inputs blinks only if `blinks`.
  void draw(FrameClient& client, const Input& input, double seconds, bool blinks = true);

  [[nodiscard]] const ImDrawData* draw_data() const;
  [[nodiscard]] Ui& ui() noexcept { return ui_; }
  void make_current() const;  // tests may hold several loops

  // A text field has had the keyboard in the last frame.
  [[nodiscard]] bool takes_text() const;

  // After draw(): what the frame asked for.
  [[nodiscard]] bool wants_frame() const noexcept { return ui_.frame_requested_; }
  [[nodiscard]] double wants_frame_after() const noexcept { return ui_.frame_after_; }  // seconds; below 0: no wish
  [[nodiscard]] std::vector<std::function<void(Result<Picture>)>> take_picture_requests();

 private:
  void apply_style() const;

  Ui ui_;
  SharedFonts* shared_fonts_;
  ImGuiContext* context_;
  ImFontAtlas* own_atlas_;
  float built_scale_ = 0;
};

// Which frames a window draws. Idle means idle: what the user does, what the client asks for and what ImGui has still
// to lay out make frames, and nothing else does. Knows no window and no clock, so that a test keeps the very pace of
// the real one (NullShell::rest()).

class FramePace {
 public:
  static constexpr int kFramesAfterEvent = 3;     // ImGui needs up to three until a change is fully laid out
  static constexpr double kLongestSleepS = 0.25;  // how soon SIGTERM is noticed while idle

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
  // How long a window with nothing else to do sleeps, unless an event or a wake-up comes: until the next frame is due,
  // and no longer than kLongestSleepS. 0: a frame is due.
  [[nodiscard]] double sleep_s(double now_s) const noexcept {
    if (due(now_s)) return 0;
    return draw_at_s_ ? std::min(*draw_at_s_ - now_s, kLongestSleepS) : kLongestSleepS;
  }

 private:
  int frames_left_ = kFramesAfterEvent;
  std::optional<double> draw_at_s_;
};

}  // namespace accelscope::render
