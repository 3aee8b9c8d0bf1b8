#include <limits>

#include "app/session/analysis.h"
#include "app/timeline/frame.h"
#include "core/base/format.h"
#include "core/model/palette.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

// Rows that plot values: counters, alone or several in one row, and memory pools.

namespace {

constexpr std::size_t kMemorySeries = 8;

[[nodiscard]] double highest_of(const TimelineFrame& frame, const LaneSnapshot& lane) {
  CounterScale& scale = frame.state.counter_scales[lane.number()];
  if (scale.version == frame.snapshot.version) return scale.highest;
  scale.version = frame.snapshot.version;
  scale.highest = 0;
  if (lane.data->kind != EventKind::counter) return 0;
  for (std::size_t level = kTreeLevels; level-- > 0;) {
    const std::size_t parents = level + 1 < kTreeLevels ? lane.tree.nodes[level + 1] : 0;
    for (std::size_t i = parents * kTreeFanout; i < lane.tree.nodes[level]; ++i) {
      scale.highest = std::max<double>(scale.highest, lane.data->counters.node(level, i).max);
    }
  }
  return scale.highest;
}

// The highest value of the row's scale; what is stacked adds up.
[[nodiscard]] double scale_of(const TimelineFrame& frame, const rows::TimelineRow& row) {
  double highest = 0;
  for (const std::uint32_t index : row.scale_lanes) {
    const double own = highest_of(frame, frame.snapshot.lanes[index]);
    highest = row.counters == rows::CounterMode::stacked ? highest + own : std::max(highest, own);
  }
  return highest;
}

[[nodiscard]] std::optional<double> value_at_cursor(const TimelineFrame& frame, const CounterStrip& strip) {
  if (!frame.tab.cursor_ns) return {};
  const double x = frame.view.x(static_cast<double>(*frame.tab.cursor_ns));
  if (x < 0 || x >= frame.view.width) return {};
  const double value = strip.last[static_cast<std::size_t>(x)];
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

// Adds the counter on top of those in `below`, which are values by pixel.
void stack_counter(TimelineFrame& frame, const Rect& canvas, const CounterStrip& strip, Pixel colour, double scale,
                   bool line, std::vector<float>& below) {
  Ui& ui = frame.ui;
  const float height = (canvas.height() - ui.px(4)) / static_cast<float>(scale > 0 ? scale : 1);
  const auto y_of = [&](float value) {
    const float above = std::max(value, 0.0F) * height;
    return std::round(canvas.y1 - (above >= 0 ? std::min(above, canvas.height()) : 0));
  };
  const std::size_t width = below.size();
  for (std::size_t begin = 0; begin < width;) {
    const auto value = static_cast<float>(strip.last[begin]);
    std::size_t end = begin + 1;
    while (end < width && static_cast<float>(strip.last[end]) == value && below[end] == below[begin]) ++end;
    if (!std::isnan(value)) {
      const float x0 = canvas.x0 + static_cast<float>(begin);
      const float x1 = canvas.x0 + static_cast<float>(end);
      const float top = y_of(below[begin] + value);
      const float bottom = line ? top + ui.px(1) : y_of(below[begin]);
      fill(ui, {x0, top, x1, bottom}, line ? colour : ui.theme().area(colour));
      for (std::size_t i = begin; i < end; ++i) below[i] += value;
    }
    begin = end;
  }
}

// The values at the pointer, with the names of their counters.
void explain_values(TimelineFrame& frame, const DrawnRow& drawn, std::vector<HoverCardRow> values) {
  const Point mouse = frame.ui.input().mouse;
  const Rect seen = frame.canvas(drawn.rect.intersected(drawn.clip));
  if (!frame.tab.cursor_ns || frame.state.gesture != Gesture::none || !seen.contains(mouse)) return;
  if (!ImGui::IsWindowHovered()) return;
  HoverCard card;
  if (values.size() == 1) {
    card.title = values.front().label;
    card.title_value = values.front().value;
  } else {
    card.title = frame.state.rows[drawn.row].label;
    card.rows = std::move(values);
  }
  hover_card(frame.ui, card, {mouse.x - 1, seen.y0, mouse.x + 1, seen.y1});
}

// Which colour is which, below the row's name.
void draw_legend(TimelineFrame& frame, const DrawnRow& drawn, const std::vector<std::string>& names) {
  Ui& ui = frame.ui;
  const Rect label = frame.label(drawn.rect);
  const std::size_t named = std::min<std::size_t>(names.size(), 6);
  const float width = label.width() - ui.px(size::kLaneIndent + size::kLaneValueInset);
  const float swatch = ui.px(8 + 5 + 4);
  // As many as can be read, the largest first.
  std::size_t columns = std::clamp<std::size_t>((named + 1) / 2, 1, 3);
  const auto cuts = [&](std::size_t of_columns) {
    return std::any_of(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(named, 2 * of_columns)),
                       [&](const std::string& name) {
                         return text_width(ui, TextStyle::mono_small, name) + swatch >
                                width / static_cast<float>(of_columns);
                       });
  };
  while (columns > 1 && cuts(columns)) --columns;
  const float column_width = width / static_cast<float>(columns);
  for (std::size_t series = 0; series < std::min(named, 2 * columns); ++series) {
    const float column = static_cast<float>(series % columns) * column_width;
    const std::size_t line_number = series / columns;
    const float line = static_cast<float>(line_number) * ui.px(16);
    Rect entry{label.x0 + ui.px(size::kLaneIndent) + column, label.y0 + ui.px(size::kLane) + line, 0, 0};
    entry.x1 = entry.x0 + column_width - ui.px(4);
    entry.y1 = entry.y0 + ui.px(16);
    const Pixel colour = ui.theme().slice(palette_slot(names[series]));
    const float side = ui.px(8);
    const float top = std::round(entry.centre().y - side / 2);
    frame.list->AddRectFilled(ImVec2(entry.x0, top), ImVec2(entry.x0 + side, top + side), colour, ui.scale() * 2);
    entry.x0 += side + ui.px(5);
    draw_text(ui, entry, names[series],
              {.style = TextStyle::mono_small,
               .colour = Colour::text2,
               .fit = Fit::middle,
               .beside = std::span(names).first(named)});
  }
}

constexpr double kStretchPixels = 3;  // at 100 %: narrower ones would say when it is busy, and not how much

[[nodiscard]] std::string value_text(const analysis::DerivedCounter& counter, double value) {
  constexpr double kHardlyAny = 0.001;
  if (counter.kind == analysis::DerivedCounter::Kind::queue_depth)
    return value > 0 && value < kHardlyAny ? "<0.001" : format_value(value, "");
  return format_value(value, counter.kind == analysis::DerivedCounter::Kind::launch_latency ? "ns" : "share");
}

// The value at the pointer, what it is a share of, and how long the stretches are.
void explain(TimelineFrame& frame, const DrawnRow& drawn, const std::string& value) {
  const Point mouse = frame.ui.input().mouse;
  const Rect seen = frame.canvas(drawn.rect.intersected(drawn.clip));
  if (!frame.tab.cursor_ns || frame.state.gesture != Gesture::none || !seen.contains(mouse)) return;
  if (!ImGui::IsWindowHovered()) return;
  const analysis::DerivedCounter& counter = *frame.state.rows[drawn.row].derived;
  HoverCard card;
  card.title = counter.name;
  card.title_value = value;
  if (const content::DerivedValues::Answer* answer = frame.state.derived.answer()) {
    card.rows.push_back({"Stretches of", format_duration(answer->stretch_ns)});
  }
  card.footer = "Derived: " + counter.formula;
  hover_card(frame.ui, card, {mouse.x - 1, seen.y0, mouse.x + 1, seen.y1});
}

}  // namespace

