// Signs in the marker row where errors, throttling and warnings happened: those that would lie over each other share
// one with their count. Resting on a sign tells what it is, clicks select its events one after another.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/session/analysis.h"
#include "app/timeline/frame.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/popup.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr float kSignWidth = 14;        // units
constexpr std::size_t kMostListed = 5;  // events that a sign's card names

using IncidentPlace = std::vector<Incident>::const_iterator;

struct Sign {
  IncidentPlace first, last;  // [first, last)
  float x0 = 0;
  float x1 = 0;
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(last - first); }
};

[[nodiscard]] Alert gravest(const Sign& sign) {
  return std::max_element(sign.first, sign.last, [](const Incident& a, const Incident& b) { return a.alert < b.alert; })
      ->alert;
}

[[nodiscard]] const char* word_for(Alert kind) {
  switch (kind) {
    case Alert::error:
      return "Error";
    case Alert::throttling:
      return "Throttling";
    case Alert::warning:
    case Alert::none:
      break;
  }
  return "Warning";
}

// From left to right; each as wide as its icon and count.
[[nodiscard]] std::vector<Sign> signs_in_view(const TimelineFrame& frame) {
  std::vector<Sign> signs;
  const std::vector<Incident>& list = frame.state.incidents->list;
  const auto begins_before = [](const Incident& incident, double ns) {
    return static_cast<double>(incident.begin_ns) < ns;
  };
  auto at = std::lower_bound(list.begin(), list.end(), frame.ns(frame.canvas_x), begins_before);
  const auto end = std::lower_bound(at, list.end(), frame.ns(frame.rows.x1), begins_before);
  while (at != end) {
    Sign sign{at, at + 1, std::floor(frame.x(static_cast<double>(at->begin_ns))), 0};
    sign.x1 = sign.x0 + frame.ui.px(kSignWidth);
    for (++at; at != end && frame.x(static_cast<double>(at->begin_ns)) < sign.x1; ++at) {
      sign.last = at + 1;
      sign.x1 = sign.x0 + frame.ui.px(kSignWidth + 4) +
                text_width(frame.ui, TextStyle::mono_small, format_count(sign.count()));
    }
    signs.push_back(sign);
  }
  return signs;
}

[[nodiscard]] std::string lane_name(const TimelineFrame& frame, EventId event) {
  const LaneSnapshot* lane = frame.snapshot.find_lane(lane_of(event));
  const TrackSnapshot* track = lane != nullptr ? frame.snapshot.find_track(lane->track) : nullptr;
  return track != nullptr ? track->track->name : std::string();
}

[[nodiscard]] Colour colour_of(Alert kind) { return kind == Alert::error ? Colour::error : Colour::warning_line; }

void explain(TimelineFrame& frame, const Sign& sign, const Rect& rect) {
  HoverCard card;
  const std::size_t count = sign.count();
  const Incident& first = *sign.first;
  if (count == 1) {
    card.title = std::string(frame.snapshot.strings->text(first.name));
    card.title_value = word_for(first.alert);
    card.rows.push_back({"Time", format_time_exact(first.begin_ns)});
    if (first.end_ns > first.begin_ns)
      card.rows.push_back({"Duration", format_time_exact(first.end_ns - first.begin_ns)});
    card.rows.push_back({"Lane", lane_name(frame, first.event)});
    card.footer = "Click to select it";
  } else {
    card.title = fmt::format("{} events", format_count(count));
    card.title_value = word_for(gravest(sign));
    for (std::size_t i = 0; i < std::min(count, kMostListed); ++i) {
      const Incident& each = *(sign.first + static_cast<std::ptrdiff_t>(i));
      card.rows.push_back({format_time_exact(each.begin_ns), std::string(frame.snapshot.strings->text(each.name)),
                           colour_of(each.alert), TextStyle::body});
    }
    card.footer = "Each click selects the next of them; zoom in to see them apart";
  }
  hover_card(frame.ui, card, rect, frame.canvas(frame.ruler));
}

// The first, or the one after the selected.
void select_next(TimelineFrame& frame, const Sign& sign) {
  auto chosen =
      std::find_if(sign.first, sign.last, [&](const Incident& each) { return frame.tab.selected == each.event; });
  chosen = chosen == sign.last || chosen + 1 == sign.last ? sign.first : chosen + 1;
  frame.tab.selected = chosen->event;
  frame.tab.also_selected.clear();
  frame.state.reveal = chosen->event;
}

void draw_sign(TimelineFrame& frame, std::size_t index, const Sign& sign) {
  Ui& ui = frame.ui;
  const Rect band = frame.canvas(frame.markers);
  const Rect rect{sign.x0, band.y0, sign.x1, band.y0 + ui.px(size::kMarkerRow)};
  const Interaction touch = interact(ui, "timeline.sign." + std::to_string(index), rect,
                                     {.disabled = false, .below_others = true, .no_focus = true});
  const Alert kind = gravest(sign);
  Rect inside = rect;
  draw_icon(ui, inside.cut_left(ui.px(kSignWidth)), kind == Alert::error ? icon::kError : icon::kWarning,
            ui.colour(colour_of(kind)), TextStyle::icon12);
  if (sign.count() > 1) {
    draw_text(ui, inside, format_count(sign.count()),
              {.style = TextStyle::mono_small, .colour = Colour::text1, .fit = Fit::clip});
  }
  if (touch.hovered) set_cursor(Cursor::hand);
  if (touch.hovered && touch.hovered_for < kHoverCardDelay) {
    ui.request_frame_after(kHoverCardDelay - touch.hovered_for);
  } else if (touch.hovered) {
    explain(frame, sign, rect);
  }
  if (touch.clicked) select_next(frame, sign);
}

}  // namespace

void draw_signs(TimelineFrame& frame) {
  if (frame.tab.analysis) frame.state.incidents = frame.tab.analysis->incidents();
  frame.state.signs.clear();
  if (!frame.state.incidents) return;
  const Rect band = frame.canvas(frame.markers);
  frame.list->PushClipRect(ImVec2(band.x0, band.y0), ImVec2(band.x1, band.y1), true);
  const std::vector<Sign> signs = signs_in_view(frame);
  for (std::size_t i = 0; i < signs.size(); ++i) {
    frame.state.signs.emplace_back(signs[i].x0, signs[i].x1);
    draw_sign(frame, i, signs[i]);
  }
  frame.list->PopClipRect();
}

}  // namespace accelscope::app
