// Textures that change often, such as the pixel strips of dense lanes: RGBA, nearest neighbour, one texel per pixel.
// Draw one with ImDrawList::AddImage(reinterpret_cast<ImTextureID>(handle), ...). The null shell keeps the pixels and
// draws nothing.
#pragma once

#include <cstdint>
#include <span>

#include "render/base/theme.h"

namespace accelscope::render {

using TextureHandle = std::uintptr_t;  // 0: none

class Textures {
 public:
  Textures() = default;
  Textures(const Textures&) = delete;
  Textures& operator=(const Textures&) = delete;
  virtual ~Textures() = default;

  // Uploads width x height pixels (rows from top to bottom) into `handle`, or into a new texture when it is 0.
  // Returns the handle to use from now on; a texture grows as needed and is reused when the size stays.
  [[nodiscard]] virtual TextureHandle update(TextureHandle handle, int width, int height,
                                             std::span<const Pixel> pixels) = 0;
  virtual void release(TextureHandle handle) = 0;
};

}  // namespace accelscope::render