std::string percent(double share) {
  const double value = share * 100;
  // A lane that is hardly busy is not idle.
  if (value > 0 && value < 0.5) return "<1 %";
  return fmt::format("{:.0f} %", value);
}

std::string draw_counter(TimelineFrame& frame, const DrawnRow& drawn) {
  const rows::TimelineRow& row = frame.state.rows[drawn.row];
  if (row.lanes.empty()) return "–";
  const bool shared = row.counters != rows::CounterMode::separate;
  const std::string& unit = row.series.front()->unit;
  const double scale = scale_of(frame, row);
  const Rect canvas = frame.canvas(drawn.rect);
  CounterStrip& strip = frame.state.counter;
  std::vector<float> below(static_cast<std::size_t>(frame.view.width));
  std::vector<std::string> names;
  std::vector<HoverCardRow> values;
  double sum = 0;
  bool any = false;
  for (std::size_t i = 0; i < row.lanes.size(); ++i) {
    const LaneSnapshot& lane = frame.snapshot.lanes[row.lanes[i]];
    build_counter_strip(lane, &frame.state.windows.lane(lane), frame.view, strip);
    frame.state.complete = frame.state.complete && strip.complete;
    names.push_back(row.series[i]->name);
    const std::optional<double> value = value_at_cursor(frame, strip);
    values.push_back({names.back(), value ? format_value(*value, unit) : "–"});
    if (!strip.any) continue;
    any = true;
    sum += value.value_or(strip.mean);
    const Pixel colour = frame.ui.theme().slice(palette_slot(names.back()));
    if (row.counters == rows::CounterMode::stacked) {
      stack_counter(frame, canvas, strip, colour, scale, row.counter_line, below);
      continue;
    }
    const double top = row.own_scales ? highest_of(frame, lane) : scale;
    const bool last = i + 1 == row.lanes.size() && !row.own_scales;  // one mark for what is the scale of all
    paint_counter(frame.ui, frame.list,
                  {strip, canvas, colour, top, last ? format_value(scale, unit) : "", !row.counter_line && !shared});
  }
  if (shared && row.size != rows::RowSize::small) draw_legend(frame, drawn, names);
  explain_values(frame, drawn, std::move(values));
  if (!any) return "–";
  return row.counters == rows::CounterMode::overlaid ? std::string() : format_value(sum, unit);
}

