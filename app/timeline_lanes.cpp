#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/session_analysis.h"
#include "app/timeline_frame.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "render/icons.h"
#include "render/timeline/counter_painter.h"
#include "render/timeline/lane_painter.h"
#include "render/timeline/summary_strip.h"
#include "render/widgets/interact.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr std::size_t kMemorySeries = 8;

[[nodiscard]] ImVec2 low(const Rect& rect) { return {rect.x0, rect.y0}; }
[[nodiscard]] ImVec2 high(const Rect& rect) { return {rect.x1, rect.y1}; }

[[nodiscard]] DrawnLane& next_lane(TimelineState& state) {
  if (state.lane_count == state.lanes.size()) state.lanes.emplace_back();
  return state.lanes[state.lane_count++];
}

// Slices of each sub-lane of a row, from top to bottom.
void place_sub_lanes(TimelineFrame& frame, std::size_t row_index, const Rect& rect, DrawnRow& drawn) {
  const TimelineRow& row = frame.state.rows[row_index];
  const SubLaneSizes sizes = sub_lane_sizes(row.lanes.size());
  const Ui& ui = frame.ui;
  const float slice = ui.px(sizes.slice);
  const float step = ui.px(sizes.step);
  const float used = step * static_cast<float>(row.lanes.size() - 1) + slice;
  float y = std::round(rect.y0 + (rect.height() - used) / 2);
  drawn.first_lane = frame.state.lane_count;
  for (const std::uint32_t lane : row.lanes) {
    DrawnLane& placed = next_lane(frame.state);
    placed.lane = lane;
    placed.row = row_index;
    placed.rect = {frame.canvas_x, y, rect.x1, y + slice};
    y += step;
  }
  drawn.lane_count = frame.state.lane_count - drawn.first_lane;
}

void place_rows(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  state.drawn_rows.clear();
  state.lane_count = 0;
  float y = frame.rows.y0 - state.scroll;
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    const float height = frame.ui.px(state.rows[i].height);
    const Rect rect{frame.rows.x0, y, frame.rows.x1, y + height};
    y += height;
    if (rect.y1 <= frame.rows.y0 || rect.y0 >= frame.rows.y1) continue;
    DrawnRow drawn;
    drawn.row = i;
    drawn.rect = rect;
    if (state.rows[i].kind == RowKind::slices) place_sub_lanes(frame, i, rect, drawn);
    state.drawn_rows.push_back(drawn);
  }
}

void reveal_event(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  if (!state.reveal) return;
  const LaneNumber wanted = lane_of(*state.reveal);
  state.reveal.reset();
  float y = 0;
  for (const TimelineRow& row : state.rows) {
    const float height = frame.ui.px(row.height);
    const bool here = row.kind == RowKind::slices &&
                      std::any_of(row.lanes.begin(), row.lanes.end(),
                                  [&](std::uint32_t lane) { return frame.snapshot.lanes[lane].number() == wanted; });
    if (here && (y < state.scroll || y + height > state.scroll + frame.rows.height())) {
      state.scroll = y - (frame.rows.height() - height) / 2;
    }
    if (here) return;
    y += height;
  }
}

// A collapsed group is one lane: the mean of its lanes.
void summarise(TimelineFrame& frame, DrawnRow& drawn) {
  const TimelineRow& row = frame.state.rows[drawn.row];
  std::vector<Pixel> texels;
  summary_texels(frame.snapshot, row.lanes, frame.state.windows, frame.view, frame.state.builder, texels);
  drawn.summary_row = frame.lanes_texture.add(texels);
}

[[nodiscard]] Pixel row_background(const TimelineFrame& frame, const TimelineRow& row, bool hovered) {
  if (hovered) return frame.ui.colour(Colour::bg3);
  return frame.ui.colour(row.kind == RowKind::group ? Colour::bg2 : Colour::bg1);
}

[[nodiscard]] std::string percent(double share) {
  const double value = share * 100;
  // A lane that is hardly busy is not idle.
  if (value > 0 && value < 0.5) return "<1 %";
  return fmt::format("{:.0f} %", value);
}

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

