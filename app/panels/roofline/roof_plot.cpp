#include "app/panels/roofline/roof_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/targets.h"
#include "app/view/selection.h"
#include "core/base/format.h"
#include "core/model/unit.h"
#include "imgui.h"
#include "render/widgets/controls.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kAxisLeft = 52, kAxisFoot = 36, kFoot = 24;
constexpr float kSmallestLegend = 3;  // radius in units

[[nodiscard]] ImVec2 point_of(Point at) { return {at.x, at.y}; }

}  // namespace

bool RoofPlot::draw(const PanelContext& context, const Rect& area, const Shown& shown) {
  Ui& ui = context.ui;
  Rect rest = area;
  const Rect foot = rest.cut_bottom(ui.px(kFoot));
  plot_ = {rest.x0 + ui.px(kAxisLeft), rest.y0 + ui.px(20), rest.x1 - ui.px(4), rest.y1 - ui.px(kAxisFoot)};
  layouts_.of({.line = shown.line,
               .grouping = shown.grouping,
               .memory = shown.memory,
               .ceilings = shown.ceilings,
               .filter = shown.filter,
               .width = plot_.width(),
               .height = plot_.height(),
               .unit = ui.scale()},
              *context.tab.snapshot,
              [&ui](std::string_view text) { return text_width(ui, TextStyle::mono_small, text); });
  fill(ui, plot_, ui.colour(Colour::bg1));
  draw_grid(context, shown);
  ui.draw()->PushClipRect({plot_.x0, plot_.y0}, {plot_.x1, plot_.y1}, true);
  draw_ceilings(context);
  draw_dots(context, shown);
  draw_labels(context);
  ui.draw()->PopClipRect();
  handle_input(context, shown);
  draw_foot(context, foot);
  if (!shown.ceilings.empty()) return false;
  const std::string_view label = "Enter peaks";
  const float width = link_width(ui, label);
  const Rect place = {plot_.x1 - width - ui.px(8), plot_.y0 + ui.px(6), plot_.x1 - ui.px(8), plot_.y0 + ui.px(26)};
  draw_text(ui, {plot_.x0, place.y0, place.x0 - ui.px(8), place.y1}, "No peaks are known of this device.",
            {.style = TextStyle::small, .colour = Colour::text3, .align = Align::right});
  return link(ui, "roofline.enter_peaks", place, label);
}

void RoofPlot::draw_grid(const PanelContext& context, const Shown& shown) const {
  Ui& ui = context.ui;
  TextOptions quiet{.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::centre, .fit = Fit::clip};
  for (const RoofLayout::GridLine& line : layout().columns) {
    const float x = std::round(plot_.x0 + line.at);
    vertical_line(ui, x, plot_.y0, plot_.y1, ui.colour(Colour::line1));
    if (!line.text.empty())
      draw_text(ui, {x - ui.px(28), plot_.y1 + ui.px(2), x + ui.px(28), plot_.y1 + ui.px(18)}, line.text, quiet);
  }
  quiet.align = Align::right;
  quiet.fit = Fit::ellipsis;
  for (const RoofLayout::GridLine& line : layout().rows) {
    const float y = std::round(plot_.y0 + line.at);
    horizontal_line(ui, plot_.x0, plot_.x1, y, ui.colour(Colour::line1));
    if (!line.text.empty())
      draw_text(ui, {plot_.x0 - ui.px(kAxisLeft), y - ui.px(8), plot_.x0 - ui.px(5), y + ui.px(8)}, line.text, quiet);
  }
  outline(ui, plot_, ui.colour(Colour::line2), 0);
  draw_text(ui, {plot_.x0 - ui.px(kAxisLeft), plot_.y0 - ui.px(20), plot_.x0 + ui.px(100), plot_.y0 - ui.px(2)},
            "FLOP/s", {.style = TextStyle::mono_small, .colour = Colour::text3});
  draw_text(ui, {plot_.x0, plot_.y1 + ui.px(18), plot_.x1, plot_.y1 + ui.px(kAxisFoot)},
            fmt::format("FLOP per byte of {}", shown.line->memories[shown.memory].name), quiet);
}

void RoofPlot::draw_ceilings(const PanelContext& context) const {
  Ui& ui = context.ui;
  for (const RoofLayout::Ceiling& each : layout().ceilings) {
    const bool is_roof = each.kind == RoofCeiling::Kind::roof, is_limit = each.kind == RoofCeiling::Kind::limit;
    const Pixel colour = ui.colour(is_roof ? Colour::text1 : is_limit ? Colour::warning_line : Colour::text3);
    const Point from = on_screen(each.line.from), to = on_screen(each.line.to);
    if (is_roof) {
      ui.draw()->AddLine(point_of(from), point_of(to), colour, ui.px(2));
    } else {
      dashed_line(ui, ui.draw(), from, to, colour, 5, 4, is_limit ? 1.5F : 1);
    }
  }
}

void RoofPlot::draw_dots(const PanelContext& context, const Shown& shown) const {
  Ui& ui = context.ui;
  for (const RoofLayout::Dot& dot : layout().dots) {  // the largest first, so that none is hidden
    const Pixel own = ui.theme().slice(dot.slot);
    const ImVec2 at = point_of(on_screen(dot.at));
    ui.draw()->AddCircleFilled(at, dot.radius, shown.faded ? ui.theme().dimmed(own) : own, 24);
    ui.draw()->AddCircle(at, dot.radius, ui.colour(Colour::bg1), 24, ui.px(1));
    if (is_selected(context.tab, dot.events))
      ui.draw()->AddCircle(at, dot.radius + ui.px(2), ui.colour(Colour::selection), 32, ui.px(2));
  }
}

