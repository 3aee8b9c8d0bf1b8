// The histogram beside a table of statistics: bars, the median and the 99th percentile as dashed lines, and a brush:
// dragging over bars marks a range of values.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "app/content/axes/value_axis.h"
#include "app/panels/context.h"

namespace accelscope::app {

using ValueRange = std::pair<double, double>;  // from, to below

class HistogramView {
 public:
  struct Shown {
    const ValueDetails& details;
    std::string_view unit;
    std::optional<ValueRange> brush;  // that is a filter now
    bool stale = false;
  };
  // The range that was brushed in this frame, along the edges of bins.
  [[nodiscard]] std::optional<ValueRange> draw(render::Ui& ui, const render::Rect& area, const Shown& shown);
  [[nodiscard]] bool hovered() const noexcept { return hovered_; }  // in the last frame that drew it
  // Events of the bars in the range.
  [[nodiscard]] static std::uint64_t count_in(const ValueBins& bins, const ValueRange& range) noexcept;

 private:
  struct Plot;
  void draw_axes(render::Ui& ui, const Plot& plot, const Shown& shown) const;
  void draw_bars(render::Ui& ui, const Plot& plot, const Shown& shown) const;
  void draw_quantiles(render::Ui& ui, const Plot& plot, const Shown& shown) const;
  [[nodiscard]] std::optional<ValueRange> handle(render::Ui& ui, const Plot& plot, const Shown& shown);

  std::optional<std::size_t> drag_from_;  // the bin that a drag began at
  std::size_t drag_to_ = 0;
  bool hovered_ = false;
};

}  // namespace accelscope::app
