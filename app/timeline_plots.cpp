// Rows that plot values: counters, alone or several in one row, and memory pools.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/session_analysis.h"
#include "app/timeline_frame.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "render/timeline/counter_painter.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr std::size_t kMemorySeries = 8;

// Three digits are enough beside a plot; the exact value is in Details.
[[nodiscard]] double rounded_to_three_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double step = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 2);
  return std::round(value / step) * step;
}

[[nodiscard]] std::string counter_value(double value, const std::string& unit) {
  if (unit == "share") return percent(value);
  if (unit == "%") return percent(value / 100);
  const double shown = rounded_to_three_digits(value);
  if (unit == "B") return format_bytes(shown);
  if (unit == "B/s") return format_rate(shown);
  if (unit == "ns") return format_duration(shown);
  const std::string number = format_number(shown);
  return unit.empty() ? number : number + " " + unit;
}

[[nodiscard]] double highest_of(const TimelineFrame& frame, const LaneSnapshot& lane) {
  CounterScale& scale = frame.state.counter_scales[lane.number()];
  if (scale.version == frame.snapshot.version) return scale.highest;
  scale.version = frame.snapshot.version;
  scale.highest = 0;
  for (std::size_t level = kTreeLevels; level-- > 0;) {
    const std::size_t parents = level + 1 < kTreeLevels ? lane.tree.nodes[level + 1] : 0;
    for (std::size_t i = parents * kTreeFanout; i < lane.tree.nodes[level]; ++i) {
      scale.highest = std::max<double>(scale.highest, lane.data->counters.node(level, i).max);
    }
  }
  return scale.highest;
}

// The highest value of the row's scale.
[[nodiscard]] double scale_of(const TimelineFrame& frame, const std::vector<std::uint32_t>& lanes) {
  double highest = 0;
  for (const std::uint32_t lane : lanes) highest = std::max(highest, highest_of(frame, frame.snapshot.lanes[lane]));
  return highest;
}

}  // namespace

std::string percent(double share) {
  const double value = share * 100;
  // A lane that is hardly busy is not idle.
  if (value > 0 && value < 0.5) return "<1 %";
  return fmt::format("{:.0f} %", value);
}

std::string draw_counter(TimelineFrame& frame, const DrawnRow& drawn) {
  const TimelineRow& row = frame.state.rows[drawn.row];
  if (row.lanes.empty()) return "–";
  const LaneSnapshot& lane = frame.snapshot.lanes[row.lanes.front()];
  CounterStrip& strip = frame.state.counter;
  build_counter_strip(lane, &frame.state.windows.lane(lane), frame.view, strip);
  frame.state.complete = frame.state.complete && strip.complete;
  if (!strip.any) return "–";
  const double highest = scale_of(frame, row.scale_lanes);
  const std::string& unit = row.series.front()->unit;
  const Pixel colour = frame.ui.theme().slice(palette_slot(row.series.front()->name));
  paint_counter(frame.ui, frame.list, {strip, frame.canvas(drawn.rect), colour, highest, counter_value(highest, unit)});
  if (frame.tab.cursor_ns) {
    const double x = frame.view.x(static_cast<double>(*frame.tab.cursor_ns));
    if (x >= 0 && x < frame.view.width) {
      const float value = strip.last[static_cast<std::size_t>(x)];
      return std::isnan(value) ? "–" : counter_value(value, unit);
    }
  }
  return counter_value(strip.mean, unit);
}

std::string draw_memory(TimelineFrame& frame, const DrawnRow& drawn) {
  const TimelineRow& row = frame.state.rows[drawn.row];
  const auto memory = frame.tab.analysis ? frame.tab.analysis->memory() : nullptr;
  if (!memory || row.pool >= memory->pools.size()) return "–";
  Ui& ui = frame.ui;
  const PoolUsage& pool = memory->pools[row.pool];
  const TimeRange range{static_cast<std::int64_t>(frame.view.begin_ns), static_cast<std::int64_t>(frame.view.end_ns)};
  const StackedUsage stack =
      memory->stacked(row.pool, range, static_cast<std::size_t>(frame.view.width), kMemorySeries);
  const Rect canvas = frame.canvas(drawn.rect);
  const double scale = (canvas.height() - ui.px(4)) / std::max<double>(1, static_cast<double>(pool.peak_bytes));
  std::vector<std::uint64_t> below(static_cast<std::size_t>(frame.view.width));
  for (std::size_t series = 0; series < stack.values.size(); ++series) {
    const Pixel colour = ui.theme().area(ui.theme().slice(palette_slot(stack.names[series])));
    const std::vector<std::uint64_t>& values = stack.values[series];
    for (std::size_t begin = 0; begin < values.size();) {
      std::size_t end = begin + 1;
      while (end < values.size() && values[end] == values[begin] && below[end] == below[begin]) ++end;
      if (values[begin] > 0) {
        const float y1 = canvas.y1 - static_cast<float>(static_cast<double>(below[begin]) * scale);
        const float y0 = canvas.y1 - static_cast<float>(static_cast<double>(below[begin] + values[begin]) * scale);
        frame.list->AddRectFilled(ImVec2(canvas.x0 + static_cast<float>(begin), std::round(y0)),
                                  ImVec2(canvas.x0 + static_cast<float>(end), std::round(y1)), colour);
      }
      begin = end;
    }
    for (std::size_t i = 0; i < values.size() && i < below.size(); ++i) below[i] += values[i];
  }
  // The legend: the largest tensors below the name.
  const Rect label = frame.label(drawn.rect);
  const std::size_t named = row.size == RowSize::small ? 0 : std::min<std::size_t>(stack.names.size(), 6);
  const std::size_t columns = std::clamp<std::size_t>((named + 1) / 2, 1, 3);
  const float column_width =
      (label.width() - ui.px(size::kLaneIndent + size::kLaneValueInset)) / static_cast<float>(columns);
  for (std::size_t series = 0; series < named; ++series) {
    const float column = static_cast<float>(series % columns) * column_width;
    const std::size_t line_number = series / columns;
    const float line = static_cast<float>(line_number) * ui.px(16);
    Rect entry{label.x0 + ui.px(size::kLaneIndent) + column, label.y0 + ui.px(size::kLane) + line, 0, 0};
    entry.x1 = entry.x0 + column_width - ui.px(4);
    entry.y1 = entry.y0 + ui.px(16);
    const Pixel colour = ui.theme().slice(palette_slot(stack.names[series]));
    const float side = ui.px(8);
    const float top = std::round(entry.centre().y - side / 2);
    frame.list->AddRectFilled(ImVec2(entry.x0, top), ImVec2(entry.x0 + side, top + side), colour, ui.scale() * 2);
    entry.x0 += side + ui.px(5);
    draw_text(ui, frame.list, entry, stack.names[series],
              {.style = TextStyle::mono_small, .colour = Colour::text2, .fit = Fit::middle});
  }
  // At the cursor, else the most in the view.
  if (frame.tab.cursor_ns) return format_bytes(static_cast<double>(memory->used_at(row.pool, *frame.tab.cursor_ns)));
  const auto most = std::max_element(stack.total.begin(), stack.total.end());
  return format_bytes(most == stack.total.end() ? 0 : static_cast<double>(*most));
}

}  // namespace accelscope::app
