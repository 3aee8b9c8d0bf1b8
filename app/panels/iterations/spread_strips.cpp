#include "app/panels/iterations/spread_strips.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.h"
#include "render/widgets/layout.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kStripName = 18, kStripBar = 16, kStripFoot = 18, kStripGap = 6;

}  // namespace

void draw_spreads(Ui& ui, Rect area, const std::vector<const NamedRegion*>& regions) {
  double most = 1;
  for (const NamedRegion* each : regions) most = std::max(most, each->duration_ns.max);
  const auto at = [&](double ns) { return std::round(area.x0 + area.width() * static_cast<float>(ns / most)); };
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const FoldedValues& values = regions[i]->duration_ns;
    if (area.height() < ui.px(kStripName + kStripBar + kStripFoot)) return;
    const double first = regions.front()->duration_ns.median;
    std::string hint = format_duration(values.median);
    if (i > 0 && first > 0) hint += fmt::format(", {} times the first", format_number(values.median / first));
    const Rect name = area.cut_top(ui.px(kStripName));
    const float room = name.width() - text_width(ui, TextStyle::small, hint) - ui.px(12);
    heading(ui, name, fitted_text(ui, TextStyle::heading, regions[i]->name, room, Fit::middle), hint);
    const Rect bar = area.cut_top(ui.px(kStripBar));
    ui.register_widget(fmt::format("iterations.spread.{}", i), bar);
    fill(ui, bar, ui.colour(Colour::bg1));
    horizontal_line(ui, at(values.min), std::max(at(values.min) + 1, at(values.max)), std::round((bar.y0 + bar.y1) / 2),
                    ui.colour(Colour::text3));
    fill(ui, {at(values.p10), bar.y0 + ui.px(3), std::max(at(values.p10) + 1, at(values.p90)), bar.y1 - ui.px(3)},
         ui.theme().slice(static_cast<unsigned>(i)));
    const float median = std::min(at(values.median), bar.x1 - ui.px(2));
    fill(ui, {median, bar.y0, median + ui.px(2), bar.y1}, ui.colour(Colour::text1));
    area.cut_top(ui.px(kStripGap));
  }
  Rect foot = area.cut_top(ui.px(kStripFoot));
  const std::string end = format_duration(most);
  draw_text(ui, foot.cut_right(text_width(ui, TextStyle::mono_small, end)), end,
            {.style = TextStyle::mono_small, .colour = Colour::text3});
  draw_text(ui, foot, "Bar: p10 to p90, line: least to most, mark: median",
            {.style = TextStyle::small, .colour = Colour::text3});
}

}  // namespace accelscope::app
