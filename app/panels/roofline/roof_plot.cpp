#include "app/panels/roofline/roof_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/content/listings/rooflines.h"
#include "app/panels/targets.h"
#include "app/view/selection.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "imgui.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kAxisLeft = 52, kAxisFoot = 36, kFoot = 24;
constexpr float kSmallestDot = 3, kLargestDot = 16;  // radius in units
constexpr float kSharedLabel = 6;                    // points nearer than this have one
constexpr double kFarRoof = 60;                      // a roof further than this from all points is not fitted

// The last part of a layer's path says most beside others.
[[nodiscard]] std::string dot_name(const RoofPoint& point, RoofGrouping grouping) {
  if (grouping != RoofGrouping::layer) return shorten_middle(point.text, 28);
  const std::size_t slash = point.text.rfind('/');
  return shorten_middle(slash == std::string::npos ? point.text : std::string_view(point.text).substr(slash + 1), 28);
}

[[nodiscard]] bool meets(const Rect& rect, Point from, Point to) {
  float enter = 0, leave = 1;
  const auto clip = [&](float start, float step, float low, float high) {
    if (step == 0) return start >= low && start <= high;
    const float a = (low - start) / step, b = (high - start) / step;
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
    return enter <= leave;
  };
  return clip(from.x, to.x - from.x, rect.x0, rect.x1) && clip(from.y, to.y - from.y, rect.y0, rect.y1);
}

[[nodiscard]] std::string intensity_text(double value) {
  return value >= 1e5 || value < 1e-3 ? fmt::format("{:.0e}", value) : fmt::format("{:.4g}", value);
}

}  // namespace

bool RoofPlot::draw(const PanelContext& context, const Rect& area, const Shown& shown) {
  Ui& ui = context.ui;
  Rect rest = area;
  const Rect foot = rest.cut_bottom(ui.px(kFoot));
  plot_ = {rest.x0 + ui.px(kAxisLeft), rest.y0 + ui.px(20), rest.x1 - ui.px(4), rest.y1 - ui.px(kAxisFoot)};
  fit_axes(shown);
  fill(ui, plot_, ui.colour(Colour::bg1));
  draw_grid(context, shown);
  find_dots(context, shown);
  taken_.clear();
  lines_.clear();
  ui.draw()->PushClipRect({plot_.x0, plot_.y0}, {plot_.x1, plot_.y1}, true);
  draw_ceilings(context, shown);
  draw_dots(context, shown);
  draw_labels(context);
  ui.draw()->PopClipRect();
  handle_input(context, shown);
  draw_foot(context, foot, shown);
  if (!shown.ceilings.empty()) return false;
  const std::string_view label = "Enter peaks";
  const float width = link_width(ui, label);
  const Rect place = {plot_.x1 - width - ui.px(8), plot_.y0 + ui.px(6), plot_.x1 - ui.px(8), plot_.y0 + ui.px(26)};
  draw_text(ui, {plot_.x0, place.y0, place.x0 - ui.px(8), place.y1}, "No peaks are known of this device.",
            {.style = TextStyle::small, .colour = Colour::text3, .align = Align::right});
  return link(ui, "roofline.enter_peaks", place, label);
}

void RoofPlot::fit_axes(const Shown& shown) {
  intensity_ = {};
  rate_ = {};
  longest_ns_ = 1;
  for (const RoofPoint& point : shown.line.points) {
    if (!point.is_placed(shown.memory)) continue;
    intensity_.include(point.intensity(shown.memory));
    rate_.include(point.rate());
    longest_ns_ = std::max(longest_ns_, point.busy_ns);
  }
  const double low = intensity_.low(), high = intensity_.high();
  const auto include_near = [](LogAxis& axis, double value) {
    if (value < axis.high() * kFarRoof && value > axis.low() / kFarRoof) axis.include(value);
  };
  std::optional<double> compute, bandwidth;
  for (const RoofCeiling& each : shown.ceilings) {
    if (each.kind != RoofCeiling::Kind::roof) continue;
    (each.is_compute ? compute : bandwidth) = each.value;
  }
  if (compute && bandwidth) include_near(intensity_, *compute / *bandwidth);
  intensity_.widen(2.2);
  if (compute) include_near(rate_, *compute);
  if (bandwidth) {
    for (const double at : {low, high})
      include_near(rate_, compute ? std::min(*compute, *bandwidth * at) : *bandwidth * at);
  }
  rate_.widen(1.8);
}

