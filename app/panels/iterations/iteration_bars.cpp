#include "app/panels/iterations/iteration_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/rect_batch.h"
#include "app/panels/targets.h"
#include "core/base/format.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kIterationAxis = 18, kLengthScale = 62;
constexpr float kLeastBar = 3, kMostBar = 40;  // units
constexpr unsigned kSteadySlot = 0;            // of the slice palette

[[nodiscard]] EventFilter iteration_target(const LoopIteration& iteration) {
  EventFilter filter;
  filter.range = TimeRange{iteration.begin_ns, std::max(iteration.end_ns, iteration.begin_ns + 1)};
  return filter;
}

[[nodiscard]] double from_steady(const FoldedLoop& loop, std::size_t i) {
  return static_cast<double>(loop.iterations[i].length_ns()) - loop.steady_ns;
}

[[nodiscard]] std::string deviation_text(const FoldedLoop& loop, std::size_t i) {
  const double share = from_steady(loop, i) / loop.steady_ns;
  return fmt::format("{}{}", share < 0 ? "−" : "+", format_share(std::abs(share)));
}

}  // namespace

void IterationBars::place(const FoldedLoop& loop, std::size_t room) {
  const std::size_t all = loop.iterations.size(), count = std::min(room, all);
  if (slots_.of == &loop && slots_.count == count) return;
  slots_ = {&loop, count, {}, 1};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i * all / count, last = (i + 1) * all / count;
    std::size_t farthest = first;
    for (std::size_t k = first; k < last; ++k) {
      if (std::abs(from_steady(loop, k)) > std::abs(from_steady(loop, farthest))) farthest = k;
    }
    slots_.shown.push_back(farthest);
    slots_.most_ns = std::max(slots_.most_ns, loop.iterations[farthest].length_ns());
  }
}

void IterationBars::draw_bars(const PanelContext& context, const Rect& plot, float slot, const FoldedLoop& loop) const {
  Ui& ui = context.ui;
  const float per_ns = (plot.height() - ui.px(4)) / static_cast<float>(slots_.most_ns);
  {
    RectBatch batch(*ui.draw());
    for (std::size_t i = 0; i < slots_.count; ++i) {
      const std::size_t number = slots_.shown[i];
      const LoopIteration& each = loop.iterations[number];
      const float x0 = std::round(plot.x0 + slot * static_cast<float>(i)),
                  x1 = std::max(x0 + 1, std::round(plot.x0 + slot * static_cast<float>(i + 1)) - 1);
      const float top = std::min(plot.y1 - 1, plot.y1 - per_ns * static_cast<float>(each.length_ns()));
      const Pixel colour = number < loop.warm_up ? ui.colour(Colour::text3)
                           : each.outlier        ? ui.colour(Colour::warning_line)
                                                 : ui.theme().slice(kSteadySlot);
      batch.add(x0, std::round(top), x1, plot.y1, colour);
      if (is_selected(context.tab, iteration_target(each)))
        batch.add(x0, plot.y1 - ui.px(2), x1, plot.y1, ui.colour(Colour::selection));
    }
  }
  if (loop.steady_ns <= 0) return;
  const float y = std::round(plot.y1 - per_ns * static_cast<float>(loop.steady_ns));
  horizontal_line(ui, plot.x0, plot.x1, y, ui.colour(Colour::marker));
}

void IterationBars::draw(const PanelContext& context, Rect area, const FoldedLoop& loop) {
  Ui& ui = context.ui;
  const Rect foot = area.cut_bottom(ui.px(kIterationAxis));
  Rect plot = area;
  Rect scale = plot.cut_left(ui.px(kLengthScale));
  if (plot.width() < ui.px(40) || plot.height() < ui.px(24) || loop.iterations.empty()) return;
  place(loop, static_cast<std::size_t>(plot.width() / ui.px(kLeastBar)));
  fill(ui, plot, ui.colour(Colour::bg1));
  const float slot = std::min(ui.px(kMostBar), plot.width() / static_cast<float>(slots_.count));
  draw_bars(context, plot, slot, loop);
  horizontal_line(ui, plot.x0, plot.x1, plot.y1, ui.colour(Colour::line2));
  draw_text(ui, scale.cut_top(ui.px(16)), format_duration(static_cast<double>(slots_.most_ns)),
            {.style = TextStyle::mono_small, .colour = Colour::text3});
  std::string axis =
      fmt::format("{} iterations, median {}", format_count(loop.iterations.size()), format_duration(loop.steady_ns));
  if (slots_.count < loop.iterations.size()) axis += "; of neighbours the farthest from it";
  draw_text(ui, {plot.x0, foot.y0, foot.x1, foot.y1}, axis, {.style = TextStyle::small, .colour = Colour::text3});
  touch(context, plot, slot, loop);
}

void IterationBars::touch(const PanelContext& context, const Rect& plot, float slot, const FoldedLoop& loop) const {
  Ui& ui = context.ui;
  const Interaction hand = interact(ui, "iterations.bars", plot);
  if (!hand.hovered) return;
  const auto at = static_cast<std::size_t>(std::max(0.0F, (ui.input().mouse.x - plot.x0) / slot));
  if (at >= slots_.shown.size()) return;
  set_cursor(Cursor::hand);
  const std::size_t number = slots_.shown[at];
  const LoopIteration& each = loop.iterations[number];
  if (hand.clicked) select_target(context, iteration_target(each), true);
  if (hand.hovered_for < kHoverCardDelay) return ui.request_frame_after(kHoverCardDelay - hand.hovered_for);
  HoverCard card;
  card.title = fmt::format("Iteration {}", format_count(number + 1));
  card.title_value = fmt::format("of {}", format_count(loop.iterations.size()));
  card.rows.push_back({"Takes", format_duration(static_cast<double>(each.length_ns()))});
  if (loop.steady_ns > 0) card.rows.push_back({"From the median", deviation_text(loop, number)});
  if (number + 1 < loop.iterations.size()) {
    const std::int64_t next = loop.iterations[number + 1].begin_ns - each.begin_ns;
    card.rows.push_back({"To the next", format_duration(static_cast<double>(next))});
  }
  if (number < loop.warm_up || each.outlier) card.rows.push_back({"Is", number < loop.warm_up ? "warm-up" : "outlier"});
  const float x0 = plot.x0 + slot * static_cast<float>(at);
  hover_card(ui, card, {x0, plot.y0, x0 + slot, plot.y1});
}

}  // namespace accelscope::app