std::string draw_memory(TimelineFrame& frame, const DrawnRow& drawn) {
  const rows::TimelineRow& row = frame.state.rows[drawn.row];
  const auto memory = frame.tab.analysis ? frame.tab.analysis->memory() : nullptr;
  if (!memory || row.pool >= memory->pools.size()) return "–";
  Ui& ui = frame.ui;
  const analysis::PoolUsage& pool = memory->pools[row.pool];
  const TimeRange range{whole_time(frame.view.begin_ns), whole_time(frame.view.end_ns)};
  const auto stack = frame.state.usage_stacks.get(*frame.tab.analysis, memory, row.pool, range,
                                                  static_cast<std::size_t>(frame.view.width), kMemorySeries);
  if (!stack || stack->key.range != range || stack->usage != memory) frame.state.complete = false;
  if (!stack) return "–";
  const Rect canvas = frame.canvas(drawn.rect);
  const double scale = (canvas.height() - ui.px(4)) / std::max<double>(1, static_cast<double>(pool.peak_bytes));
  // The stack may be of the view before: it lies where its own time is.
  const double per_ns = static_cast<double>(frame.view.width) / (frame.view.end_ns - frame.view.begin_ns);
  const double from = (static_cast<double>(stack->key.range.begin_ns) - frame.view.begin_ns) * per_ns;
  const double step = static_cast<double>(stack->key.range.length_ns()) * per_ns /
                      static_cast<double>(std::max<std::size_t>(stack->key.pixels, 1));
  const bool is_older = frame.tab.analysis->memory_state().is_older() || stack->usage != memory;
  const std::vector<analysis::PoolStep>& known = stack->usage->pool(row.pool).steps;
  // What is not added up yet is left open: it is no use that stays as it is.
  const double known_to =
      is_older && !known.empty() ? frame.view.x(static_cast<double>(known.back().ns)) : canvas.width();
  std::vector<std::string> names;
  for (const content::UsageSeries& series : stack->series) {
    names.push_back(series.name);
    const Pixel colour = ui.theme().area(ui.theme().slice(series.slot));
    for (const content::UsageRun& run : series.areas) {
      const double x0 = std::clamp(from + step * run.begin, 0.0, static_cast<double>(canvas.width()));
      const double x1 = std::clamp(std::min(from + step * run.end, known_to), x0, static_cast<double>(canvas.width()));
      const float y1 = canvas.y1 - static_cast<float>(static_cast<double>(run.bottom) * scale);
      const float y0 = canvas.y1 - static_cast<float>(static_cast<double>(run.top) * scale);
      fill(ui, {canvas.x0 + static_cast<float>(x0), std::round(y0), canvas.x0 + static_cast<float>(x1), std::round(y1)},
           colour);
    }
  }
  if (row.size != rows::RowSize::small) draw_legend(frame, drawn, names);  // the largest tensors
  // At the cursor, else the most in the view.
  const auto most = std::ranges::max_element(stack->stack.total);
  std::uint64_t bytes = most == stack->stack.total.end() ? 0 : *most;
  if (frame.tab.cursor_ns) bytes = memory->used_at(row.pool, *frame.tab.cursor_ns);
  return format_bytes(bytes) + (is_older ? " …" : "");
}

// Counters that no source recorded: their values come from the workers and are drawn like recorded ones.

void want_derived(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  if (!frame.tab.analysis) return;
  rows::DerivedCounters seen;
  for (const DrawnRow& drawn : state.drawn_rows) {
    const rows::TimelineRow& row = state.rows[drawn.row];
    if (row.kind == rows::RowKind::derived) seen.push_back(row.derived);
  }
  state.derived.want(*frame.tab.analysis, frame.snapshot, seen, frame.view,
                     kStretchPixels * static_cast<double>(frame.ui.scale()));
  if (!state.derived.error().empty()) frame.tab.last_error = state.derived.error();
}

std::string draw_derived(TimelineFrame& frame, const DrawnRow& drawn) {
  const analysis::DerivedCounter& counter = *frame.state.rows[drawn.row].derived;
  CounterStrip& strip = frame.state.counter;
  if (!frame.state.derived.strip(counter, frame.view, strip)) return "…";
  const Rect canvas = frame.canvas(drawn.rect);
  const double scale = frame.state.derived.scale(counter);
  const Pixel colour = frame.ui.theme().slice(palette_slot(counter.name));
  if (strip.any) {
    paint_counter(frame.ui, frame.list, {strip, canvas, colour, scale, value_text(counter, scale), true});
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double value = strip.any ? strip.mean : kNone;
  if (frame.tab.cursor_ns) {
    const double x = frame.view.x(static_cast<double>(*frame.tab.cursor_ns));
    const bool inside = x >= 0 && x < frame.view.width;
    value = inside ? strip.last[static_cast<std::size_t>(x)] : kNone;
    // Of shares, where nothing is there is nothing at work.
    if (std::isnan(value) && strip.any && !counter.is_of_launches()) value = 0;
  }
  const std::string text = std::isnan(value) ? "–" : value_text(counter, value);
  explain(frame, drawn, text);
  return frame.state.derived.is_older() ? text + " …" : text;
}

}  // namespace accelscope::app::timeline
