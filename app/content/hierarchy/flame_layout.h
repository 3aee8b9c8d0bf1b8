// Where the boxes of a flame graph lie: every node below its parent, as wide as its share of it by a measure. Times of
// children that ran at once may add up to more than their parent's: then they share its width.
//
//   FlameLayout layout(*tree, LayerMeasure::busy);                      // once, on a worker
//   layout.boxes(*tree, zoomed, width, rows, boxes);                    // each frame: what is seen of it
#pragma once

#include <vector>

#include "app/content/hierarchy/measures.h"

namespace accelscope::app {

struct FlameBox {
  std::uint32_t node = 0;   // the first of them
  std::uint32_t count = 1;  // siblings that share it because they are narrower than a pixel
  std::uint32_t row = 0;    // from the root's, 0
  float x0 = 0, x1 = 0;     // pixels
  bool above = false;       // an ancestor of what is zoomed to
};

class FlameLayout {
 public:
  FlameLayout(const Hierarchy& tree, LayerMeasure measure);
  [[nodiscard]] LayerMeasure measure() const noexcept { return measure_; }
  // Of `zoomed` and below it, and of those above it, which take the whole width; no more than so many rows.
  void boxes(const Hierarchy& tree, std::uint32_t zoomed, float width, std::uint32_t rows,
             std::vector<FlameBox>& out) const;
  [[nodiscard]] double value(std::uint32_t node) const noexcept { return values_[node]; }

 private:
  struct Span {
    double from = 0, to = 0;  // of the whole width, 0 to 1
  };
  LayerMeasure measure_;
  std::vector<Span> spans_;  // by node
  std::vector<double> values_;
};

}  // namespace accelscope::app
