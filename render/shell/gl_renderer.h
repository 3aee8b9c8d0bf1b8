// The OpenGL 3.3 side of the window and the offscreen shell: the font atlas, the draw data, textures, reading back.
// Needs a current GL context and a current ImGui context for its whole life.
#pragma once

#include <optional>

#include "render/base/picture.h"

namespace accelscope::render {

class GlTextures final : public Textures {
 public:
  [[nodiscard]] TextureHandle update(TextureHandle handle, int width, int height,
                                     std::span<const Pixel> pixels) override;
  void release(TextureHandle handle) override;
};

class GlRenderer {
 public:
  GlRenderer() = default;
  GlRenderer(const GlRenderer&) = delete;
  GlRenderer& operator=(const GlRenderer&) = delete;
  ~GlRenderer();

  [[nodiscard]] Result<void> start();                    // loads GL's functions; fails below 3.3
  void upload_fonts();                                   // after every rebuild of the atlas
  void render(int width, int height, Pixel background);  // ImGui's draw data into the bound framebuffer
  [[nodiscard]] static Picture read_back(int width, int height);

 private:
  bool started_ = false;
  GlTextures textures_;
  TextureHandle fonts_ = 0;
};

// A framebuffer of its own, for pictures without a window.
class GlFramebuffer {
 public:
  GlFramebuffer() = default;
  GlFramebuffer(const GlFramebuffer&) = delete;
  GlFramebuffer& operator=(const GlFramebuffer&) = delete;
  ~GlFramebuffer();
  [[nodiscard]] Result<void> create(int width, int height);  // and binds it

 private:
  unsigned framebuffer_ = 0;
  unsigned colour_ = 0;
};

}  // namespace accelscope::render
