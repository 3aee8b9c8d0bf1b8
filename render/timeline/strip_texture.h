// One texture for a canvas of lanes: a row of texels for each strip, above them a block of hatching that is locked
// to the window. Everything dense is drawn out of it, so a canvas is one draw command however many lanes it has.
//
//   texture.begin(canvas_width, canvas_x, step, thickness, line, background);
//   const int row = texture.add(strip.texels);
//   texture.upload(ui.textures());
//   texture.draw_row(list, rect, row);  texture.draw_hatch(list, rect);
#pragma once

#include <span>
#include <vector>

#include "render/base/geometry.h"
#include "render/base/picture.h"
#include "render/base/theme.h"

struct ImDrawList;

namespace accelscope::render {

class StripTexture {
 public:
  struct Hatch {
    int step = 6;         // pixels
    float thickness = 1;  // pixels
    Pixel line;
    Pixel background;
  };
  // `x0` is the left edge of the canvas in the window; `highest` the tallest rectangle to be hatched.
  void begin(int width, int x0, int highest, const Hatch& hatch);
  [[nodiscard]] int add(std::span<const Pixel> texels);
  void upload(Textures& textures);
  void release(Textures& textures);

  // The whole row, stretched over the rectangle's height; `tint` multiplies.
  void draw_row(ImDrawList* list, const Rect& rect, int row, Pixel tint = Pixel(0xffffffff)) const;
  // The rectangle lies inside the canvas and is on whole pixels.
  void draw_hatch(ImDrawList* list, const Rect& rect) const;

 private:
  TextureHandle handle_ = 0;
  int width_ = 0;
  int x0_ = 0;
  int hatch_rows_ = 0;
  int step_ = 1;
  std::vector<Pixel> pixels_;
  struct HatchKey {
    int width, x0, rows, step;
    float thickness;
    Pixel line, background;
    bool operator==(const HatchKey&) const = default;
  };
  HatchKey made_{};
  [[nodiscard]] int rows() const noexcept { return width_ == 0 ? 0 : static_cast<int>(pixels_.size()) / width_; }
};

}  // namespace accelscope::render
