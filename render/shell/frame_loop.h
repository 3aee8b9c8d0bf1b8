// One frame, the same in all three shells: fonts for the scale, input into ImGui, the client's drawing, the draw data.
// A shell calls prepare(), uploads the atlas when told so, calls draw(), and shows draw_data() its own way.
#pragma once

#include <memory>
#include <vector>

#include "render/shell/shell.h"

struct ImGuiContext;
struct ImDrawData;

namespace accelscope::render {

class FrameLoop {
 public:
  FrameLoop(ThemeKind theme, Textures& textures);
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
  ImGuiContext* context_;
  float built_scale_ = 0;
};

}  // namespace accelscope::render
