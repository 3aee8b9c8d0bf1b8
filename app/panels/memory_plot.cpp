// The use of the pool over time: areas or lines, and the four lines that tell capacity, peak, total and cursor apart.
#include <algorithm>
#include <cmath>

#include "app/panels/memory_panel.h"
#include "app/time_axis.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "imgui.h"
#include "render/widgets/layout.h"

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

Pixel MemoryPanel::colour_of(const Ui& ui, std::string_view group) const {
  return ui.theme().slice(palette_slot(group));
}

void MemoryPanel::draw_usage(const PanelContext& context, const Rect& area, const Plot& plot, const Rect& axis) {
  Ui& ui = context.ui;
  fill(ui, plot.rect, ui.colour(Colour::bg1));
  draw_scale(context, plot, {area.x0, plot.rect.y0, plot.rect.x0, plot.rect.y1});
  for (const TimeTick& tick : time_ticks(plot.range, static_cast<std::size_t>(plot.rect.width() / ui.px(110)) + 1)) {
    const float x = std::round(plot.x_of(tick.ns));
    vertical_line(ui, x, axis.y0 + ui.px(12), axis.y1, ui.colour(Colour::line2));
    vertical_line(ui, x, plot.rect.y0, plot.rect.y1, ui.colour(Colour::line1));
    draw_text(ui, {x + ui.px(4), axis.y0, plot.rect.x1, axis.y1}, tick.text,
              {.style = TextStyle::mono_small, .colour = Colour::text3, .fit = Fit::clip});
  }
  horizontal_line(ui, area.x0, area.x1, axis.y1, ui.colour(Colour::line2));
  static_cast<void>(handle_plot(context, plot, "memory.plot", usage_drag_from_x_));
  draw_title(context, {area.x0, area.y0, area.x1, plot.rect.y0});  // after the hand, which moves the cursor
  draw_areas(context, plot);
  draw_capacity(context, plot);
  draw_peak(context, plot);
}

void MemoryPanel::draw_title(const PanelContext& context, Rect title) const {
  Ui& ui = context.ui;
  const PoolUsage& chosen = pool();
  title = title.inset(ui.px(size::kPanelPadding + 4), 0);
  const std::string exact = format_count(usage_->used_at(chosen_pool_, cursor(context))) + " B at the cursor";
  title.cut_right(draw_text(ui, title, (chosen.estimated ? "≈ " : "") + exact,
                            {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right}) +
                  ui.px(16));
  std::string hint = chosen.name;
  if (chosen.sampled) {
    hint += ", " + chosen.note;
  } else {
    hint += ", " + format_count(chosen.allocation_count) + " allocations, " + format_count(chosen.never_freed) +
            " never freed" + (chosen.note.empty() ? "" : "; estimated: " + chosen.note);
  }
  draw_text(ui, {title.x0 + text_width(ui, TextStyle::heading, "Usage") + ui.px(10), title.y0, title.x1, title.y1},
            hint, {.style = TextStyle::small, .colour = Colour::text3});
  heading(ui, title, "Usage");
}

