// The overview of the session with its brush, and the ruler.
#include <map>

#include "app/session/analysis.h"
#include "app/timeline/frame.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr double kRenewSeconds = 0.25;      // how often the overview of a live session is made anew
constexpr float kStubMargin = 8;            // units on both sides of its text
constexpr std::size_t kLanesPerFrame = 48;  // that the overview adds up in a frame
constexpr float kHitTick = 5;  // units: height of what marks search hits and lit events at the foot of the overview

[[nodiscard]] std::string idle_text(double ns) { return format_duration(ns) + " idle"; }

[[nodiscard]] content::FoldedAxis axis_of(const TimelineFrame& frame, const Rect& canvas) {
  std::vector<TimeRange> gaps;  // of a capture they are folded when it has ended: until then everything moves
  if (frame.tab.analysis && frame.tab.live != session::LiveState::recording) {
    if (const auto activity = frame.tab.analysis->activity()) gaps = activity->gaps;
  }
  const auto idle =
      content::stretches_to_fold(frame.session.begin_ns, frame.session.end_ns, frame.tab.first_shown, gaps);
  return {frame.session.begin_ns, frame.session.end_ns, std::max(1, static_cast<int>(canvas.width())), idle,
          [&](double ns) {
            return static_cast<int>(
                std::ceil(text_width(frame.ui, TextStyle::mono_small, idle_text(ns)) + 2 * frame.ui.px(kStubMargin)));
          }};
}

void renew(TimelineFrame& frame, const Rect& canvas) {
  Overview& overview = frame.state.overview;
  content::FoldedAxis axis = axis_of(frame, canvas);
  const bool moved = axis != overview.axis;
  const bool resized = overview.axis.parts().empty() || axis.parts().back().x1 != overview.axis.parts().back().x1 ||
                       axis.parts().size() != overview.axis.parts().size();
  overview.axis = std::move(axis);
  const bool newer = overview.version != frame.snapshot.version || overview.shade_version != frame.state.shade_version;
  if ((moved || newer) && (resized || overview.made_at_s < 0 || frame.ui.time() - overview.made_at_s > kRenewSeconds)) {
    overview.complete = false;
    overview.next_band = 0;
    overview.version = frame.snapshot.version;
    overview.shade_version = frame.state.shade_version;
    overview.made_at_s = frame.ui.time();
  }
  if (overview.complete) return;
  const auto& bands = frame.state.bands;
  const auto& parts = overview.axis.parts();
  if (overview.bands.size() != bands.size() * parts.size()) {
    overview.bands.assign(bands.size() * parts.size(), {});
    overview.next_band = 0;
  }
  std::size_t budget = kLanesPerFrame;
  while (overview.next_band < overview.bands.size() && budget > 0) {
    SummaryBuilder& band = overview.bands[overview.next_band];
    const content::FoldedAxis::Part& part = parts[overview.next_band % parts.size()];
    if (part.folded) {
      ++overview.next_band;
      continue;
    }
    if (!band.busy() || moved) band.begin(bands[overview.next_band / parts.size()], part.view());
    band.advance(
        frame.snapshot, frame.state.windows, frame.state.crew,
        [&](std::uint32_t lane) { return shade_of(frame, lane); }, budget);
    // While windows are missing the band is drawn from leaves and made again in the next frames.
    const bool whole = !band.busy() && (band.strip().complete || frame.tab.live == session::LiveState::recording);
    if (!whole) break;
    ++overview.next_band;
  }
  if (overview.next_band < overview.bands.size()) frame.ui.request_frame();
  overview.complete = overview.next_band >= overview.bands.size();
}

[[nodiscard]] float overview_x(const TimelineFrame& frame, const Rect& canvas, double ns) {
  return canvas.x0 + static_cast<float>(frame.state.overview.axis.x(ns));
}

[[nodiscard]] double overview_ns(const TimelineFrame& frame, const Rect& canvas, float x) {
  return frame.state.overview.axis.ns(static_cast<double>(x - canvas.x0));
}

