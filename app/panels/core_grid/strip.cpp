// The range with its brush, and playing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/panels/core_grid/panel.h"
#include "core/base/format.h"
#include "imgui.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr std::array<double, 4> kPlaySeconds = {4, 10, 30, 60};  // for the whole strip
constexpr double kPlayedShare = 0.05;  // of the strip: the brush that is played where there is none
constexpr float kHandle = 6;           // units: how near to an edge it is held
constexpr float kStripClickSlack = 3;

std::string speed_text(double ns_per_second) {
  const double slower = 1e9 / ns_per_second;
  if (slower >= 1.5) return fmt::format("plays at 1/{} of real speed", format_number(std::round(slower)));
  if (slower > 0.67) return "plays at real speed";
  return fmt::format("plays {}× as fast as it was", format_number(std::round(1 / slower)));
}

}  // namespace

void CoreGridPanel::play(const PanelContext& context) {
  Ui& ui = context.ui;
  if (!playing_) return;
  const double passed = std::clamp(ui.time() - played_at_s_, 0.0, 0.25);  // after a pause it goes on, not ahead
  played_at_s_ = ui.time();
  const GridFrames& frames = *frames_;
  const double length = static_cast<double>(frames.range.length_ns());
  const GridBrush::Stretch now = brush_.of(frames);
  brush_.move_to(frames, now.begin + length * passed / kPlaySeconds[static_cast<std::size_t>(speed_)]);
  if (brush_.of(frames).end >= static_cast<double>(frames.range.end_ns)) {
    playing_ = false;
    return;
  }
  ui.request_frame();
}

void CoreGridPanel::draw_strip(const PanelContext& context, Rect area, const Shown& shown) {
  Ui& ui = context.ui;
  const GridFrames& frames = shown.frames;
  const TimeRange range = frames.stretch(shown.span.first, shown.span.last);
  Rect head = area.cut_top(ui.px(24));
  std::vector<std::string> speeds;
  for (const double each : kPlaySeconds) speeds.push_back(fmt::format("{:.0f} s", each));
  const DropdownOptions options = {.label = "All in ", .flat = true, .tooltip = "How fast the range is played"};
  dropdown(ui, "grid.speed", head.cut_right(dropdown_width(ui, speeds[static_cast<std::size_t>(speed_)], options)),
           speeds, speed_, options);
  head.cut_right(ui.px(12));
  const bool whole = brush_.whole();
  if (!whole) {
    const float width = link_width(ui, "Whole range", TextStyle::small);
    if (link(ui, "grid.whole", head.cut_right(width), "Whole range", TextStyle::small)) brush_.clear();
    head.cut_right(ui.px(12));
  }
  const std::int64_t start = context.tab.snapshot->begin_ns;
  head.cut_left(heading(ui, head, "Range of the grid") - head.x0 + ui.px(12));
  draw_text(ui, head,
            fmt::format("{} – {}, {}", format_duration(static_cast<double>(range.begin_ns - start)),
                        format_duration(static_cast<double>(range.end_ns - start)),
                        format_duration(static_cast<double>(range.length_ns()))),
            {.style = TextStyle::mono, .colour = Colour::text2});

  Rect foot = area.cut_bottom(ui.px(18));
  const Rect button = area.cut_left(ui.px(28)).middle(ui.px(28));
  if (icon_button(ui, "grid.play", button, playing_ ? icon::kPause : icon::kPlay,
                  playing_ ? "Pause" : "Move the range over the time that is shown",
                  {.kind = ButtonKind::quiet, .active = playing_})) {
    playing_ = !playing_;
    played_at_s_ = ui.time();
    const double length = static_cast<double>(frames.range.length_ns());
    const auto begin = static_cast<double>(frames.range.begin_ns);
    const GridBrush::Stretch now = brush_.of(frames);
    if (playing_ && (whole || now.end - now.begin >= length)) {
      brush_.set(frames, begin, begin + length * kPlayedShare);
    } else if (playing_ && now.end >= static_cast<double>(frames.range.end_ns)) {
      brush_.move_to(frames, begin);
    }
    ui.request_frame();
  }
  area.cut_left(ui.px(10));
  foot.x0 = area.x0;
  draw_curve(context, area, shown);
  take_hand(context, area, frames);
  const double ns_per_second =
      static_cast<double>(frames.range.length_ns()) / kPlaySeconds[static_cast<std::size_t>(speed_)];
  const TextOptions hint = {.style = TextStyle::small, .colour = Colour::text3};
  const std::string speed = speed_text(ns_per_second);
  TextOptions right = hint;
  right.align = Align::right;
  foot.cut_right(draw_text(ui, foot, speed, right) + ui.px(12));
  std::string said = grid_measure_title(frames.measure, *context.tab.snapshot);
  const std::size_t cores = shown.values.measured;
  const char* const what = frames.grid.has_places() ? "core" : "lane";
  said += cores == 1 ? fmt::format(", one {}", what) : fmt::format(", mean of {} {}s", format_count(cores), what);
  draw_text(ui, foot, said, hint);
}

