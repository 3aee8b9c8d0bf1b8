// The memories of a device as boxes, what goes between them as arrows as wide as their bandwidth, and the same as a
// table. Only what limits is amber, with its reason on a tab.
#pragma once

#include <string>
#include <vector>

#include "app/panels/context.h"
#include "core/analysis/roofline/memory_levels.h"
#include "render/widgets/table.h"

namespace accelscope::app {

class LevelsView {
 public:
  // faded: the figures are of an earlier question.
  void draw(const PanelContext& context, const render::Rect& area, const DeviceLevels& levels, bool faded);
  [[nodiscard]] static float least_height(const render::Ui& ui, const DeviceLevels& levels);

 private:
  struct Arrow {
    const LevelPath* path = nullptr;
    std::vector<render::Point> points;  // corners, from begin to end
    render::Rect label;                 // above and below its middle
    bool has_label = true;
  };
  [[nodiscard]] render::Rect rect_of(const render::Ui& ui, const render::Rect& area, const LevelBox& box) const;
  void draw_boxes(const PanelContext& context, const render::Rect& area, const DeviceLevels& levels, bool faded) const;
  void draw_box(const PanelContext& context, const render::Rect& rect, const DeviceLevels& levels, const LevelBox& box,
                bool faded) const;
  void draw_arrows(const PanelContext& context, const render::Rect& area, const DeviceLevels& levels, bool faded) const;
  void draw_arrow(const PanelContext& context, const Arrow& arrow, double most, bool limits, bool faded) const;
  void draw_reason(const PanelContext& context, const render::Rect& area, const DeviceLevels& levels) const;
  void draw_table(const PanelContext& context, const render::Rect& area, const DeviceLevels& levels, bool faded);

  render::TableState table_;
};

}  // namespace accelscope::app