// A line along the critical path, pixel by pixel: it may have more parts than there are.
void paint_path(TimelineFrame& frame, const Rect& canvas) {
  const session::ShownPath* path = frame.tab.marked_path.get();
  if (path == nullptr) return;
  Ui& ui = frame.ui;
  const Pixel colour = ui.colour(Colour::accent);
  for (float x = canvas.x0; x < canvas.x1;) {
    const double at_ns = overview_ns(frame, canvas, x);
    const auto part = std::upper_bound(path->parts.begin(), path->parts.end(), at_ns, [](double ns, const auto& each) {
      return ns < static_cast<double>(each.end_ns);
    });
    if (part == path->parts.end()) break;
    const float x0 = std::max(x, overview_x(frame, canvas, static_cast<double>(part->begin_ns)));
    const float x1 = std::max(x + 1, std::min(overview_x(frame, canvas, static_cast<double>(part->end_ns)), canvas.x1));
    if (!part->is_gap && x0 < x1) fill(ui, {x0, canvas.y1 - ui.px(3), x1, canvas.y1 - ui.px(1)}, colour);
    x = x1;
  }
  ui.register_widget(frame.name("overview.path"), {canvas.x0, canvas.y1 - ui.px(3), canvas.x1, canvas.y1});
}

void paint_bands(TimelineFrame& frame, const Rect& canvas) {
  Overview& overview = frame.state.overview;
  Ui& ui = frame.ui;
  frame.overview_texture.begin(
      static_cast<int>(canvas.width()), static_cast<int>(canvas.x0), static_cast<int>(ui.px(size::kOverview)),
      {static_cast<int>(ui.px(size::kHatchStep)), ui.scale(), ui.colour(Colour::hatch), ui.colour(Colour::hatch_bg)});
  std::vector<int> rows;
  std::vector<PixelRun> found, lit;
  const auto& parts = overview.axis.parts();
  for (std::size_t first = 0; first + parts.size() <= overview.bands.size(); first += parts.size()) {
    std::vector<Pixel> texels(static_cast<std::size_t>(canvas.width()));
    bool made = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const SummaryBuilder& band = overview.bands[first + i];
      if (parts[i].folded || band.strip().texels.empty()) continue;  // not made yet
      made = true;
      const SummaryStrip strip = at_view(band.strip(), parts[i].view());
      const auto begin = std::min(texels.size(), static_cast<std::size_t>(parts[i].x0));
      const std::size_t count = std::min(strip.texels.size(), texels.size() - begin);
      std::copy_n(strip.texels.begin(), count, texels.begin() + static_cast<std::ptrdiff_t>(begin));
      const auto place = [&](const std::vector<PixelRun>& from, std::vector<PixelRun>& to) {
        for (const PixelRun& run : from) to.push_back({run.begin + parts[i].x0, run.end + parts[i].x0});
      };
      place(strip.found, found);
      place(strip.lit, lit);
    }
    if (made) rows.push_back(frame.overview_texture.add(texels));
  }
  frame.overview_texture.upload(ui.textures());
  if (!rows.empty()) {
    const float room = canvas.height() - ui.px(10);
    const float step = std::min(ui.px(9), room / static_cast<float>(rows.size()));
    float y = canvas.y0 + ui.px(5) + (room - step * static_cast<float>(rows.size())) / 2;
    for (const int row : rows) {
      const Rect band{canvas.x0, std::round(y), canvas.x1, std::round(y + step) - ui.px(1)};
      frame.overview_texture.draw_row(frame.list, band, row);
      y += step;
    }
  }
  const auto paint_ticks = [&](const std::vector<PixelRun>& runs, Colour colour) {
    for (const PixelRun& run : runs) {
      const float x0 = canvas.x0 + static_cast<float>(run.begin);
      const float x1 = std::max(canvas.x0 + static_cast<float>(run.end), x0 + ui.px(2));
      fill(ui, {x0, canvas.y1 - ui.px(kHitTick), x1, canvas.y1 - ui.px(1)}, ui.colour(colour));
    }
  };
  paint_path(frame, canvas);
  paint_ticks(lit, Colour::accent);
  paint_ticks(found, Colour::text1);
  for (const content::FoldedAxis::Part& part : parts) {
    if (!part.folded) continue;
    const Rect stub{canvas.x0 + static_cast<float>(part.x0), canvas.y0, canvas.x0 + static_cast<float>(part.x1),
                    canvas.y1};
    frame.overview_texture.draw_hatch(frame.list, stub);
    const Rect chip = stub.inset(ui.px(kStubMargin / 2), ui.px(11));
    fill(ui, chip, ui.colour(Colour::bg1));
    draw_text(ui, chip, idle_text(part.end_ns - part.begin_ns),
              {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::centre, .fit = Fit::clip});
    ui.register_widget(frame.name("folded.") + std::to_string(&part - parts.data()), stub);
  }
}

