#include "render/timeline/strip_texture.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/base/imgui_compat.h"

namespace accelscope::render {

void StripTexture::begin(int width, int x0, int highest, const Hatch& hatch) {
  step_ = std::max(hatch.step, 1);
  hatch_rows_ = highest + step_;
  width_ = width;
  x0_ = x0;
  const HatchKey key{width, x0, hatch_rows_, step_, hatch.thickness, hatch.line, hatch.background};
  const auto hatch_pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(hatch_rows_);
  pixels_.resize(hatch_pixels);
  if (key == made_) return;
  made_ = key;
  // Lines x + y = constant: each pixel by its distance from the nearest one.
  std::vector<Pixel> shades;
  for (int phase = 0; phase < step_; ++phase) {
    const auto distance = static_cast<float>(std::min(phase, step_ - phase));
    const float cover = std::clamp(hatch.thickness * 0.7071F + 0.5F - distance, 0.0F, 1.0F);
    shades.push_back(mix(hatch.background, hatch.line, cover));
  }
  for (int y = 0; y < hatch_rows_; ++y) {
    Pixel* row = pixels_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    int phase = (x0 + y) % step_;
    for (int x = 0; x < width; ++x) {
      row[x] = shades[static_cast<std::size_t>(phase)];
      phase = phase + 1 == step_ ? 0 : phase + 1;
    }
  }
}

int StripTexture::add(std::span<const Pixel> texels) {
  const int row = rows();
  pixels_.insert(pixels_.end(), texels.begin(), texels.begin() + width_);
  return row;
}

void StripTexture::upload(Textures& textures) { handle_ = textures.update(handle_, width_, rows(), pixels_); }

void StripTexture::release(Textures& textures) {
  if (handle_ != 0) textures.release(handle_);
  handle_ = 0;
}

void StripTexture::draw_row(ImDrawList* list, const Rect& rect, int row, Pixel tint) const {
  const float v = (static_cast<float>(row) + 0.5F) / static_cast<float>(rows());
  list->AddImage(compat::texture_id(handle_), ImVec2(rect.x0, rect.y0), ImVec2(rect.x1, rect.y1), ImVec2(0, v),
                 ImVec2(1, v), tint);
}

void StripTexture::draw_hatch(ImDrawList* list, const Rect& rect) const {
  const auto width = static_cast<float>(width_);
  const auto height = static_cast<float>(rows());
  const float u0 = (rect.x0 - static_cast<float>(x0_)) / width;
  const float u1 = (rect.x1 - static_cast<float>(x0_)) / width;
  const auto top = static_cast<float>(static_cast<int>(rect.y0) % step_);
  list->AddImage(compat::texture_id(handle_), ImVec2(rect.x0, rect.y0), ImVec2(rect.x1, rect.y1),
                 ImVec2(u0, top / height), ImVec2(u1, (top + rect.height()) / height));
}

}  // namespace accelscope::render
