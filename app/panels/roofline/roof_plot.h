// The points of a roofline under their roof, on two logarithmic axes that fit them. A click selects the events of a
// point, a double click zooms to them; hovering tells its figures.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/axes/log_axis.h"
#include "app/panels/context.h"
#include "core/analysis/roofline/roofline.h"

namespace accelscope::app {

class RoofPlot {
 public:
  static constexpr std::size_t kMostDrawn = 400;

  struct Shown {
    const Roofline& line;
    RoofGrouping grouping;
    std::size_t memory;                        // of the line's memories
    const std::vector<RoofCeiling>& ceilings;  // none: points without a roof
    const EventFilter& filter;                 // that the points are within
    bool faded = false;
  };
  // True when the user asks for the peaks to be entered.
  [[nodiscard]] bool draw(const PanelContext& context, const render::Rect& area, const Shown& shown);

 private:
  struct Dot {
    const RoofPoint* point = nullptr;
    std::size_t number = 0;  // among the points of the line
    render::Point at;
    float radius = 0;
    render::Pixel colour;
    bool selected = false;
  };
  struct Segment {
    render::Point from, to;
  };
  void fit_axes(const Shown& shown);
  [[nodiscard]] render::Point place(double intensity, double rate) const;
  [[nodiscard]] float largest_dot(const render::Ui& ui) const;
  void find_dots(const PanelContext& context, const Shown& shown);
  void draw_grid(const PanelContext& context, const Shown& shown) const;
  void draw_ceilings(const PanelContext& context, const Shown& shown);
  void draw_dots(const PanelContext& context, const Shown& shown) const;
  void draw_labels(const PanelContext& context);
  void draw_foot(const PanelContext& context, const render::Rect& foot, const Shown& shown) const;
  void handle_input(const PanelContext& context, const Shown& shown);
  void draw_card(const PanelContext& context, const Shown& shown, const Dot& dot) const;

  render::Rect plot_;
  LogAxis intensity_, rate_;
  std::vector<Dot> dots_;
  std::vector<Segment> lines_;       // ceilings as they are drawn
  std::vector<render::Rect> taken_;  // by labels
  std::int64_t longest_ns_ = 1;
  std::optional<std::size_t> hovered_;  // the number of the point under the pointer
  double hovered_since_s_ = 0;
};

}  // namespace accelscope::app
