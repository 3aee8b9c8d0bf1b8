// Measuring between two selected events: a bracket over the time between them, with its exact length.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/timeline/frame.h"
#include "core/base/format.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

std::optional<Gap> gap_between(SessionTab& tab, EventId one, EventId other) {
  const EventRecord* first = tab.events->find(one);
  const EventRecord* second = tab.events->find(other);
  if (first == nullptr || second == nullptr) return {};
  if (std::pair(second->begin_ns, second->end_ns) < std::pair(first->begin_ns, first->end_ns)) std::swap(first, second);
  return Gap{*first, *second};
}

std::optional<Gap> selected_gap(SessionTab& tab) {
  if (!tab.selected || tab.also_selected.size() != 1) return {};
  return gap_between(tab, *tab.selected, tab.also_selected.front());
}

void draw_gap(TimelineFrame& frame) {
  const std::optional<Gap> gap = selected_gap(frame.tab);
  if (!gap) return;
  Ui& ui = frame.ui;
  const float from = frame.x(static_cast<double>(gap->first.end_ns));
  const float to = frame.x(static_cast<double>(gap->second.begin_ns));
  const float left = std::clamp(std::min(from, to), frame.canvas_x, frame.rows.x1);
  const float right = std::clamp(std::max(from, to), frame.canvas_x, frame.rows.x1);
  if (std::max(from, to) < frame.canvas_x || std::min(from, to) > frame.rows.x1) return;
  const auto first = event_rect(frame, gap->first);
  const auto second = event_rect(frame, gap->second);
  const float y_first = first ? first->centre().y : frame.rows.y0 + ui.px(12);
  const float y_second = second ? second->centre().y : y_first;
  // In one lane the bracket stands below the slices, so that it hides neither.
  const bool same_lane = std::abs(y_first - y_second) < 1;
  const float y = std::round(same_lane && first ? first->y1 + ui.px(8) : (y_first + y_second) / 2);
  const Pixel colour = ui.colour(Colour::marker);
  const auto post = [&](float x, float end) {
    if (x < frame.canvas_x || x > frame.rows.x1) return;
    const float foot = y + (end > y ? -ui.px(5) : ui.px(5));
    vertical_line(ui, std::round(x), std::min(end, foot), std::max(end, foot), colour);
  };
  post(from, y_first);
  post(to, y_second);
  fill(ui, {left, y, right + ui.px(1), y + ui.px(1)}, colour);
  const std::int64_t length = gap->length_ns();
  const std::string text = length < 0 ? "overlap " + format_time_exact(-length) : format_time_exact(length);
  const float width = text_width(ui, TextStyle::mono_strong, text) + ui.px(12);
  const float middle = std::clamp((left + right) / 2, frame.canvas_x + width / 2, frame.rows.x1 - width / 2);
  const float top = right - left > width + ui.px(8) ? y - ui.px(9) : y + ui.px(4);
  const Rect chip{std::round(middle - width / 2), top, std::round(middle + width / 2), top + ui.px(18)};
  fill(ui, chip, ui.colour(Colour::bg1), size::kChipRadius);
  outline(ui, chip, colour, size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::mono_strong, .align = Align::centre, .fit = Fit::clip});
}

}  // namespace accelscope::app