void CoreGridPanel::draw_curve(const PanelContext& context, const Rect& plot, const Shown& shown) {
  Ui& ui = context.ui;
  const GridFrames& frames = shown.frames;
  if (curve_of_ != frames_) {
    curve_of_ = frames_;
    curve_.assign(frames.count, 0);
    const std::vector<double>& values = frames.cells;
    for (std::size_t i = 0; i < values.size(); ++i) curve_[i % frames.count] += values[i];
    double most = 0;
    for (std::size_t i = 0; i < curve_.size(); ++i) {
      curve_[i] /= static_cast<double>(std::max<std::size_t>(1, shown.values.measured));
      if (frames.measure.is_time()) curve_[i] /= static_cast<double>(frames.stretch(i, i + 1).length_ns());
      most = std::max(most, curve_[i]);
    }
    // In tenths, as the ramp: of a session that is nearly idle the curve is seen, too.
    constexpr double kStep = 0.1;
    const double full = frames.measure.is_time() ? std::max(kStep, std::ceil(most / kStep) * kStep) : most;
    for (double& each : curve_) each = full > 0 ? each / full : 0;
  }
  fill(ui, plot, ui.colour(Colour::bg1), size::kSliceRadius);
  const GridBrush::Stretch at = brush_.of(frames);
  const auto x_of = [&](double ns) {
    return plot.x0 + plot.width() * static_cast<float>((ns - static_cast<double>(frames.range.begin_ns)) /
                                                       static_cast<double>(frames.range.length_ns()));
  };
  const auto count = static_cast<float>(frames.count);
  const float left = std::round(x_of(at.begin)), right = std::max(left + 1, std::round(x_of(at.end)));
  const Pixel line = ui.theme().slice(0);
  const Pixel inside = mix(ui.colour(Colour::bg1), line, 0.45F), outside = mix(ui.colour(Colour::bg1), line, 0.2F);
  const Rect brush = {left, plot.y0, right, plot.y1};
  if (!brush_.whole()) fill(ui, brush, ui.colour(Colour::accent_bg));
  for (std::size_t i = 0; i < curve_.size(); ++i) {
    const float x0 = plot.x0 + plot.width() * static_cast<float>(i) / count;
    const float x1 = plot.x0 + plot.width() * static_cast<float>(i + 1) / count;
    const float least = curve_[i] > 0 ? ui.px(1) : 0;
    const float top = plot.y1 - std::max(least, std::round((plot.height() - ui.px(3)) * static_cast<float>(curve_[i])));
    const bool in = (x0 + x1) / 2 >= left && (x0 + x1) / 2 < right;
    const Rect bar = {std::round(x0), top, std::max(std::round(x0) + 1, std::round(x1)), plot.y1};
    fill(ui, bar, in ? inside : outside);
    fill(ui, {bar.x0, top, bar.x1, std::min(plot.y1, top + ui.px(1))}, in ? line : mix(outside, line, 0.4F));
  }
  if (brush_.whole()) return;
  outline(ui, brush, ui.colour(Colour::accent), 0);
  for (const float x : {left, right}) {
    const Rect handle = Rect{x - ui.px(2), plot.y0, x + ui.px(2), plot.y1}.middle(plot.height() * 0.5F);
    fill(ui, handle, ui.colour(Colour::accent), 2);
  }
}

// A drag from an edge moves the edge, from inside the brush moves it, from outside makes a new one; a double click has
// the whole range again.
void CoreGridPanel::take_hand(const PanelContext& context, const Rect& plot, const GridFrames& frames) {
  Ui& ui = context.ui;
  const Interaction touch = interact(ui, "grid.strip", plot, {.no_focus = true});
  const auto length = static_cast<double>(frames.range.length_ns());
  const double per_pixel = length / static_cast<double>(std::max(1.0F, plot.width()));
  const double at = static_cast<double>(frames.range.begin_ns) +
                    static_cast<double>(std::clamp(ui.input().mouse.x, plot.x0, plot.x1) - plot.x0) * per_pixel;
  const GridBrush::Stretch now = brush_.of(frames);
  const double near = static_cast<double>(ui.px(kHandle)) * per_pixel;
  const auto drag_at = [&] {
    if (brush_.whole()) return Drag::fresh;
    if (std::abs(at - now.begin) <= near && std::abs(at - now.begin) < std::abs(at - now.end)) return Drag::begin;
    if (std::abs(at - now.end) <= near) return Drag::end;
    return at > now.begin && at < now.end ? Drag::move : Drag::fresh;
  };
  if (touch.hovered || touch.held) {
    const Drag would = touch.held ? drag_ : drag_at();
    set_cursor(would == Drag::move ? Cursor::move : would == Drag::fresh ? Cursor::arrow : Cursor::resize_horizontal);
  }
  if (touch.hovered && !touch.held) context.tab.cursor_ns = static_cast<std::int64_t>(at);
  if (touch.pressed) {
    drag_ = drag_at();
    drag_from_ns_ = drag_ == Drag::begin ? now.end : drag_ == Drag::end ? now.begin : at;
    drag_offset_ns_ = at - now.begin;
    dragged_ = false;
    playing_ = false;
  }
  if (touch.held && drag_ != Drag::none) {
    dragged_ = dragged_ || std::abs(at - drag_from_ns_) > static_cast<double>(ui.px(kStripClickSlack)) * per_pixel;
    if (drag_ == Drag::move) {
      brush_.move_to(frames, at - drag_offset_ns_);
    } else if (dragged_) {
      brush_.set(frames, drag_from_ns_, at);
    }
  }
  if (touch.double_clicked) {
    brush_.clear();
    drag_ = Drag::none;
  } else if (touch.clicked) {
    // A click beside the brush brings it there.
    if (drag_ == Drag::fresh && !dragged_ && !brush_.whole()) brush_.move_to(frames, at - (now.end - now.begin) / 2);
    drag_ = Drag::none;
  }
  if (!touch.held && !touch.pressed) drag_ = Drag::none;
  if (drag_ == Drag::none && !playing_ && touch.hovered)
    tooltip(ui, touch, plot, "Drag to choose the range of the grid; double click for all of it");
}

}  // namespace accelscope::app