void MemoryPanel::draw_scale(const PanelContext& context, const Plot& plot, const Rect& labels) const {
  Ui& ui = context.ui;
  const auto count = static_cast<std::size_t>(std::max(1.0F, plot.rect.height() / ui.px(36)));
  std::vector<std::uint64_t> ticks = byte_ticks(plot.most, count);
  ticks.insert(ticks.begin(), 0);
  for (const std::uint64_t tick : ticks) {
    const float y = std::round(plot.y_of(static_cast<double>(tick)));
    horizontal_line(ui, plot.rect.x0, plot.rect.x1, y, ui.colour(Colour::line1));
    draw_text(ui, {labels.x0, y - ui.px(8), labels.x1 - ui.px(8), y + ui.px(8)},
              format_bytes(static_cast<double>(tick)),
              {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
  }
}

void MemoryPanel::draw_line(const PanelContext& context, const Plot& plot, const std::vector<std::uint64_t>& values,
                            Pixel colour, bool dashed) const {
  const Ui& ui = context.ui;
  const Plot made{plot.rect, data_->key.range, 1};
  const double step = static_cast<double>(made.range.length_ns()) / static_cast<double>(values.size());
  const auto x_of = [&](std::size_t pixel) {
    return plot.x_of(made.range.begin_ns + static_cast<std::int64_t>(step * static_cast<double>(pixel)));
  };
  std::vector<ImVec2> line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float y = std::round(plot.y_of(static_cast<double>(values[i]))) + 0.5F;
    if (!line.empty() && line.back().y == y) continue;
    if (!line.empty()) line.emplace_back(x_of(i), line.back().y);
    line.emplace_back(x_of(i), y);
  }
  if (line.empty()) return;
  line.emplace_back(x_of(values.size()), line.back().y);
  if (!dashed) {
    ui.draw()->AddPolyline(line.data(), static_cast<int>(line.size()), colour, 0, ui.px(1));
    return;
  }
  for (std::size_t i = 1; i < line.size(); ++i) {
    dashed_line(ui, ui.draw(), {line[i - 1].x, line[i - 1].y}, {line[i].x, line[i].y}, colour);
  }
}

void MemoryPanel::draw_areas(const PanelContext& context, const Plot& plot) const {
  Ui& ui = context.ui;
  if (!data_ || data_->key.pool != chosen_pool_ || data_->stack.total.empty()) return;
  const StackedUsage& stack = data_->stack;
  ImDrawList* list = ui.draw();
  const std::size_t pixels = stack.total.size();
  const float from = plot.x_of(data_->key.range.begin_ns);  // of the data, which may be a frame behind the range
  const float step = (plot.x_of(data_->key.range.end_ns) - from) / static_cast<float>(pixels);
  list->PushClipRect({plot.rect.x0, plot.rect.y0}, {plot.rect.x1, plot.rect.y1}, true);
  std::vector<std::uint64_t> below(pixels, 0);
  for (std::size_t series = 0; series < stack.names.size(); ++series) {
    const std::vector<std::uint64_t>& values = stack.values[series];
    const bool other = series + 1 == stack.names.size() && stack.names[series] == "other";
    const Pixel slice = other ? ui.colour(Colour::bg4) : colour_of(ui, stack.names[series]);
    if (!stacked_) {
      draw_line(context, plot, values, other ? ui.colour(Colour::text3) : slice, false);
      continue;
    }
    const Pixel colour = ui.theme().area(slice);
    for (std::size_t begin = 0; begin < pixels;) {  // runs of equal height are one rectangle
      std::size_t end = begin + 1;
      while (end < pixels && values[end] == values[begin] && below[end] == below[begin]) ++end;
      if (values[begin] > 0) {
        list->AddRectFilled(
            {from + step * static_cast<float>(begin), plot.y_of(static_cast<double>(below[begin] + values[begin]))},
            {from + step * static_cast<float>(end), plot.y_of(static_cast<double>(below[begin]))}, colour);
      }
      begin = end;
    }
    draw_area_names(context, plot, series, below);
    for (std::size_t i = 0; i < pixels; ++i) below[i] += values[i];
  }
  draw_line(context, plot, stack.total, ui.colour(Colour::text1), pool().estimated || pool().sampled);
  list->PopClipRect();
}

// The name and the most it holds, in the longest stretch in which the area is tall enough for it.
void MemoryPanel::draw_area_names(const PanelContext& context, const Plot& plot, std::size_t series,
                                  const std::vector<std::uint64_t>& below) const {
  Ui& ui = context.ui;
  const std::vector<std::uint64_t>& values = data_->stack.values[series];
  const double per_byte = static_cast<double>(plot.rect.height()) / static_cast<double>(plot.most);
  const float from = plot.x_of(data_->key.range.begin_ns);
  const float step = (plot.x_of(data_->key.range.end_ns) - from) / static_cast<float>(values.size());
  const float height = ui.px(16);
  std::size_t best = 0, best_end = 0;
  for (std::size_t begin = 0; begin < values.size();) {
    double top = 1e300, bottom = -1;  // of what all pixels of the run have in common, in bytes
    std::size_t end = begin;
    for (; end < values.size(); ++end) {
      const double next_top = std::min(top, static_cast<double>(below[end] + values[end]));
      const double next_bottom = std::max(bottom, static_cast<double>(below[end]));
      if ((next_top - next_bottom) * per_byte < static_cast<double>(height)) break;
      top = next_top;
      bottom = next_bottom;
    }
    if (end - begin > best_end - best) {
      best = begin;
      best_end = end;
    }
    begin = std::max(end, begin + 1);
  }
  const std::string& name = data_->stack.names[series];
  const std::uint64_t most = *std::max_element(values.begin(), values.end());
  const std::string text = (name.empty() ? "unnamed" : name) + "  " + format_bytes(static_cast<double>(most));
  const float room = step * static_cast<float>(best_end - best) - ui.px(8);
  const bool whole = text_width(ui, TextStyle::mono_small, text) <= room;
  const std::string& shown = whole ? text : name;
  if (best_end <= best || text_width(ui, TextStyle::mono_small, shown) > room) return;
  double top = 1e300, bottom = -1;
  for (std::size_t i = best; i < best_end; ++i) {
    top = std::min(top, static_cast<double>(below[i] + values[i]));
    bottom = std::max(bottom, static_cast<double>(below[i]));
  }
  const float middle = (plot.y_of(top) + plot.y_of(bottom)) / 2;
  const bool other = series + 1 == data_->stack.names.size() && name == "other";
  draw_text(ui,
            {from + step * static_cast<float>(best), middle - height / 2, from + step * static_cast<float>(best_end),
             middle + height / 2},
            shown,
            {.style = TextStyle::mono_small, .colour = other ? Colour::text1 : Colour::ink, .align = Align::centre});
}

void MemoryPanel::draw_capacity(const PanelContext& context, const Plot& plot) const {
  const std::optional<std::uint64_t> capacity = pool().capacity_bytes;
  if (!capacity) return;
  Ui& ui = context.ui;
  const bool above = *capacity > plot.most;
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

void MemoryPanel::draw_peak(const PanelContext& context, const Plot& plot) const {
  Ui& ui = context.ui;
  const PoolUsage& chosen = pool();
  if (chosen.peak_bytes == 0) return;
  const float y = std::round(plot.y_of(static_cast<double>(chosen.peak_bytes))) + 0.5F;
  dashed_line(ui, ui.draw(), {plot.rect.x0, y}, {plot.rect.x1, y}, ui.colour(Colour::text2), 3, 2);
  std::string text = "Peak " + bytes_text(chosen.peak_bytes);
  if (chosen.capacity_bytes) {
    text += ", " + format_share(static_cast<double>(chosen.peak_bytes) / static_cast<double>(*chosen.capacity_bytes));
  }
  const float width = text_width(ui, TextStyle::small_strong, text) + ui.px(12);
  const Rect chip{plot.rect.x1 - width, y - ui.px(18), plot.rect.x1, y - ui.px(1)};
  fill(ui, chip, ui.colour(Colour::bg4), size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::small_strong, .align = Align::centre});
  if (chosen.peak_ns < plot.range.begin_ns || chosen.peak_ns > plot.range.end_ns) return;
  const float x = plot.x_of(chosen.peak_ns);
  const float half = ui.px(4);
  ui.draw()->AddTriangleFilled({x - half, y - ui.px(8)}, {x + half, y - ui.px(8)}, {x, y - ui.px(1)},
                               ui.colour(Colour::text1));
  const std::string when = format_time_exact(chosen.peak_ns);
  const float when_width = text_width(ui, TextStyle::mono_small, when);
  const float right_x = x + half + ui.px(4);
  const bool left = right_x + when_width > chip.x0;
  const float when_x = left ? std::min(x - half, chip.x0) - ui.px(4) - when_width : right_x;
  if (when_x < plot.rect.x0) return;
  draw_text(ui, {when_x, y - ui.px(16), when_x + when_width, y - ui.px(1)}, when,
            {.style = TextStyle::mono_small, .colour = Colour::text2, .fit = Fit::clip});
}

void MemoryPanel::draw_cursor(const PanelContext& context, const Plot& plot, const Rect& whole) const {
  Ui& ui = context.ui;
  const std::int64_t at = cursor(context);
  if (at < plot.range.begin_ns || at > plot.range.end_ns) return;
  const float x = std::round(plot.x_of(at));
  vertical_line(ui, x, whole.y0, whole.y1, ui.colour(Colour::accent));
  const std::uint64_t used = usage_->used_at(chosen_pool_, at);
  ui.draw()->AddCircleFilled({x, plot.y_of(static_cast<double>(used))}, ui.px(3), ui.colour(Colour::accent));
  const std::string text = format_time_exact(at) + "  " + bytes_text(used);
  const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(12);
  const float left = std::clamp(x - width / 2, plot.rect.x0, std::max(plot.rect.x0, plot.rect.x1 - width));
  const Rect chip{left, whole.y0 + ui.px(2), left + width, whole.y0 + ui.px(18)};
  fill(ui, chip, ui.colour(Colour::accent), size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::mono_small, .colour = Colour::on_accent, .align = Align::centre});
}