// Where errors, throttling and warnings happened.
void paint_incidents(TimelineFrame& frame, const Rect& canvas) {
  if (!frame.state.incidents) return;
  Ui& ui = frame.ui;
  std::map<float, Alert> gravest;  // by pixel
  for (const analysis::Incident& incident : frame.state.incidents->list) {
    Alert& kind = gravest[std::floor(overview_x(frame, canvas, static_cast<double>(incident.begin_ns)))];
    kind = std::max(kind, incident.alert);
  }
  for (const auto& [x, kind] : gravest) {
    const bool error = kind == Alert::error;  // twice as tall: the colour alone does not tell
    fill(ui, {x, canvas.y0, x + ui.px(2), canvas.y0 + ui.px(error ? 2 * kHitTick : kHitTick)},
         ui.colour(error ? Colour::error : Colour::warning_line));
  }
}

void move_brush(TimelineFrame& frame, const Rect& canvas) {
  TimelineState& state = frame.state;
  Ui& ui = frame.ui;
  const Interaction touch = interact(ui, frame.name("overview"), canvas,
                                     {.keys = FocusStopKind::pointer, .label = "Overview of the whole session"});
  const float mouse = ui.input().mouse.x;
  const float left = overview_x(frame, canvas, frame.tab.view.begin_ns);
  const float right = overview_x(frame, canvas, frame.tab.view.end_ns);
  if (touch.pressed) {
    const bool inside = mouse >= left - ui.px(4) && mouse <= right + ui.px(4);
    state.gesture = inside ? Gesture::brush : Gesture::brush_new;
    state.pressed_at = state.last_mouse = ui.input().mouse;
    state.pressed_ns = overview_ns(frame, canvas, mouse);
  }
  if (touch.double_clicked) {
    move_view(frame.tab, state, view::fitted(frame.session.begin_ns, frame.session.end_ns, frame.session, 0.01));
    finish_move(frame.tab, state);
    state.gesture = Gesture::none;
    return;
  }
  if (state.gesture == Gesture::brush) {
    const double by = overview_ns(frame, canvas, mouse) - overview_ns(frame, canvas, state.last_mouse.x);
    if (by != 0) move_view(frame.tab, state, view::panned(frame.tab.view, by, frame.session));
    state.last_mouse = ui.input().mouse;
  } else if (state.gesture == Gesture::brush_new && std::abs(mouse - state.pressed_at.x) > ui.px(4)) {
    const double at = overview_ns(frame, canvas, std::clamp(mouse, canvas.x0, canvas.x1));
    move_view(frame.tab, state,
              view::fitted(std::min(at, state.pressed_ns), std::max(at, state.pressed_ns), frame.session, 0));
  }
  const bool released = !ui.input().down(MouseButton::left);
  if (released && (state.gesture == Gesture::brush || state.gesture == Gesture::brush_new)) {
    if (state.gesture == Gesture::brush_new && std::abs(mouse - state.pressed_at.x) <= ui.px(4)) {
      const double by = state.pressed_ns - (frame.tab.view.begin_ns + frame.tab.view.end_ns) / 2;
      move_view(frame.tab, state, view::panned(frame.tab.view, by, frame.session));
    }
    finish_move(frame.tab, state);
    state.gesture = Gesture::none;
  }
}

void paint_brush(TimelineFrame& frame, const Rect& canvas) {
  Ui& ui = frame.ui;
  const float left = std::clamp(overview_x(frame, canvas, frame.tab.view.begin_ns), canvas.x0, canvas.x1);
  const float right = std::clamp(overview_x(frame, canvas, frame.tab.view.end_ns), canvas.x0, canvas.x1);
  // Never too thin to be seen or taken hold of.
  const float middle = (left + right) / 2;
  const float half = std::max((right - left) / 2, ui.px(3));
  const Rect brush{std::round(middle - half), canvas.y0, std::round(middle + half), canvas.y1};
  fill(ui, brush, with_alpha(ui.colour(Colour::accent), 0.16F));
  outline(ui, brush, ui.colour(Colour::accent), 0, 1.5F);
  ui.register_widget(frame.name("brush"), brush);
}

// The same figure as in the status bar, the summary and the metrics.
[[nodiscard]] std::string overview_text(const TimelineFrame& frame) {
  const auto activity = frame.tab.analysis ? frame.tab.analysis->activity() : nullptr;
  if (activity && activity->active_ns > 0) {
    return format_duration(activity->active_ns) + " active";
  }
  return format_duration(frame.session.end_ns - frame.session.begin_ns) + " long";
}

