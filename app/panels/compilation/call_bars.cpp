#include "app/panels/compilation/call_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/panels/rect_batch.h"
#include "app/panels/targets.h"
#include "core/base/format.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kLegend = 22, kCallAxis = 18, kScaleWidth = 62;
constexpr float kLeastSlot = 3, kMostSlot = 40;  // units

struct CallPart {
  std::string_view name;
  unsigned slot;  // of the slice palette: host as own Python, launches as launches, kernels as kernels
  std::int64_t CallCost::*ns;
};
constexpr std::array<CallPart, 4> kCallParts = {{{"Host", 10, &CallCost::host_ns},
                                                 {"Compile", 3, &CallCost::compile_ns},
                                                 {"Dispatch", 8, &CallCost::dispatch_ns},
                                                 {"Kernels", 0, &CallCost::kernel_ns}}};
constexpr std::size_t kStacked = 3;  // the others are beside

[[nodiscard]] std::int64_t height_of(const CallCost& cost) { return std::max(cost.span_ns, cost.kernel_ns); }

void draw_legend(Ui& ui, Rect row) {
  for (const CallPart& part : kCallParts) {
    const float width = text_width(ui, TextStyle::small, part.name);
    if (row.width() < width + ui.px(16)) return;
    row.cut_left(draw_swatch(ui, row, ui.theme().slice(part.slot)) + ui.px(5));
    draw_text(ui, row.cut_left(width), part.name, {.style = TextStyle::small, .colour = Colour::text2});
    row.cut_left(ui.px(14));
  }
}

}  // namespace

void CallBars::place(const std::vector<CallRow>& rows, const CallFunctionRow& function, std::size_t room) {
  const std::size_t count = std::min(room, function.rows.size());
  if (slots_.of == &rows && slots_.first_row == function.rows.front() && slots_.count == count) return;
  slots_ = {&rows, function.rows.front(), count, {}, 1};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i * function.rows.size() / count, last = (i + 1) * function.rows.size() / count;
    std::size_t longest = function.rows[first];
    for (std::size_t k = first; k < last; ++k) {
      if (height_of(rows[function.rows[k]].cost) > height_of(rows[longest].cost)) longest = function.rows[k];
    }
    slots_.shown.push_back(longest);
    slots_.most_ns = std::max(slots_.most_ns, height_of(rows[longest].cost));
  }
}

void CallBars::draw(const PanelContext& context, Rect area, const Compilations& all, const std::vector<CallRow>& rows,
                    const CallFunctionRow& function) {
  Ui& ui = context.ui;
  draw_legend(ui, area.cut_top(ui.px(kLegend)));
  const Rect foot = area.cut_bottom(ui.px(kCallAxis));
  Rect plot = area;
  const Rect scale = plot.cut_left(ui.px(kScaleWidth));
  if (plot.width() < ui.px(40) || plot.height() < ui.px(24)) return;
  place(rows, function, static_cast<std::size_t>(plot.width() / ui.px(kLeastSlot)));
  fill(ui, plot, ui.colour(Colour::bg1));
  const float slot = std::min(ui.px(kMostSlot), plot.width() / static_cast<float>(slots_.count));
  const float per_ns = (plot.height() - ui.px(4)) / static_cast<float>(slots_.most_ns);
  {
    RectBatch batch(*ui.draw());
    for (std::size_t i = 0; i < slots_.count; ++i) {
      const CallCost& cost = rows[slots_.shown[i]].cost;
      const float x0 = std::round(plot.x0 + slot * static_cast<float>(i)),
                  x1 = std::max(x0 + 1, std::round(plot.x0 + slot * static_cast<float>(i + 1)) - 1);
      const float beside = std::round(x0 + (x1 - x0) * 0.7F);
      float y = plot.y1;
      for (std::size_t part = 0; part < kCallParts.size(); ++part) {
        const std::int64_t ns = cost.*kCallParts[part].ns;
        if (part == kStacked) y = plot.y1;
        if (ns <= 0) continue;
        const float top = std::min(y - 1, y - per_ns * static_cast<float>(ns));
        batch.add(part == kStacked ? beside : x0, std::round(top), part == kStacked ? x1 : beside, std::round(y),
                  ui.theme().slice(kCallParts[part].slot));
        y = std::round(top);
      }
      if (context.tab.selected == all.calls.list[rows[slots_.shown[i]].call].event)
        batch.add(x0, plot.y1 - ui.px(2), x1, plot.y1, ui.colour(Colour::selection));
    }
  }
  horizontal_line(ui, plot.x0, plot.x1, plot.y1, ui.colour(Colour::line2));
  Rect top = scale;
  draw_text(ui, top.cut_top(ui.px(16)), format_duration(static_cast<double>(slots_.most_ns)),
            {.style = TextStyle::mono_small, .colour = Colour::text3});
  std::string axis = function.rows.size() == 1
                         ? std::string("1 call")
                         : fmt::format("{} calls, in their order", format_count(function.rows.size()));
  if (slots_.count < function.rows.size()) axis += "; of neighbours the longest is shown";
  draw_text(ui, {plot.x0, foot.y0, foot.x1, foot.y1}, axis, {.style = TextStyle::small, .colour = Colour::text3});
  touch(context, plot, slot, all, rows);
}

void CallBars::touch(const PanelContext& context, const Rect& plot, float slot, const Compilations& all,
                     const std::vector<CallRow>& rows) const {
  Ui& ui = context.ui;
  const Interaction hand = interact(ui, "compilation.bars", plot);
  if (!hand.hovered) return;
  const auto at = static_cast<std::size_t>(std::max(0.0F, (ui.input().mouse.x - plot.x0) / slot));
  if (at >= slots_.shown.size()) return;
  set_cursor(Cursor::hand);
  const CallRow& row = rows[slots_.shown[at]];
  const LaunchingCall& call = all.calls.list[row.call];
  if (hand.clicked || hand.double_clicked) select_target(context, call.event, hand.double_clicked);
  if (hand.hovered_for < kHoverCardDelay) return ui.request_frame_after(kHoverCardDelay - hand.hovered_for);
  HoverCard card;
  card.title = all.calls.functions[call.function];
  card.title_value = fmt::format("{} of {}", all.facts[row.call].number, all.facts[row.call].of);
  card.rows.push_back({"Takes", format_duration(static_cast<double>(row.cost.span_ns))});
  for (const CallPart& part : kCallParts)
    card.rows.push_back({std::string(part.name), format_duration(static_cast<double>(row.cost.*part.ns))});
  card.rows.push_back({"Launches", format_count(row.cost.launches)});
  const float x0 = plot.x0 + slot * static_cast<float>(at);
  hover_card(ui, card, {x0, plot.y0, x0 + slot, plot.y1});
}

}  // namespace accelscope::app
