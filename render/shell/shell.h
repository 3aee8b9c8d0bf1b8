// The three shells that drive one FrameClient: a window on a desktop, a picture without any display, and nothing at
// all for tests (render/shell/null_shell.h). A client draws a whole frame when asked and knows no window.
#pragma once

#include <algorithm>

#include "core/base/result.h"
#include "render/base/ui.h"

namespace accelscope::render {

class FrameClient {
 public:
  FrameClient() = default;
  FrameClient(const FrameClient&) = delete;
  FrameClient& operator=(const FrameClient&) = delete;
  virtual ~FrameClient() = default;

  // Draws everything. Called inside a borderless ImGui window that fills the screen.
  virtual void frame(Ui& ui) = 0;

  virtual void files_dropped(const std::vector<std::string>& paths) { (void)paths; }
  // The user or the system wants the window gone. False keeps it open, for instance to ask about unsaved work.
  [[nodiscard]] virtual bool close_requested() { return true; }
  // The client itself wants to end (after Ctrl+Q and the answers to its questions).
  [[nodiscard]] virtual bool wants_to_quit() const { return false; }
  // Frames are wanted without input: a capture is live, a progress bar runs.
  [[nodiscard]] virtual bool animates() const { return false; }
  // Nothing is loading any more: a picture taken now is the final one.
  [[nodiscard]] virtual bool settled() const { return true; }
  // The shell hands over a function that wakes it from any thread, so that finished work shows at once.
  virtual void set_wake(std::function<void()> wake) { (void)wake; }
};

struct WindowOptions {
  std::string title = "Accelscope";
  int width = 1600;  // units at 100 %
  int height = 900;
  float scale = 0;  // 0: the monitor's content scale
  ThemeKind theme = ThemeKind::dark;
  std::vector<Picture> icons;  // the same icon at several sizes
};

// Opens a window and runs until the client wants to quit, the window is closed, or SIGTERM or SIGINT arrives. A second
// signal ends at once.
[[nodiscard]] Result<void> run_in_window(FrameClient& client, const WindowOptions& options);

struct OffscreenOptions {
  int width = 1600;  // pixels of the picture
  int height = 900;
  float scale = 1;
  ThemeKind theme = ThemeKind::dark;
  double give_up_after = 60;                 // seconds to wait for the client to settle
  std::vector<Control>* controls = nullptr;  // filled with what can be clicked in it; null: nobody asks
};

// Renders frames without a display until the client has settled, and returns the last one. Needs EGL, no window system.
[[nodiscard]] Result<Picture> render_offscreen(FrameClient& client, const OffscreenOptions& options);

// Where a new window goes: within the part of the monitor that task bars leave free, its frame included. Arithmetic
// only.

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