Point RoofPlot::place(double intensity, double rate) const {
  return {plot_.x0 + static_cast<float>(intensity_.place(intensity)) * plot_.width(),
          plot_.y1 - static_cast<float>(rate_.place(rate)) * plot_.height()};
}

// A low plot has small ones.
float RoofPlot::largest_dot(const Ui& ui) const {
  return std::clamp(plot_.height() / 14, ui.px(kSmallestDot * 2), ui.px(kLargestDot));
}

void RoofPlot::find_dots(const PanelContext& context, const Shown& shown) {
  Ui& ui = context.ui;
  dots_.clear();
  const auto& pool = *context.tab.snapshot->strings;
  for (std::size_t i = 0; i < shown.line.points.size() && dots_.size() < kMostDrawn; ++i) {
    const RoofPoint& point = shown.line.points[i];
    if (!point.is_placed(shown.memory)) continue;
    const double part = std::sqrt(static_cast<double>(point.busy_ns) / static_cast<double>(longest_ns_));
    const StringId id = pool.find(point.text);
    const std::uint8_t slot = id == kNone ? std::uint8_t{0} : pool.slot(id);
    dots_.push_back({.point = &point,
                     .number = i,
                     .at = place(point.intensity(shown.memory), point.rate()),
                     .radius = std::max(ui.px(kSmallestDot), largest_dot(ui) * static_cast<float>(part)),
                     .colour = ui.theme().slice(slot),
                     .selected = is_selected(
                         context.tab, events_of_point(*context.tab.snapshot, shown.grouping, point, shown.filter))});
  }
}

