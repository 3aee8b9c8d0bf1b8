// Draws a counter lane as a stepped area with its line, or the line alone, the peak as a dashed line with its value on
// the right.
#pragma once

#include <string>

#include "render/base/ui.h"
#include "render/timeline/counter_strip.h"

namespace accelscope::render {

struct CounterPaint {
  const CounterStrip& strip;
  Rect rect;          // of the whole lane
  Pixel colour = {};  // of its line
  double top = 1;     // value at the upper edge: the same for every view of the lane
  std::string peak;   // "24", at the dashed line; none if empty
  bool area = true;   // false: only the line, for several over each other
};
void paint_counter(Ui& ui, ImDrawList* list, const CounterPaint& counter);

}  // namespace accelscope::render
