// The use of the pool over time: areas or lines, and the four lines that tell capacity, peak, total and cursor apart.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/content/axes/axes.h"
#include "app/panels/memory/panel.h"
#include "app/panels/rect_batch.h"
#include "core/base/format.h"
#include "imgui.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {
float to_pixels(double value) { return static_cast<float>(value); }
}  // namespace

float MemoryPanel::Plot::x_of(std::int64_t ns) const noexcept {
  const double share = (static_cast<double>(ns) - static_cast<double>(range.begin_ns)) /
                       std::max(1.0, static_cast<double>(range.length_ns()));
  return rect.x0 + to_pixels(std::clamp(share, -20.0, 20.0)) * rect.width();
}

std::int64_t MemoryPanel::Plot::time_at(float x) const noexcept {
  const double share = static_cast<double>(x - rect.x0) / std::max(1.0, static_cast<double>(rect.width()));
  return range.begin_ns + std::llround(share * static_cast<double>(range.length_ns()));
}

float MemoryPanel::Plot::y_of(double bytes) const noexcept {
  return rect.y1 - to_pixels(bytes / static_cast<double>(most)) * rect.height();
}

void MemoryPanel::draw_axis(const PanelContext& context, const Plot& plot, const Places& places) const {
  Ui& ui = context.ui;
  const Rect& axis = places.axis;
  fill(ui, plot.rect, ui.colour(Colour::bg1));
  for (const TimeTick& tick : time_ticks(plot.range, static_cast<std::size_t>(plot.rect.width() / ui.px(110)) + 1)) {
    const float x = std::round(plot.x_of(tick.ns));
    vertical_line(ui, x, axis.y0 + ui.px(12), axis.y1, ui.colour(Colour::line2));
    vertical_line(ui, x, plot.rect.y0, plot.rect.y1, ui.colour(Colour::line1));
    if (x + ui.px(4) + text_width(ui, TextStyle::mono_small, tick.text) > plot.rect.x1) continue;
    draw_text(ui, {x + ui.px(4), axis.y0, plot.rect.x1, axis.y1}, tick.text,
              {.style = TextStyle::mono_small, .colour = Colour::text3, .fit = Fit::clip});
  }
  horizontal_line(ui, axis.x0, axis.x1, axis.y1, ui.colour(Colour::line2));
}

void MemoryPanel::draw_usage(const PanelContext& context, const Places& places, const Plot& plot) {
  Ui& ui = context.ui;
  const Rect& area = places.usage;
  draw_scale(context, plot, {area.x0, plot.rect.y0, plot.rect.x0, plot.rect.y1});
  static_cast<void>(handle_plot(context, plot, "memory.plot", usage_hand_));
  // After the hand, which moves the cursor.
  if (places.has_titles) draw_title(context, {area.x0, area.y0, area.x1, plot.rect.y0}, places);
  ui.draw()->PushClipRect({plot.rect.x0, plot.rect.y0}, {plot.rect.x1, plot.rect.y1}, true);
  draw_areas(context, plot);
  ui.draw()->PopClipRect();
  draw_capacity(context, plot);
  draw_peak(context, plot);
}

void MemoryPanel::draw_title(const PanelContext& context, Rect title, const Places& places) {
  Ui& ui = context.ui;
  const PoolUsage& chosen = pool();
  begin_title(context, places, "Usage", title);
  const std::string exact = (chosen.estimated ? "≈ " : "") +
                            format_count(usage_->used_at(chosen_pool_, cursor(context))) + " B at the cursor";
  if (text_width(ui, TextStyle::mono_small, exact) > title.width()) return;
  title.cut_right(
      draw_text(ui, title, exact, {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right}) +
      ui.px(16));
  std::string hint = (filter_note_.empty() ? "" : filter_note_ + "; ") + chosen.name;
  if (chosen.sampled) {
    hint += ", " + chosen.note;
  } else {
    hint += ", " + format_count(chosen.allocation_count) + " allocations, " + format_count(chosen.never_freed) +
            " never freed" + (chosen.note.empty() ? "" : "; estimated: " + chosen.note);
    if (!chosen.reserved.empty()) {
      const std::uint64_t held = usage_->reserved_at(chosen_pool_, cursor(context));
      hint += "; upper line: " + format_bytes(static_cast<double>(held)) + " held by the allocator at the cursor";
    }
  }
  draw_text(ui, title, hint, {.style = TextStyle::small, .colour = Colour::text3});
  tooltip(ui, interact(ui, "memory.hint", title), title, hint);
}

