#include "app/panels/statistics/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/format.h"
#include "core/model/unit.h"
#include "render/base/draw.h"
#include "render/widgets/interact.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

struct HistogramView::Plot {
  Rect rect;    // of the bars
  Rect labels;  // of the counts, left of it
  Rect foot;    // of the values, below it
  ValueAxis axis;
  double most = 1;  // events at its top
  double step = 1;  // between the counts that are written

  [[nodiscard]] float x_of(double value) const noexcept {
    return rect.x0 + static_cast<float>(std::clamp(axis.place(value), 0.0, 1.0)) * rect.width();
  }
  [[nodiscard]] float y_of(double count) const noexcept {
    return rect.y1 - static_cast<float>(count / most) * rect.height();
  }
  // The bin at a pixel, the nearest outside of the plot.
  [[nodiscard]] std::size_t bin_at(const ValueBins& bins, float x) const noexcept {
    const double value =
        axis.value(static_cast<double>(x - rect.x0) / std::max(1.0, static_cast<double>(rect.width())));
    const auto above = std::upper_bound(bins.edges.begin(), bins.edges.end(), value) - bins.edges.begin();
    return std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(above - 1, 0)), bins.size() - 1);
  }
};

std::uint64_t HistogramView::count_in(const ValueBins& bins, const ValueRange& range) noexcept {
  std::uint64_t count = 0;
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    if (bins.edges[bin] >= range.first && bins.edges[bin] < range.second) count += bins.counts[bin];
  }
  return count;
}

std::optional<ValueRange> HistogramView::draw(Ui& ui, const Rect& area, const Shown& shown) {
  const ValueBins& bins = shown.details.bins;
  Plot plot;
  plot.rect = area;
  plot.foot = plot.rect.cut_bottom(ui.px(18));
  plot.rect.cut_top(ui.px(18));  // of the quantiles' labels
  const std::uint64_t most = *std::max_element(bins.counts.begin(), bins.counts.end());
  const double lines = std::max(1.0, std::floor(static_cast<double>(plot.rect.height() / ui.px(26))));
  plot.step = std::max(1.0, round_step(static_cast<double>(most) / lines));
  plot.most = std::max(1.0, std::ceil(static_cast<double>(most) / plot.step) * plot.step);
  const float widest = text_width(ui, TextStyle::mono_small, format_count(static_cast<std::uint64_t>(plot.most)));
  plot.labels = plot.rect.cut_left(widest + ui.px(8));
  plot.rect.cut_right(ui.px(8));
  plot.foot.x0 = plot.rect.x0;
  plot.axis = ValueAxis(bins.edges.front(), bins.edges.back(), shown.details.scale);
  if (plot.rect.width() < ui.px(20) || plot.rect.height() < ui.px(20)) return std::nullopt;
  draw_axes(ui, plot, shown);
  const auto brushed = handle(ui, plot, shown);
  draw_bars(ui, plot, shown);
  draw_quantiles(ui, plot, shown);
  return brushed;
}