std::optional<std::int64_t> MemoryPanel::handle_plot(const PanelContext& context, const Plot& plot, const char* name,
                                                     std::optional<float>& drag_from_x) {
  Ui& ui = context.ui;
  const Interaction hand = interact(ui, name, plot.rect);
  const float mouse = ui.input().mouse.x;
  std::optional<std::int64_t> clicked_ns;
  if (hand.hovered) context.tab.cursor_ns = plot.time_at(mouse);
  if (hand.pressed) drag_from_x = mouse;
  const bool dragged = drag_from_x && std::abs(mouse - *drag_from_x) > ui.px(4);
  if (hand.held && dragged) {
    fill(ui, {std::min(*drag_from_x, mouse), plot.rect.y0, std::max(*drag_from_x, mouse), plot.rect.y1},
         with_alpha(ui.colour(Colour::accent), 0.25F));
  }
  if (hand.double_clicked) {  // fits all
    const Snapshot& snapshot = *context.tab.snapshot;
    pinned_ns_.reset();
    show_range(context, static_cast<double>(snapshot.begin_ns), static_cast<double>(snapshot.end_ns));
  } else if (hand.clicked && dragged) {  // a drag zooms, as on the timeline
    show_range(context, static_cast<double>(plot.time_at(std::min(mouse, *drag_from_x))),
               static_cast<double>(plot.time_at(std::max(mouse, *drag_from_x))));
  } else if (hand.clicked && drag_from_x) {
    clicked_ns = plot.time_at(mouse);
    pinned_ns_ = pinned_ns_ ? std::nullopt : clicked_ns;
  }
  if (!hand.held) drag_from_x.reset();
  const float notches = ui.input().wheel.y;
  if (hand.hovered && notches != 0) {
    const double factor = std::pow(0.8, static_cast<double>(notches));
    const auto centre = static_cast<double>(plot.time_at(mouse));
    show_range(context, centre - (centre - static_cast<double>(plot.range.begin_ns)) * factor,
               centre + (static_cast<double>(plot.range.end_ns) - centre) * factor);
  }
  return clicked_ns;
}

}  // namespace accelscope::app
