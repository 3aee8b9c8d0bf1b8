// Where the points, ceilings and labels of a roofline stand, without drawing: made once for an answer, a size and a
// zoom, in pixels from the upper left corner of the plot. Labels cover no point, no ceiling and no other label; points
// that lie at one place share one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/axes/value_axis.h"
#include "core/analysis/roofline/roofline.h"
#include "core/model/event_filter.h"
#include "core/store/snapshot.h"
#include "render/base/geometry.h"

namespace accelscope::app {

struct RoofQuestion {
  std::shared_ptr<const Roofline> line;
  RoofGrouping grouping = RoofGrouping::name;
  std::size_t memory = 0;             // of the line's memories
  std::vector<RoofCeiling> ceilings;  // none: points without a roof
  EventFilter filter;                 // that the points are within
  float width = 0, height = 0;        // pixels of the plot
  float unit = 1;                     // pixels
  bool operator==(const RoofQuestion&) const = default;
};

struct RoofLayout {
  static constexpr std::size_t kMostDots = 400;

  struct Dot {
    const RoofPoint* point = nullptr;
    std::size_t number = 0;  // among the points of the line
    render::Point at;
    float radius = 0;
    std::uint8_t slot = 0;  // of its colour
    EventFilter events;     // that it stands for
    [[nodiscard]] render::Rect box() const noexcept {
      return {at.x - radius, at.y - radius, at.x + radius, at.y + radius};
    }
  };
  struct Segment {
    render::Point from, to;
  };
  struct Ceiling {
    RoofCeiling::Kind kind;
    Segment line;
  };
  struct Label {
    std::string text;
    render::Rect rect;
    std::optional<RoofCeiling::Kind> ceiling;  // else it is that of a point
    std::size_t dot = 0;
    std::optional<Segment> leader;  // to a point that is not beside it
  };
  struct GridLine {
    float at = 0;
    std::string text;  // "": a fine line
  };
  ValueAxis intensity{BinScale::log}, rate{BinScale::log};
  std::int64_t longest_ns = 1;    // of the points
  std::size_t placed = 0;         // points that have a place, drawn or not
  float largest_dot = 0;          // radius
  std::vector<Dot> dots;          // the busiest first
  std::vector<Ceiling> ceilings;  // the roof last, and so on top
  std::vector<Label> labels;      // of ceilings, then of points
  std::vector<GridLine> columns, rows;
  std::string unplaced;  // what has no place, and how much is left out; "": nothing
};

// width_of: of a label's text, in pixels.
using LabelWidth = std::function<float(std::string_view text)>;
[[nodiscard]] RoofLayout lay_out_roof(const RoofQuestion& question, const Snapshot& snapshot,
                                      const LabelWidth& width_of);
[[nodiscard]] std::string roof_point_name(const RoofPoint& point, RoofGrouping grouping);

// The layout of the last question.
class RoofLayouts {
 public:
  const RoofLayout& of(RoofQuestion question, const Snapshot& snapshot, const LabelWidth& width_of);
  [[nodiscard]] const RoofLayout& last() const noexcept { return layout_; }
  [[nodiscard]] std::size_t made() const noexcept { return made_; }  // how many so far

 private:
  RoofQuestion question_;
  RoofLayout layout_;
  std::size_t made_ = 0;
};

}  // namespace accelscope::app