void RoofPlot::draw_grid(const PanelContext& context, const Shown& shown) const {
  Ui& ui = context.ui;
  const auto ticks_of = [&](const LogAxis& axis, float room, float each, LogAxis::Steps steps) {
    return axis.ticks(std::max(2, static_cast<int>(room / ui.px(each))), steps);
  };
  for (const LogAxis::Tick& tick : ticks_of(intensity_, plot_.width(), 56, LogAxis::Steps::doubling)) {
    const float x = std::round(plot_.x0 + static_cast<float>(intensity_.place(tick.value)) * plot_.width());
    vertical_line(ui, x, plot_.y0, plot_.y1, ui.colour(Colour::line1));
    if (!tick.labelled) continue;
    draw_text(ui, {x - ui.px(28), plot_.y1 + ui.px(2), x + ui.px(28), plot_.y1 + ui.px(18)}, intensity_text(tick.value),
              {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::centre, .fit = Fit::clip});
  }
  for (const LogAxis::Tick& tick : ticks_of(rate_, plot_.height(), 28, LogAxis::Steps::decimal)) {
    const float y = std::round(plot_.y1 - static_cast<float>(rate_.place(tick.value)) * plot_.height());
    horizontal_line(ui, plot_.x0, plot_.x1, y, ui.colour(Colour::line1));
    if (!tick.labelled) continue;
    draw_text(ui, {plot_.x0 - ui.px(kAxisLeft), y - ui.px(8), plot_.x0 - ui.px(5), y + ui.px(8)},
              format_scaled(tick.value, ""),
              {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
  }
  outline(ui, plot_, ui.colour(Colour::line2), 0);
  draw_text(ui, {plot_.x0 - ui.px(kAxisLeft), plot_.y0 - ui.px(20), plot_.x0 + ui.px(100), plot_.y0 - ui.px(2)},
            "FLOP/s", {.style = TextStyle::mono_small, .colour = Colour::text3});
  draw_text(ui, {plot_.x0, plot_.y1 + ui.px(18), plot_.x1, plot_.y1 + ui.px(kAxisFoot)},
            fmt::format("FLOP per byte of {}", shown.line.memories[shown.memory].name),
            {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
}

void RoofPlot::draw_ceilings(const PanelContext& context, const Shown& shown) {
  Ui& ui = context.ui;
  std::optional<double> compute, bandwidth;
  for (const RoofCeiling& each : shown.ceilings) {
    if (each.kind == RoofCeiling::Kind::roof) (each.is_compute ? compute : bandwidth) = each.value;
  }
  const auto label = [&](const std::string& text, Point at, Align align, Colour colour) {
    const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(8), height = ui.px(16);
    const float x = align == Align::right ? at.x - width : at.x;
    Rect rect = {x, at.y, x + width, at.y + height};
    rect = rect.moved(std::max(0.0F, plot_.x0 + ui.px(2) - rect.x0) - std::max(0.0F, rect.x1 - plot_.x1 + ui.px(2)),
                      std::max(0.0F, plot_.y0 + ui.px(2) - rect.y0) - std::max(0.0F, rect.y1 - plot_.y1 + ui.px(2)));
    const bool hidden =
        std::any_of(taken_.begin(), taken_.end(), [&](const Rect& other) { return other.overlaps(rect); }) ||
        std::any_of(dots_.begin(), dots_.end(), [&](const Dot& dot) {
          return rect.overlaps(
              {dot.at.x - dot.radius, dot.at.y - dot.radius, dot.at.x + dot.radius, dot.at.y + dot.radius});
        });
    if (hidden) return;
    taken_.push_back(rect);
    fill(ui, rect, with_alpha(ui.colour(Colour::bg1), 0.9F), size::kChipRadius);
    draw_text(ui, rect.inset(ui.px(4), 0), text, {.style = TextStyle::mono_small, .colour = colour, .fit = Fit::clip});
  };
  // Others below, the roof last and so on top.
  for (auto each = shown.ceilings.rbegin(); each != shown.ceilings.rend(); ++each) {
    const bool is_roof = each->kind == RoofCeiling::Kind::roof, is_limit = each->kind == RoofCeiling::Kind::limit;
    const Colour line = is_roof ? Colour::text1 : is_limit ? Colour::warning_line : Colour::text3;
    // Each goes as far as the other kind of roof lets it.
    double begin = intensity_.low(), end = intensity_.high();
    if (each->is_compute && bandwidth) begin = std::max(begin, each->value / *bandwidth);
    if (!each->is_compute && compute) end = std::min(end, *compute / each->value);
    if (begin >= end) continue;
    const auto rate_at = [&](double intensity) { return each->is_compute ? each->value : each->value * intensity; };
    const Point from = place(begin, rate_at(begin)), to = place(end, rate_at(end));
    lines_.push_back({from, to});
    if (is_roof) {
      ui.draw()->AddLine({from.x, from.y}, {to.x, to.y}, ui.colour(line), ui.px(2));
    } else {
      dashed_line(ui, ui.draw(), from, to, ui.colour(line), 5, 4, is_limit ? 1.5F : 1);
    }
  }
  for (const RoofCeiling& each : shown.ceilings) {
    const bool is_roof = each.kind == RoofCeiling::Kind::roof, is_limit = each.kind == RoofCeiling::Kind::limit;
    const Colour words = is_roof ? Colour::text1 : is_limit ? Colour::warning : Colour::text3;
    const std::string text =
        fmt::format("{}{} {}", is_limit && each.title.find(',') != std::string::npos ? "≈ " : "", each.title,
                    format_peak(each.value, each.is_compute ? kFlopsPerSecond : kBytesPerSecond));
    if (each.is_compute) {
      const Point at = place(intensity_.high(), each.value);
      if (at.y > plot_.y0 && at.y < plot_.y1) label(text, {plot_.x1 - ui.px(2), at.y - ui.px(18)}, Align::right, words);
      continue;
    }
    const double end =
        std::min({intensity_.high(), rate_.high() / each.value, compute ? *compute / each.value : intensity_.high()});
    const double begin = std::max(intensity_.low(), rate_.low() / each.value);
    if (begin >= end) continue;
    const double middle = begin * std::pow(end / begin, is_limit ? 0.4 : 0.55);
    const Point at = place(middle, each.value * middle);
    if (is_limit) {
      label(text, {at.x + ui.px(10), at.y + ui.px(4)}, Align::left, words);
    } else {
      label(text, {at.x - ui.px(8), at.y - ui.px(20)}, Align::right, words);
    }
  }
}

void RoofPlot::draw_dots(const PanelContext& context, const Shown& shown) const {
  Ui& ui = context.ui;
  for (const Dot& dot : dots_) {  // the largest first, so that none is hidden
    const Pixel colour = shown.faded ? ui.theme().dimmed(dot.colour) : dot.colour;
    ui.draw()->AddCircleFilled({dot.at.x, dot.at.y}, dot.radius, colour, 24);
    ui.draw()->AddCircle({dot.at.x, dot.at.y}, dot.radius, ui.colour(Colour::bg1), 24, ui.px(1));
    if (dot.selected)
      ui.draw()->AddCircle({dot.at.x, dot.at.y}, dot.radius + ui.px(2), ui.colour(Colour::selection), 32, ui.px(2));
  }
}

// One label for points that lie at one place; each where it covers no point, no ceiling and no other label.
void RoofPlot::draw_labels(const PanelContext& context) {
  Ui& ui = context.ui;
  std::vector<bool> named(dots_.size(), false);
  const float near = ui.px(kSharedLabel);
  const auto is_free = [&](const Rect& rect) {
    if (rect.x0 < plot_.x0 || rect.x1 > plot_.x1 || rect.y0 < plot_.y0 || rect.y1 > plot_.y1) return false;
    const auto covers = [&](const Dot& dot) {
      return rect.overlaps(
          {dot.at.x - dot.radius, dot.at.y - dot.radius, dot.at.x + dot.radius, dot.at.y + dot.radius});
    };
    return std::none_of(taken_.begin(), taken_.end(), [&](const Rect& other) { return other.overlaps(rect); }) &&
           std::none_of(dots_.begin(), dots_.end(), covers) &&
           std::none_of(lines_.begin(), lines_.end(),
                        [&](const Segment& line) { return meets(rect, line.from, line.to); });
  };
  for (std::size_t i = 0; i < dots_.size(); ++i) {
    if (named[i]) continue;
    const Dot& dot = dots_[i];
    std::size_t more = 0;
    for (std::size_t other = i + 1; other < dots_.size(); ++other) {
      if (named[other] || std::hypot(dots_[other].at.x - dot.at.x, dots_[other].at.y - dot.at.y) >= near) continue;
      named[other] = true;
      ++more;
    }
    const bool layered = dot.point->text.find('/') != std::string::npos;
    std::string text = dot_name(*dot.point, layered ? RoofGrouping::layer : RoofGrouping::name);
    if (more > 0) text += fmt::format(", {} more", more);
    const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(8), height = ui.px(16);
    constexpr std::array<float, 3> kDistances = {4, 18, 36};
    bool placed = false;
    for (const float distance : kDistances) {
      const float away = dot.radius + ui.px(distance);
      const std::array<Rect, 6> places = {{
          {dot.at.x + away, dot.at.y - height / 2, 0, 0},
          {dot.at.x - away - width, dot.at.y - height / 2, 0, 0},
          {dot.at.x - width / 2, dot.at.y - away - height, 0, 0},
          {dot.at.x - width / 2, dot.at.y + away, 0, 0},
          {dot.at.x + away * 0.7F, dot.at.y + away * 0.7F, 0, 0},
          {dot.at.x - away * 0.7F - width, dot.at.y - away * 0.7F - height, 0, 0},
      }};
      for (Rect rect : places) {
        rect.x1 = rect.x0 + width;
        rect.y1 = rect.y0 + height;
        if (!is_free(rect)) continue;
        taken_.push_back(rect);
        if (distance > kDistances.front()) {
          const Point end = {std::clamp(dot.at.x, rect.x0, rect.x1), std::clamp(dot.at.y, rect.y0, rect.y1)};
          const float length = std::max(1.0F, std::hypot(end.x - dot.at.x, end.y - dot.at.y));
          const Point edge = {dot.at.x + (end.x - dot.at.x) / length * dot.radius,
                              dot.at.y + (end.y - dot.at.y) / length * dot.radius};
          ui.draw()->AddLine({edge.x, edge.y}, {end.x, end.y}, ui.colour(Colour::text3), ui.px(1));
        }
        draw_text(
            ui, rect.inset(ui.px(4), 0), text,
            {.style = TextStyle::mono_small, .colour = dot.selected ? Colour::text1 : Colour::text2, .fit = Fit::clip});
        placed = true;
        break;
      }
      if (placed) break;
    }
  }
}

void RoofPlot::handle_input(const PanelContext& context, const Shown& shown) {
  Ui& ui = context.ui;
  const Dot* hovered = nullptr;
  const Interaction hand = interact(ui, "roofline.plot", plot_, {.below_others = true});
  const Point pointer = ui.input().mouse;
  for (const Dot& dot : dots_) {
    const float reach = dot.radius + ui.px(2);
    ui.register_widget(fmt::format("roofline.point.{}", dot.number),
                       {dot.at.x - dot.radius, dot.at.y - dot.radius, dot.at.x + dot.radius, dot.at.y + dot.radius});
    if (hand.hovered && std::hypot(pointer.x - dot.at.x, pointer.y - dot.at.y) <= reach) hovered = &dot;  // the top one
  }
  const auto number = hovered == nullptr ? std::nullopt : std::optional(hovered->number);
  if (number != hovered_) hovered_since_s_ = ui.time();
  hovered_ = number;
  if (hovered == nullptr) return;
  set_cursor(Cursor::hand);
  ui.draw()->AddCircle({hovered->at.x, hovered->at.y}, hovered->radius + ui.px(1), ui.colour(Colour::text2), 32,
                       ui.px(1));
  if (hand.pressed || hand.double_clicked) {
    const EventFilter events = events_of_point(*context.tab.snapshot, shown.grouping, *hovered->point, shown.filter);
    select_target(context, events, false);
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

void RoofPlot::draw_card(const PanelContext& context, const Shown& shown, const Dot& dot) const {
  const RoofPoint& point = *dot.point;
  const double intensity = point.intensity(shown.memory);
  const std::string& memory = shown.line.memories[shown.memory].name;
  HoverCard card{.title = dot_name(point, shown.grouping),
                 .title_value = format_duration(static_cast<double>(point.busy_ns)),
                 .whole = point.text,
                 .swatch = dot.colour};
  card.rows.push_back({"Events", format_count(point.count)});
  card.rows.push_back({"Operations", format_scaled(point.flops, "FLOP")});
  card.rows.push_back({memory, format_bytes(point.bytes[shown.memory])});
  card.rows.push_back({"Intensity", fmt::format("{} FLOP/B", format_number(intensity))});
  card.rows.push_back({"Achieved", format_peak(point.rate(), kFlopsPerSecond)});
  if (const auto roof = roof_at(shown.ceilings, intensity)) {
    card.rows.push_back({"Roof here", format_peak(*roof, kFlopsPerSecond)});
    card.rows.push_back({"Of its roof", format_share(point.rate() / *roof)});
  }
  card.rows.push_back(
      {memory + " rate",
       format_peak(point.bytes[shown.memory] / static_cast<double>(point.busy_ns) * 1e9, kBytesPerSecond)});
  card.footer = "Click selects its events, a double click zooms to them";
  hover_card(context.ui, card,
             {dot.at.x - dot.radius, dot.at.y - dot.radius, dot.at.x + dot.radius, dot.at.y + dot.radius});
}

void RoofPlot::draw_foot(const PanelContext& context, const Rect& foot, const Shown& shown) const {
  Ui& ui = context.ui;
  Rect row = foot;
  const auto text = [&](const std::string& words, Colour colour) {
    const float width = draw_text(ui, row, words, {.style = TextStyle::small, .colour = colour});
    row.cut_left(width + ui.px(6));
  };
  const Roofline::Unplaced rest = shown.line.unplaced(shown.memory);
  const std::string& memory = shown.line.memories[shown.memory].name;
  std::vector<std::string> missing;
  if (rest.without_flops > 0)
    missing.push_back(fmt::format("{} without FLOPs: {}", format_count(rest.without_flops), rest.flops_example));
  if (rest.without_bytes > 0)
    missing.push_back(
        fmt::format("{} without {} bytes: {}", format_count(rest.without_bytes), memory, rest.bytes_example));
  std::size_t placed = 0;
  for (const RoofPoint& point : shown.line.points) placed += point.is_placed(shown.memory) ? 1 : 0;
  if (placed > dots_.size()) missing.push_back(fmt::format("the {} busiest of {}", dots_.size(), format_count(placed)));
  std::string counted;
  for (const std::string& each : missing) counted += (counted.empty() ? "" : "; ") + each;
  const float wanted = text_width(ui, TextStyle::small, counted);
  const float legend = ui.px(200);
  if (row.width() > wanted + legend) {
    text("size: busy", Colour::text3);
    for (const double part : {0.05, 0.5}) {  // of the busiest, as large as they are drawn
      const float radius = std::max(ui.px(kSmallestDot), largest_dot(ui) * static_cast<float>(std::sqrt(part)));
      const Rect at = row.cut_left(radius * 2 + ui.px(4));
      ui.draw()->AddCircle({at.x0 + radius, at.centre().y}, radius, ui.colour(Colour::text3), 24, ui.px(1));
      text(format_duration(static_cast<double>(longest_ns_) * part), Colour::text2);
    }
  }
  const Interaction hand = interact(ui, "roofline.unplaced", row, {.below_others = true});
  draw_text(ui, row, counted, {.style = TextStyle::small, .colour = Colour::text3, .align = Align::right});
  if (hand.hovered && !counted.empty()) tooltip(ui, hand, row, counted);
}

}  // namespace accelscope::app
