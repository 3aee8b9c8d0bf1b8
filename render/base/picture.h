// An image in memory and its way to a PNG file. Two pictures with the same pixels give the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "render/base/theme.h"

namespace accelscope::render {

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;  // 4 bytes a pixel, rows from top to bottom
};

[[nodiscard]] Result<std::vector<std::uint8_t>> encode_png(const Picture& picture);
[[nodiscard]] Result<void> write_png(const Picture& picture, const std::string& path);

// Textures that change often, such as the pixel strips of dense lanes: RGBA, nearest neighbour, one texel per pixel.
// Draw one with ImDrawList::AddImage(compat::texture_id(handle), ...). The null shell keeps the pixels and
// draws nothing.

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