void draw_follow_button(TimelineFrame& frame) {
  if (frame.tab.live != session::LiveState::recording) return;
  Ui& ui = frame.ui;
  const Rect label = frame.label(frame.markers);
  const ButtonOptions options{.label = frame.tab.follow ? "Following" : "Follow",
                              .kind = ButtonKind::flat,
                              .active = frame.tab.follow,
                              .tooltip = "Keep the newest events in sight; any zoom or pan stops it"};
  const float width = button_width(ui, options);
  const Rect rect{label.x1 - width - ui.px(6), label.y0, label.x1 - ui.px(6), label.y1};
  if (button(ui, frame.name("follow"), rect, options)) frame.tab.follow = !frame.tab.follow;
}

}  // namespace

void draw_overview(TimelineFrame& frame) {
  Ui& ui = frame.ui;
  const Rect canvas = frame.canvas(frame.overview);
  const Rect label = frame.label(frame.overview);
  fill(ui, label, ui.colour(Colour::bg2));
  fill(ui, canvas, ui.colour(Colour::bg1));
  const float inset = ui.px(size::kPanelPadding);
  Rect text{label.x0 + inset, label.y0 + ui.px(4), label.x1 - inset, label.y1 - ui.px(2)};
  draw_text(ui, text.cut_top(ui.px(17)), "Session", {.style = TextStyle::heading});
  draw_text(ui, text.cut_top(ui.px(16)), overview_text(frame), kMonoHint);

  renew(frame, canvas);
  move_brush(frame, canvas);
  frame.list->PushClipRect(low(canvas), high(canvas), true);
  paint_bands(frame, canvas);
  paint_incidents(frame, canvas);
  for (const Marker& marker : frame.tab.markers) {
    const float x = std::round(overview_x(frame, canvas, static_cast<double>(marker.ts_ns)));
    frame.list->AddTriangleFilled(ImVec2(x - ui.px(4), canvas.y0), ImVec2(x + ui.px(4), canvas.y0),
                                  ImVec2(x, canvas.y0 + ui.px(6)), ui.colour(Colour::marker));
  }
  paint_brush(frame, canvas);
  frame.list->PopClipRect();
  horizontal_line(ui, frame.overview.x0, frame.overview.x1, frame.overview.y1 - ui.px(1), ui.colour(Colour::line2));
}

void draw_ruler(TimelineFrame& frame) {
  Ui& ui = frame.ui;
  const Rect label = frame.label(frame.ruler);
  const Rect canvas = frame.canvas(frame.ruler);
  const float inset = ui.px(size::kPanelPadding);
  fill(ui, {label.x0, label.y0, label.x1, frame.markers.y1}, ui.colour(Colour::bg2));
  fill(ui, {canvas.x0, canvas.y0, canvas.x1, frame.markers.y1}, ui.colour(Colour::bg1));
  const Rect text = label.inset(inset, 0);
  draw_text(ui, text, "since start", kHintText);
  draw_text(ui, text, format_duration(frame.view.span_ns()),
            {.style = TextStyle::mono_small, .colour = Colour::text1, .align = Align::right});

  frame.list->PushClipRect(low(canvas), ImVec2(canvas.x1, frame.rows.y1), true);
  for (const RulerTick& tick : frame.time_ruler.ticks) {
    const float x = std::floor(frame.canvas_x + static_cast<float>(tick.x));
    const bool major = !tick.label.empty();
    const float height = ui.px(major ? 8 : 4);
    fill(ui, {x, canvas.y1 - height, x + ui.px(1), canvas.y1}, ui.colour(major ? Colour::text3 : Colour::line2));
    const Rect place{x + ui.px(5), canvas.y0, x + ui.px(5) + text_width(ui, TextStyle::mono_small, tick.label),
                     canvas.y1 - ui.px(2)};
    if (!major || place.x0 < canvas.x0 || place.x1 > canvas.x1) continue;  // a part of a number is another number
    draw_text(ui, place, tick.label, {.style = TextStyle::mono_small, .colour = Colour::text2, .fit = Fit::clip});
  }
  frame.list->PopClipRect();
  horizontal_line(ui, frame.ruler.x0, frame.ruler.x1, frame.ruler.y1 - ui.px(1), ui.colour(Colour::line1));
  draw_follow_button(frame);
}

}  // namespace accelscope::app::timeline
