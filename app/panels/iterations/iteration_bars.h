// The iterations of a loop as bars in their order, as high as they are long: warm-up and outliers stand out, the median
// of the steady state is a line. Where there are more than there is room, of neighbours the farthest from the median
// stands for them. A click opens the iteration: it is selected and the timeline goes to it.
#pragma once

#include <cstddef>
#include <vector>

#include "app/panels/context.h"
#include "core/analysis/iterations/iterations.h"

namespace accelscope::app {

class IterationBars {
 public:
  void draw(const PanelContext& context, render::Rect area, const FoldedLoop& loop);

 private:
  // Which iterations stand where; made anew when the loop or the room changes.
  struct Slots {
    const FoldedLoop* of = nullptr;
    std::size_t count = 0;
    std::vector<std::size_t> shown;  // iterations
    std::int64_t most_ns = 1;
  };
  void place(const FoldedLoop& loop, std::size_t room);
  void draw_bars(const PanelContext& context, const render::Rect& plot, float slot, const FoldedLoop& loop) const;
  void touch(const PanelContext& context, const render::Rect& plot, float slot, const FoldedLoop& loop) const;

  Slots slots_;
};

}  // namespace accelscope::app