void draw_label(TimelineFrame& frame, const DrawnRow& drawn, std::string value, bool hovered) {
  Ui& ui = frame.ui;
  const TimelineRow& row = frame.state.rows[drawn.row];
  const Rect label = frame.label(drawn.rect);
  if (row.kind == RowKind::group) {  // its name says more than how many rows it has
    const float names = text_width(ui, TextStyle::small_strong, row.label);
    const float counts = text_width(ui, TextStyle::mono_small, value);
    const float room = label.width() - ui.px(size::kGroupIndent + size::kLaneValueInset + 8);
    if (names + counts > room) value.clear();
  }
  frame.list->AddRectFilled(low(label), high(label), ui.colour(hovered ? Colour::bg3 : Colour::bg2));
  const float right = label.x1 - ui.px(size::kLaneValueInset);
  const float value_width = value.empty() ? 0 : text_width(ui, TextStyle::mono_small, value);
  const float indent = ui.px(row.kind == RowKind::group ? size::kGroupIndent : size::kLaneIndent);
  Rect name{label.x0 + indent, label.y0, right - value_width - ui.px(8), label.y1};
  Rect number{right - value_width, label.y0, right, label.y1};
  if (row.kind == RowKind::memory) name.y1 = number.y1 = label.y0 + ui.px(size::kLane);
  name.x0 += static_cast<float>(row.depth) * ui.px(12);
  if (row.kind == RowKind::group || row.has_children) {
    const float left = name.x0 - ui.px(row.kind == RowKind::group ? 18 : 16);
    const Rect caret{left, name.y0, left + ui.px(14), name.y1};
    draw_icon(ui, caret, row.open ? icon::kCaretDown : icon::kCaretRight, ui.colour(Colour::text2), TextStyle::icon12);
  }
  draw_text(ui, frame.list, name, row.label,
            {.style = row.kind == RowKind::group ? TextStyle::small_strong : TextStyle::small,
             .colour = row.kind == RowKind::group ? Colour::text1 : Colour::text2,
             .fit = Fit::middle});
  draw_text(ui, frame.list, number, value,
            {.style = row.kind == RowKind::group ? TextStyle::small : TextStyle::mono_small,
             .colour = row.kind == RowKind::group ? Colour::text3 : Colour::text2,
             .align = Align::right,
             .fit = Fit::clip});
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

// Returns what its label says: the value at the cursor, else the mean of the view.
std::string draw_counter(TimelineFrame& frame, const DrawnRow& drawn) {
  const TimelineRow& row = frame.state.rows[drawn.row];
  if (row.lanes.empty()) return "–";
  const LaneSnapshot& lane = frame.snapshot.lanes[row.lanes.front()];
  CounterStrip& strip = frame.state.counter;
  build_counter_strip(lane, &frame.state.windows.lane(lane), frame.view, strip);
  frame.state.complete = frame.state.complete && strip.complete;
  if (!strip.any) return "–";
  const double highest = highest_of(frame, lane);
  const Pixel colour = frame.ui.theme().slice(palette_slot(row.label));
  paint_counter(frame.ui, frame.list,
                {strip, frame.canvas(drawn.rect), colour, highest, counter_value(highest, row.track->unit)});
  if (frame.tab.cursor_ns) {
    const double x = frame.view.x(static_cast<double>(*frame.tab.cursor_ns));
    if (x >= 0 && x < frame.view.width) {
      const float value = strip.last[static_cast<std::size_t>(x)];
      return std::isnan(value) ? "–" : counter_value(value, row.track->unit);
    }
  }
  return counter_value(strip.mean, row.track->unit);
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
  const std::size_t named = std::min<std::size_t>(stack.names.size(), 6);
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

std::string draw_slices(TimelineFrame& frame, const DrawnRow& drawn, const LanePainter& painter) {
  double busy = 0;
  for (std::size_t i = drawn.first_lane; i < drawn.first_lane + drawn.lane_count; ++i) {
    const DrawnLane& lane = frame.state.lanes[i];
    painter.paint({lane.strip, lane.texture_row, lane.rect, false, true});
    busy = std::max(busy, lane.strip.busy_share);
  }
  return percent(busy);
}

void draw_grid(TimelineFrame& frame, const Rect& canvas, const TimelineRow& row) {
  Ui& ui = frame.ui;
  if (row.kind == RowKind::group) return;
  for (const RulerTick& tick : frame.time_ruler.ticks) {
    if (tick.label.empty()) continue;
    const float x = std::floor(frame.canvas_x + static_cast<float>(tick.x));
    frame.list->AddRectFilled(ImVec2(x, canvas.y0), ImVec2(x + ui.px(1), canvas.y1), ui.colour(Colour::line1));
  }
  frame.list->AddRectFilled(ImVec2(canvas.x0, canvas.y1 - ui.px(1)), high(canvas), ui.colour(Colour::line1));
}

}  // namespace

void prepare_lanes(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  Ui& ui = frame.ui;
  state.content_height = 0;
  for (const TimelineRow& row : state.rows) state.content_height += ui.px(row.height);
  reveal_event(frame);
  state.scroll = std::round(std::clamp(state.scroll, 0.0F, std::max(0.0F, state.content_height - frame.rows.height())));
  place_rows(frame);
  frame.lanes_texture.begin(
      frame.view.width, static_cast<int>(frame.canvas_x), static_cast<int>(ui.px(size::kLane)),
      {static_cast<int>(ui.px(size::kHatchStep)), ui.scale(), ui.colour(Colour::hatch), ui.colour(Colour::hatch_bg)});
  state.complete = true;
  std::vector<StripTask> tasks;
  for (std::size_t i = 0; i < state.lane_count; ++i) {
    DrawnLane& drawn = state.lanes[i];
    const LaneSnapshot& lane = frame.snapshot.lanes[drawn.lane];
    const bool same = drawn.built_from == lane.data.get() && drawn.built_clock == lane.clock.get() &&
                      drawn.built_events == lane.event_count && drawn.built_view == frame.view && drawn.strip.complete;
    if (same) continue;
    drawn.built_from = lane.data.get();
    drawn.built_clock = lane.clock.get();
    drawn.built_events = lane.event_count;
    drawn.built_view = frame.view;
    tasks.push_back({&lane, &state.windows.lane(lane), &drawn.strip});
  }
  state.crew.build(tasks, frame.view);
  for (std::size_t i = 0; i < state.lane_count; ++i) {
    DrawnLane& drawn = state.lanes[i];
    drawn.texture_row = frame.lanes_texture.add(drawn.strip.texels);
    state.complete = state.complete && drawn.strip.complete;
  }
  for (DrawnRow& drawn : state.drawn_rows) {
    const TimelineRow& row = state.rows[drawn.row];
    if (row.kind == RowKind::group && !row.open && !row.lanes.empty()) summarise(frame, drawn);
  }
}

void draw_lanes(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  Ui& ui = frame.ui;
  const LanePainter painter(ui, frame.list, frame.lanes_texture, *frame.snapshot.strings);
  frame.list->PushClipRect(low(frame.rows), high(frame.rows), true);
  for (const DrawnRow& drawn : state.drawn_rows) {
    TimelineRow& row = state.rows[drawn.row];
    const Rect label = frame.label(drawn.rect).intersected(frame.rows);
    const Rect canvas = frame.canvas(drawn.rect);
    const Interaction touch = interact(ui, "timeline.label." + row.key, label);
    const bool hovered = touch.hovered || canvas.intersected(frame.rows).contains(ui.input().mouse);
    frame.list->AddRectFilled(low(canvas), high(canvas), row_background(frame, row, false));
    draw_grid(frame, canvas, row);
    if (touch.clicked && (row.kind == RowKind::group || row.has_children)) {
      frame.tab.change([&](ViewChoices& choices) { choices.rows.open[row.key] = !row.open; });
    }
    std::string value;
    switch (row.kind) {
      case RowKind::group:
        value = row.count;
        if (drawn.summary_row >= 0) {
          frame.lanes_texture.draw_row(frame.list, canvas.inset(0, ui.px(3)), drawn.summary_row);
        }
        break;
      case RowKind::slices:
        value = draw_slices(frame, drawn, painter);
        break;
      case RowKind::counter:
        value = draw_counter(frame, drawn);
        break;
      case RowKind::memory:
        break;
    }
    if (row.kind == RowKind::memory) {
      draw_label(frame, drawn, {}, hovered);
      value = draw_memory(frame, drawn);
      const Rect number{label.x0, drawn.rect.y0, label.x1 - ui.px(size::kLaneValueInset),
                        drawn.rect.y0 + ui.px(size::kLane)};
      draw_text(ui, frame.list, number, value,
                {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::right, .fit = Fit::clip});
    } else {
      draw_label(frame, drawn, value, hovered && row.kind != RowKind::group);
    }
  }
  frame.list->PopClipRect();
}

std::optional<EventId> event_under(const TimelineFrame& frame, Point at, bool closely) {
  if (!frame.canvas(frame.rows).contains(at)) return {};
  const TimelineState& state = frame.state;
  for (std::size_t i = 0; i < state.lane_count; ++i) {
    const DrawnLane& lane = state.lanes[i];
    if (at.y < lane.rect.y0 || at.y >= lane.rect.y1) continue;
    const double x = static_cast<double>(at.x - frame.canvas_x);
    for (const WideSlice& slice : lane.strip.slices) {
      if (x >= slice.x0 && x < slice.x1) return slice.id;
    }
    if (!closely || !frame.tab.reader) return {};
    const double slack = std::max(1.0, frame.view.ns_per_pixel());
    const Result<std::optional<EventId>> found = frame.tab.reader->event_at(
        frame.snapshot.lanes[lane.lane], static_cast<std::int64_t>(frame.ns(at.x)), static_cast<std::int64_t>(slack));
    if (!found) {
      frame.tab.last_error = found.message();
      return {};
    }
    return *found;
  }
  return {};
}

std::optional<Rect> event_rect(const TimelineFrame& frame, const EventRecord& event) {
  const TimelineState& state = frame.state;
  for (std::size_t i = 0; i < state.lane_count; ++i) {
    const DrawnLane& lane = state.lanes[i];
    if (frame.snapshot.lanes[lane.lane].number() != lane_of(event.id)) continue;
    const float x0 = frame.x(static_cast<double>(event.begin_ns));
    const float x1 = frame.x(static_cast<double>(event.end_ns));
    return Rect{std::round(std::max(x0, frame.canvas_x - 8)), lane.rect.y0,
                std::max(std::round(std::min(x1, frame.rows.x1 + 8)) - 1, std::round(x0) + 1), lane.rect.y1};
  }
  return {};
}

}  // namespace accelscope::app
