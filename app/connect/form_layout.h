// The rows of a form from top to bottom: sections, labelled fields, explanations, banners. Where there is little
// width, labels stand above their fields.
#pragma once

#include <string_view>

#include "render/base/draw.h"
#include "render/widgets/states.h"

namespace accelscope::app {

class FormLayout {
 public:
  static constexpr float kLabel = 124, kGap = 8, kNarrow = 430;  // units
  static constexpr float kBeyond = 19;                           // how far lines go beyond the fields

  // The area's height does not matter: used() says what was needed.
  FormLayout(render::Ui& ui, const render::Rect& area) : ui_(ui), rest_(area), top_(area.y0) {}

  [[nodiscard]] render::Ui& ui() const noexcept { return ui_; }
  [[nodiscard]] float used() const noexcept { return rest_.y0 - top_; }
  [[nodiscard]] bool narrow() const noexcept { return rest_.width() < ui_.px(kNarrow); }
  [[nodiscard]] float field_width() const;

  void section(std::string_view title, std::string_view hint, bool line_above = true);
  // The place of a field, under or right of its label; height in pixels, 0: that of a control.
  [[nodiscard]] render::Rect field(std::string_view label, float height = 0);
  [[nodiscard]] render::Rect strip(float height);  // the whole width, no gap
  void line();
  void space(float units) { rest_.y0 += ui_.px(units); }
  // Under the field above: small, text3.
  void hint(std::string_view text, render::Colour colour = render::Colour::text3);
  // least_height: that is kept for it, in units, so that what lies below stays where it is while the text changes.
  void banner(render::BannerKind kind, std::string_view text, float least_height = 0);

 private:
  render::Ui& ui_;
  render::Rect rest_;
  float top_;
};

}  // namespace accelscope::app