void MemoryPanel::draw_scale(const PanelContext& context, const Plot& plot, const Rect& labels) const {
  Ui& ui = context.ui;
  const auto count = static_cast<std::size_t>(std::max(1.0F, plot.rect.height() / ui.px(36)));
  std::vector<std::uint64_t> ticks = byte_ticks(plot.most, count);
  if (plot.is_tight) ticks = {pool().peak_bytes};
  ticks.insert(ticks.begin(), 0);
  for (const std::uint64_t tick : ticks) {
    const float y = std::round(plot.y_of(static_cast<double>(tick)));
    horizontal_line(ui, plot.rect.x0, plot.rect.x1, y, ui.colour(Colour::line1));
    draw_text(ui, {labels.x0, y - ui.px(8), labels.x1 - ui.px(8), y + ui.px(8)},
              format_bytes(static_cast<double>(tick)),
              {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
  }
}

// Upright pieces join the level ones; short pieces of a dashed line are whole.
void MemoryPanel::draw_line(const PanelContext& context, const Plot& plot, const std::vector<UsageRun>& line,
                            Pixel colour, bool dashed) const {
  const Ui& ui = context.ui;
  const float from = plot.x_of(data_->key.range.begin_ns);
  const float step = (plot.x_of(data_->key.range.end_ns) - from) / static_cast<float>(data_->key.pixels);
  const float thick = ui.px(1);
  const float shortest_dashed = ui.px(8);
  RectBatch batch(*ui.draw());
  float last_y = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const float x0 = from + step * static_cast<float>(line[i].begin);
    const float x1 = from + step * static_cast<float>(line[i].end);
    const float y = std::round(plot.y_of(static_cast<double>(line[i].top)));
    if (i > 0) batch.add(x0, std::min(y, last_y), x0 + thick, std::max(y, last_y) + thick, colour);
    if (dashed && x1 - x0 > shortest_dashed) {
      dashed_line(ui, ui.draw(), {x0, y + thick / 2}, {x1, y + thick / 2}, colour);
    } else {
      batch.add(x0, y, x1, y + thick, colour);
    }
    last_y = y;
  }
}

void MemoryPanel::draw_areas(const PanelContext& context, const Plot& plot) const {
  Ui& ui = context.ui;
  if (!data_ || data_->key.pool != chosen_pool_ || data_->stack.total.empty()) return;
  const float from = plot.x_of(data_->key.range.begin_ns);  // of the data, which may be a frame behind the range
  const float step = (plot.x_of(data_->key.range.end_ns) - from) / static_cast<float>(data_->key.pixels);
  for (const UsageSeries& series : data_->series) {
    const Pixel slice = series.is_other ? ui.colour(Colour::bg4) : ui.theme().slice(series.slot);
    if (!stacked_) {
      draw_line(context, plot, series.line, series.is_other ? ui.colour(Colour::text3) : slice, false);
      continue;
    }
    const Pixel colour = ui.theme().area(slice);
    RectBatch batch(*ui.draw());
    for (const UsageRun& run : series.areas) {
      batch.add(from + step * static_cast<float>(run.begin), plot.y_of(static_cast<double>(run.top)),
                from + step * static_cast<float>(run.end), plot.y_of(static_cast<double>(run.bottom)), colour);
    }
  }
  if (stacked_) draw_area_names(context, plot);
  draw_line(context, plot, data_->reserved, ui.colour(Colour::warning), false);
  draw_line(context, plot, data_->total, ui.colour(Colour::text1), pool().estimated || pool().sampled);
}

// The name and the most it holds, or the name alone, in the longest stretch in which the area is tall enough for it.
void MemoryPanel::draw_area_names(const PanelContext& context, const Plot& plot) const {
  Ui& ui = context.ui;
  const float from = plot.x_of(data_->key.range.begin_ns);
  const float step = (plot.x_of(data_->key.range.end_ns) - from) / static_cast<float>(data_->key.pixels);
  for (const UsageSeries& series : data_->series) {
    if (!series.label) continue;
    const Rect place{
        from + step * static_cast<float>(series.label->begin), plot.y_of(static_cast<double>(series.label->top)),
        from + step * static_cast<float>(series.label->end), plot.y_of(static_cast<double>(series.label->bottom))};
    const std::string name = series.name.empty() ? "unnamed" : series.name;
    const std::string text = name + "  " + format_bytes(static_cast<double>(series.most));
    const float room = place.width() - ui.px(8);
    const bool whole = text_width(ui, TextStyle::mono_small, text) <= room;
    if (!whole && text_width(ui, TextStyle::mono_small, name) > room) continue;
    draw_text(ui, place, whole ? text : name,
              {.style = TextStyle::mono_small,
               .colour = series.is_other ? Colour::text1 : Colour::ink,
               .align = Align::centre});
  }
}

// What lies under the pointer: the tensor's share of the use at that time. The card stands beside the pointer's column.
void MemoryPanel::explain_usage(const PanelContext& context, const Plot& plot) {
  Ui& ui = context.ui;
  const Point at = ui.input().mouse;
  if (!hovered_ns_ || !plot.rect.contains(at) || usage_hand_.drag_from_x || usage_hand_.pan_from_x) return;
  if (!data_ || data_->key.pool != chosen_pool_ || data_->key.range != plot.range || data_->stack.total.empty()) return;
  const double share = static_cast<double>((at.x - plot.rect.x0) / plot.rect.width());
  const std::size_t pixel =
      std::min(static_cast<std::size_t>(share * static_cast<double>(data_->key.pixels)), data_->key.pixels - 1);
  const double above = static_cast<double>((plot.rect.y1 - at.y) / plot.rect.height()) * static_cast<double>(plot.most);
  const auto series = series_at(data_->stack, pixel, static_cast<std::uint64_t>(std::max(0.0, above)));
  if (!stacked_ || !series) return;
  if (!rests_on(ui, "area " + data_->series[*series].name)) return;
  const std::uint64_t bytes = data_->stack.values[*series][pixel];
  const std::uint64_t total = data_->stack.total[pixel];
  HoverCard card;
  const UsageSeries& shown = data_->series[*series];
  card.title = shown.name.empty() ? "unnamed" : shown.name;
  card.title_value = bytes_text(bytes);
  card.swatch = shown.is_other ? ui.colour(Colour::bg4) : ui.theme().slice(shown.slot);
  card.rows.push_back({.label = "Share of what is in use",
                       .value = format_share(static_cast<double>(bytes) / static_cast<double>(total))});
  card.rows.push_back({.label = "In use", .value = bytes_text(total)});
  if (shown.is_other) card.footer = "Smaller allocations, and tensors after the ten largest in sight";
  hover_card(ui, card, {at.x - ui.px(8), plot.rect.y0, at.x + ui.px(8), plot.rect.y1});
}

void MemoryPanel::draw_capacity(const PanelContext& context, const Plot& plot) const {
  const std::optional<std::uint64_t> capacity = pool().capacity_bytes;
  if (!capacity) return;
  Ui& ui = context.ui;
  const bool above = *capacity > plot.most;
  if (above && plot.is_tight) return;
  std::string text = "Capacity " + format_bytes(static_cast<double>(*capacity));
  if (above) text += ", above this scale";
  const float y = above ? plot.rect.y0 + ui.px(7) : std::round(plot.y_of(static_cast<double>(*capacity))) + 0.5F;
  const float begin = plot.rect.x0 + ui.px(10);
  const float end = begin + text_width(ui, TextStyle::small, text) + ui.px(8);
  if (!above) dashed_line(ui, ui.draw(), {plot.rect.x0, y}, {begin, y}, ui.colour(Colour::text3), 6, 3);
  if (!above) dashed_line(ui, ui.draw(), {end, y}, {plot.rect.x1, y}, ui.colour(Colour::text3), 6, 3);
  draw_text(ui, {begin + ui.px(4), y - ui.px(8), end, y + ui.px(8)}, text,
            {.style = TextStyle::small, .colour = Colour::text2, .fit = Fit::clip});
}

void MemoryPanel::draw_peak(const PanelContext& context, const Plot& plot) {
  Ui& ui = context.ui;
  const PoolUsage& chosen = pool();
  if (chosen.peak_bytes == 0) return;
  const float y = std::round(plot.y_of(static_cast<double>(chosen.peak_bytes))) + 0.5F;
  dashed_line(ui, ui.draw(), {plot.rect.x0, y}, {plot.rect.x1, y}, ui.colour(Colour::text2), 3, 2);
  if (plot.is_tight) return;  // the scale tells it
  std::string text = "Peak " + bytes_text(chosen.peak_bytes);
  if (!chosen.stated_steps.empty()) {
    text = fmt::format("Peak stated {}, of recorded allocations {}", bytes_text(chosen.stated_peak.bytes),
                       bytes_text(chosen.peak_bytes));
  }
  if (chosen.capacity_bytes) {
    text += ", " + format_share(static_cast<double>(chosen.peak_bytes) / static_cast<double>(*chosen.capacity_bytes));
  }
  if (chosen.peak_ns < plot.range.begin_ns) text += ", earlier";
  if (chosen.peak_ns > plot.range.end_ns) text += ", later";
  const float width = text_width(ui, TextStyle::small_strong, text) + ui.px(12);
  const float bottom = std::max(y - ui.px(1), plot.rect.y0 + ui.px(17));
  // At the right edge, but not over the peak itself, where the cursor often stands.
  const bool in_view = chosen.peak_ns >= plot.range.begin_ns && chosen.peak_ns <= plot.range.end_ns;
  const float beside = plot.x_of(chosen.peak_ns) - ui.px(8);
  const bool covers = in_view && beside > plot.rect.x1 - width - ui.px(12) && beside - width > plot.rect.x0;
  const float right = covers ? std::min(beside, plot.rect.x1) : plot.rect.x1;
  const Rect chip{right - width, bottom - ui.px(17), right, bottom};
  const Interaction hand = interact(ui, "memory.peak_chip", chip);
  tooltip(ui, hand, chip, "Go to the peak, at " + format_time_exact(chosen.peak_ns));
  if (hand.hovered) set_cursor(Cursor::hand);
  fill(ui, chip, ui.colour(hand.hovered ? Colour::accent_bg : Colour::bg4), size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::small_strong, .align = Align::centre});
  if (hand.clicked) go_to_peak(context);
  if (!in_view) return;
  const float x = plot.x_of(chosen.peak_ns);
  const float half = ui.px(4);
  ui.draw()->AddTriangleFilled({x - half, y - ui.px(8)}, {x + half, y - ui.px(8)}, {x, y - ui.px(1)},
                               ui.colour(Colour::text1));
  const std::string when = format_time_exact(chosen.peak_ns);
  const float when_width = text_width(ui, TextStyle::mono_small, when);
  const float right_x = x + half + ui.px(4);
  const float room = covers ? plot.rect.x1 : chip.x0;
  const bool left = right_x + when_width > room;
  const float when_x = left ? std::min(x - half, chip.x0) - ui.px(4) - when_width : right_x;
  if (when_x < plot.rect.x0) return;
  draw_text(ui, {when_x, y - ui.px(16), when_x + when_width, y - ui.px(1)}, when,
            {.style = TextStyle::mono_small, .colour = Colour::text2, .fit = Fit::clip});
}

}  // namespace accelscope::app
