// Edges of drawn events that a gesture holds on to. Only what is drawn slice by slice has edges: nothing is read.
#include <algorithm>
#include <cmath>

#include "app/timeline/frame.h"

namespace accelscope::app {
namespace {

constexpr float kSnapReach = 6;  // units

[[nodiscard]] const DrawnLane* lane_under(const TimelineFrame& frame, float y) {
  const TimelineState& state = frame.state;
  for (std::size_t i = 0; i < state.lane_count; ++i) {
    if (y >= state.lanes[i].rect.y0 && y < state.lanes[i].rect.y1) return &state.lanes[i];
  }
  // Between the sub-lanes of a row, or in its margin: the first of the row.
  for (const DrawnRow& row : state.drawn_rows) {
    if (row.lane_count > 0 && y >= row.rect.y0 && y < row.rect.y1) return &state.lanes[row.first_lane];
  }
  return nullptr;
}

}  // namespace

double snapped_ns(TimelineFrame& frame, render::Point at) {
  const float x = std::clamp(at.x, frame.canvas_x, frame.rows.x1);
  const double plain = frame.ns(x);
  frame.state.snapped.reset();
  if (frame.ui.input().modifiers().alt || at.y < frame.rows.y0 || at.y >= frame.rows.y1) return plain;
  const DrawnLane* lane = lane_under(frame, at.y);
  if (lane == nullptr) return plain;
  const auto pointer = static_cast<double>(x - frame.canvas_x);
  auto nearest = static_cast<double>(frame.ui.px(kSnapReach));
  std::optional<double> edge;
  for (const render::WideSlice& slice : lane->strip->slices) {
    if (slice.x0 > pointer + nearest) break;  // they lie by time
    for (const double each : {slice.x0, slice.x1}) {
      if (std::abs(each - pointer) > nearest || each < 0 || each > frame.view.width) continue;
      nearest = std::abs(each - pointer);
      edge = each;
    }
  }
  if (!edge) return plain;
  frame.state.snapped = frame.canvas_x + static_cast<float>(*edge);
  return std::round(frame.view.ns(*edge));
}

}  // namespace accelscope::app