void RoofPlot::draw_labels(const PanelContext& context) const {
  Ui& ui = context.ui;
  for (const RoofLayout::Label& label : layout().labels) {
    const Rect rect = on_screen(label.rect);
    Colour colour = Colour::text2;
    if (label.ceiling) {
      colour = *label.ceiling == RoofCeiling::Kind::roof    ? Colour::text1
               : *label.ceiling == RoofCeiling::Kind::limit ? Colour::warning
                                                            : Colour::text3;
      fill(ui, rect, with_alpha(ui.colour(Colour::bg1), 0.9F), size::kChipRadius);
    } else if (is_selected(context.tab, layout().dots[label.dot].events)) {
      colour = Colour::text1;
    }
    if (label.leader)
      ui.draw()->AddLine(point_of(on_screen(label.leader->from)), point_of(on_screen(label.leader->to)),
                         ui.colour(Colour::text3), ui.px(1));
    draw_text(ui, rect.inset(ui.px(4), 0), label.text,
              {.style = TextStyle::mono_small, .colour = colour, .fit = Fit::clip});
  }
}

void RoofPlot::handle_input(const PanelContext& context, const Shown& shown) {
  Ui& ui = context.ui;
  const RoofLayout::Dot* hovered = nullptr;
  const Interaction hand = interact(ui, "roofline.plot", plot_, {.below_others = true});
  const Point pointer = {ui.input().mouse.x - plot_.x0, ui.input().mouse.y - plot_.y0};
  for (const RoofLayout::Dot& dot : layout().dots) {
    const float reach = dot.radius + ui.px(2);
    ui.register_widget(fmt::format("roofline.point.{}", dot.number), on_screen(dot.box()));
    if (hand.hovered && std::hypot(pointer.x - dot.at.x, pointer.y - dot.at.y) <= reach) hovered = &dot;  // the top one
  }
  const auto number = hovered == nullptr ? std::nullopt : std::optional(hovered->number);
  if (number != hovered_) hovered_since_s_ = ui.time();
  hovered_ = number;
  if (hovered == nullptr) return;
  set_cursor(Cursor::hand);
  ui.draw()->AddCircle(point_of(on_screen(hovered->at)), hovered->radius + ui.px(1), ui.colour(Colour::text2), 32,
                       ui.px(1));
  if (hand.pressed || hand.double_clicked) {
    select_target(context, hovered->events, false);
    const TimeRange& stretch = hovered->point->stretch;
    if (hand.double_clicked && !stretch.empty()) show_stretch(context.tab, stretch.begin_ns, stretch.end_ns);
  }
  // Pictures stand still: they show no card.
  const double rested = ui.time() - hovered_since_s_;
  if (rested >= kHoverCardDelay) {
    draw_card(context, shown, *hovered);
  } else {
    ui.request_frame_after(kHoverCardDelay - rested);
  }
}

void RoofPlot::draw_card(const PanelContext& context, const Shown& shown, const RoofLayout::Dot& dot) const {
  const RoofPoint& point = *dot.point;
  const double intensity = point.intensity(shown.memory);
  const std::string& memory = shown.line->memories[shown.memory].name;
  HoverCard card{.title = roof_point_name(point, shown.grouping),
                 .title_value = format_duration(static_cast<double>(point.busy_ns)),
                 .whole = point.text,
                 .swatch = context.ui.theme().slice(dot.slot)};
  card.rows.push_back({"Events", format_count(point.count)});
  card.rows.push_back({"Operations", format_value(point.flops, "FLOP")});
  card.rows.push_back({memory, format_bytes(point.bytes[shown.memory])});
  card.rows.push_back({"Intensity", fmt::format("{} FLOP/B", format_number(intensity))});
  card.rows.push_back({"Achieved", format_value(point.rate(), kFlopsPerSecond)});
  if (const auto roof = roof_at(shown.ceilings, intensity)) {
    card.rows.push_back({"Roof here", format_value(*roof, kFlopsPerSecond)});
    card.rows.push_back({"Of its roof", format_share(point.rate() / *roof)});
  }
  card.rows.push_back(
      {memory + " rate",
       format_value(point.bytes[shown.memory] / static_cast<double>(point.busy_ns) * 1e9, kBytesPerSecond)});
  card.footer = "Click selects its events, a double click zooms to them";
  hover_card(context.ui, card, on_screen(dot.box()));
}

void RoofPlot::draw_foot(const PanelContext& context, Rect row) const {
  Ui& ui = context.ui;
  const auto text = [&](const std::string& words, Colour colour) {
    const float width = draw_text(ui, row, words, {.style = TextStyle::small, .colour = colour});
    row.cut_left(width + ui.px(6));
  };
  const std::string& counted = layout().unplaced;
  const float wanted = text_width(ui, TextStyle::small, counted);
  const float legend = ui.px(200);
  if (row.width() > wanted + legend) {
    text("size: busy", Colour::text3);
    for (const double part : {0.05, 0.5}) {  // of the busiest, as large as they are drawn
      const float radius = std::max(ui.px(kSmallestLegend), layout().largest_dot * static_cast<float>(std::sqrt(part)));
      const Rect at = row.cut_left(radius * 2 + ui.px(4));
      ui.draw()->AddCircle({at.x0 + radius, at.centre().y}, radius, ui.colour(Colour::text3), 24, ui.px(1));
      text(format_duration(static_cast<double>(layout().longest_ns) * part), Colour::text2);
    }
  }
  const Interaction hand = interact(ui, "roofline.unplaced", row, {.below_others = true});
  draw_text(ui, row, counted, {.style = TextStyle::small, .colour = Colour::text3, .align = Align::right});
  if (hand.hovered && !counted.empty()) tooltip(ui, hand, row, counted);
}

}  // namespace accelscope::app