void HistogramView::draw_axes(Ui& ui, const Plot& plot, const Shown& shown) const {
  fill(ui, plot.rect, ui.colour(Colour::bg1));
  for (double count = 0; count <= plot.most; count += plot.step) {
    const float y = std::round(plot.y_of(count));
    horizontal_line(ui, plot.rect.x0, plot.rect.x1, y, ui.colour(count == 0 ? Colour::line2 : Colour::line1));
    draw_text(ui, {plot.labels.x0, y - ui.px(8), plot.labels.x1 - ui.px(6), y + ui.px(8)},
              format_count(static_cast<std::uint64_t>(count)),
              {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
  }
  const auto most = static_cast<std::size_t>(std::max(1.0F, plot.rect.width() / ui.px(76)));
  float reached = plot.foot.x0 - ui.px(20);
  for (const ValueTick& tick : plot.axis.ticks(most, shown.unit)) {
    const float x = std::round(plot.x_of(tick.value));
    vertical_line(ui, x, plot.rect.y1, plot.rect.y1 + ui.px(tick.text.empty() ? 3 : 5), ui.colour(Colour::line2));
    const float width = text_width(ui, TextStyle::mono_small, tick.text);
    const float from = std::clamp(x - width / 2, plot.labels.x0, plot.rect.x1 + ui.px(8) - width);
    if (tick.text.empty() || from < reached + ui.px(8)) continue;
    draw_text(ui, {from, plot.foot.y0 + ui.px(4), from + width + 1, plot.foot.y1}, tick.text,
              {.style = TextStyle::mono_small, .colour = Colour::text3, .fit = Fit::clip});
    reached = from + width;
  }
}

void HistogramView::draw_bars(Ui& ui, const Plot& plot, const Shown& shown) const {
  const ValueBins& bins = shown.details.bins;
  const Pixel plain = ui.colour(shown.stale ? Colour::disabled : Colour::text3);
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    if (bins.counts[bin] == 0) continue;
    const float x0 = std::round(plot.x_of(bins.edges[bin])), x1 = std::round(plot.x_of(bins.edges[bin + 1]));
    // However few they are, they are seen.
    const float y0 = std::min(plot.y_of(static_cast<double>(bins.counts[bin])), plot.rect.y1 - ui.px(1));
    const bool in_brush = shown.brush && bins.edges[bin] >= shown.brush->first && bins.edges[bin] < shown.brush->second;
    const float gap = x1 - x0 > ui.px(3) ? ui.px(1) : 0;
    fill(ui, {x0, std::round(y0), std::max(x1 - gap, x0 + ui.px(1)), plot.rect.y1},
         in_brush ? ui.colour(Colour::accent) : plain);
  }
}

void HistogramView::draw_quantiles(Ui& ui, const Plot& plot, const Shown& shown) const {
  const ValueFigures& figures = shown.details.figures;
  float reached = plot.labels.x0;
  for (const auto& [name, value] : {std::pair{"p50", figures.median}, {"p99", figures.p99}}) {
    if (plot.axis.place(value) < 0) continue;
    const float x = std::round(plot.x_of(value));
    dashed_line(ui, ui.draw(), {x, plot.rect.y0 - ui.px(2)}, {x, plot.rect.y1}, ui.colour(Colour::text1));
    const std::string text = fmt::format("{} {}", name, format_value(value, shown.unit));
    const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(8);
    const float from = std::min(std::max(x - ui.px(2), reached), plot.rect.x1 + ui.px(8) - width);
    if (from < reached - ui.px(1)) continue;  // no room beside the other one's
    draw_text(ui, {from + ui.px(4), plot.rect.y0 - ui.px(18), from + width, plot.rect.y0 - ui.px(2)}, text,
              {.style = TextStyle::mono_small, .colour = Colour::text2, .fit = Fit::clip});
    reached = from + width;
  }
}

std::optional<ValueRange> HistogramView::handle(Ui& ui, const Plot& plot, const Shown& shown) {
  const ValueBins& bins = shown.details.bins;
  const Interaction hand = interact(ui, "statistics.histogram", plot.rect, {.no_focus = true});
  const std::size_t at = plot.bin_at(bins, ui.input().mouse.x);
  const auto mark = [&](double from, double to) {
    const Rect range{std::round(plot.x_of(from)), plot.rect.y0, std::round(plot.x_of(to)), plot.rect.y1};
    fill(ui, range, ui.colour(Colour::accent_bg));
    vertical_line(ui, range.x0, range.y0, range.y1, ui.colour(Colour::accent));
    vertical_line(ui, range.x1 - ui.px(1), range.y0, range.y1, ui.colour(Colour::accent));
  };
  hovered_ = hand.hovered;
  if (hand.pressed) drag_from_ = at;
  if (hand.held && drag_from_) drag_to_ = at;
  if (drag_from_ && *drag_from_ >= bins.size()) drag_from_.reset();  // other bins came meanwhile
  std::optional<ValueRange> brushed;
  if (drag_from_) {
    const std::size_t first = std::min({*drag_from_, drag_to_, bins.size() - 1});
    const std::size_t last = std::min(std::max(*drag_from_, drag_to_), bins.size() - 1);
    mark(bins.edges[first], bins.edges[last + 1]);
    if (!hand.held) {
      drag_from_.reset();
      brushed = ValueRange{bins.edges[first], bins.edges[last + 1]};
    }
  } else if (shown.brush) {
    mark(std::max(shown.brush->first, bins.edges.front()), std::min(shown.brush->second, bins.edges.back()));
  }
  if (hand.hovered) {
    set_cursor(Cursor::resize_horizontal);
    const std::uint64_t count = bins.counts[at];
    const Rect bar{plot.x_of(bins.edges[at]), plot.rect.y0, plot.x_of(bins.edges[at + 1]), plot.rect.y1};
    if (!hand.held) fill(ui, bar, ui.colour(Colour::bg3));
    tooltip(ui, hand, bar,
            fmt::format("{} to below {}: {} {}. Drag over bars to filter by them.",
                        format_value(bins.edges[at], shown.unit), format_value(bins.edges[at + 1], shown.unit),
                        format_count(count), count == 1 ? "event" : "events"));
  }
  return brushed;
}

}  // namespace accelscope::app
