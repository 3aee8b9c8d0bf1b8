// One lane of counter samples on its way to pixels: lowest, highest and last value of each pixel. A sample holds
// until the next. Walks the lane's tree like LaneStripBuilder, so the cost follows the pixels. Pure.
#pragma once

#include "core/lod/lane_window.h"
#include "core/store/snapshot.h"
#include "render/base/ui.h"
#include "render/timeline/ruler.h"

namespace accelscope::render {

struct CounterStrip {
  // One of each per pixel; NaN before the first sample of the lane.
  std::vector<float> low;
  std::vector<float> high;
  std::vector<double> last;  // as stored, to the last digit
  bool any = false;          // a value holds somewhere in the view
  double lowest = 0;         // of the view
  double highest = 0;
  double mean = 0;       // by time, of the part of the view that has a value
  bool complete = true;  // false: a leaf stands for samples that are still being decoded
};

// `detail` may be null: then leaves are the finest there is.
void build_counter_strip(const LaneSnapshot& lane, lod::LaneDetail* detail, const TimeView& view, CounterStrip& strip);

// Draws a counter lane as a stepped area with its line, or the line alone, the peak as a dashed line with its value on
// the right.
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
