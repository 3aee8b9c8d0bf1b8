// The points of a roofline under their roof, on two logarithmic axes that fit them. A click selects the events of a
// point, a double click zooms to them; hovering tells its figures.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/context.h"
#include "app/panels/roofline/roof_layout.h"
#include "core/analysis/roofline/roofline.h"

namespace accelscope::app {

class RoofPlot {
 public:
  struct Shown {
    std::shared_ptr<const Roofline> line;
    RoofGrouping grouping;
    std::size_t memory;                        // of the line's memories
    const std::vector<RoofCeiling>& ceilings;  // none: points without a roof
    const EventFilter& filter;                 // that the points are within
    bool faded = false;
  };
  // True when the user asks for the peaks to be entered.
  [[nodiscard]] bool draw(const PanelContext& context, const render::Rect& area, const Shown& shown);

 private:
  [[nodiscard]] const RoofLayout& layout() const noexcept { return layouts_.last(); }
  [[nodiscard]] render::Point on_screen(render::Point at) const { return {plot_.x0 + at.x, plot_.y0 + at.y}; }
  [[nodiscard]] render::Rect on_screen(const render::Rect& rect) const { return rect.moved(plot_.x0, plot_.y0); }
  void draw_grid(const PanelContext& context, const Shown& shown) const;
  void draw_ceilings(const PanelContext& context) const;
  void draw_dots(const PanelContext& context, const Shown& shown) const;
  void draw_labels(const PanelContext& context) const;
  void draw_foot(const PanelContext& context, render::Rect row) const;
  void handle_input(const PanelContext& context, const Shown& shown);
  void draw_card(const PanelContext& context, const Shown& shown, const RoofLayout::Dot& dot) const;

  render::Rect plot_;
  RoofLayouts layouts_;
  std::optional<std::size_t> hovered_;  // the number of the point under the pointer
  double hovered_since_s_ = 0;
};

}  // namespace accelscope::app
