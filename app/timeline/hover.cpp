// What the pointer rests on: one event, or how many there are where they are narrower than pixels.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/timeline/frame.h"
#include "core/base/format.h"
#include "core/lod/lane_window.h"
#include "core/scan/event_reader.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr float kNearPixels = 3;  // on both sides of the pointer, where nothing is right below it

void draw_hover_card(TimelineFrame& frame, const EventRecord& event, const Rect& slice) {
  HoverCard card;
  card.title = event.name_text.empty() ? "(no name)" : event.name_text;
  if (event.lane != nullptr && event.lane->schema != nullptr) {
    const std::string& usual = frame.state.labels.names(*event.lane->schema).usual(event.name_text);
    if (!usual.empty() && usual != event.name_text) {
      card.whole = event.name_text;
      card.title = usual;
    }
  }
  card.title_value = format_duration(static_cast<double>(event.end_ns - event.begin_ns));
  card.swatch = event_colour(frame, event);
  card.rows.push_back({"Start", format_time_exact(event.begin_ns)});
  card.rows.push_back({"Duration", format_time_exact(event.end_ns - event.begin_ns)});
  if (event.waits) card.rows.push_back({"State", "waiting", Colour::warning});
  const Schema* schema = event.lane != nullptr ? event.lane->schema.get() : nullptr;
  const auto add = [&](Role role, const char* label, Colour colour) {
    const auto column = schema != nullptr ? schema->find(role) : std::nullopt;
    if (!column || *column >= event.fields.size()) return;
    if (std::holds_alternative<std::monostate>(event.fields[*column])) return;
    card.rows.push_back({label, field_text(schema->columns[*column], event.fields[*column]), colour});
  };
  add(Role::wait_ns, "Waited", Colour::warning);
  add(Role::tensor, "Tensor", Colour::text1);
  add(Role::bytes, "Bytes", Colour::text1);
  add(Role::source_location, "Source", Colour::accent);
  if (event.lane != nullptr) {
    if (const TrackSnapshot* track = frame.snapshot.find_track(event.lane->track)) {
      card.rows.push_back({"Lane", track->track->name});
    }
  }
  hover_card(frame.ui, card, slice, frame.label({frame.rows.x0, slice.y0, frame.rows.x1, slice.y1}));
}

// What lies between two pixels of a lane.
struct Crowd {
  const DrawnLane* lane = nullptr;
  LaneStretch held;
  float x0 = 0;
  float x1 = 0;
  TimeRange range;
};

[[nodiscard]] Crowd crowd_between(const TimelineFrame& frame, const DrawnLane& lane, float x0, float x1) {
  Crowd crowd{.lane = &lane, .held = {}, .x0 = x0, .x1 = x1, .range = {}};
  crowd.range.begin_ns = std::llround(frame.ns(x0));
  crowd.range.end_ns = std::max<std::int64_t>(std::llround(frame.ns(x1)), crowd.range.begin_ns + 1);
  const LaneSnapshot& snapshot = frame.snapshot.lanes[lane.lane];
  crowd.held = lane_stretch(snapshot, &frame.state.windows.lane(snapshot), crowd.range);
  return crowd;
}

// In the pointer's pixel, else near it.
[[nodiscard]] std::optional<Crowd> crowd_under(const TimelineFrame& frame, Point at) {
  for (std::size_t i = 0; i < frame.state.lane_count; ++i) {
    const DrawnLane& lane = frame.state.lanes[i];
    if (at.y < lane.rect.y0 || at.y >= lane.rect.y1 || !lane.clip.contains(at)) continue;
    const float pixel = std::floor(at.x);
    Crowd crowd = crowd_between(frame, lane, pixel, pixel + 1);
    if (crowd.held.events == 0) crowd = crowd_between(frame, lane, pixel - kNearPixels, pixel + 1 + kNearPixels);
    return crowd;
  }
  return {};
}

void draw_crowd_card(TimelineFrame& frame, const Crowd& crowd) {
  const LaneStretch& held = crowd.held;
  const auto length = static_cast<double>(crowd.range.length_ns());
  HoverCard card;
  const std::string count = format_count(static_cast<std::uint64_t>(std::llround(std::max(held.events, 1.0))));
  card.title = fmt::format("{}{} events", held.exact ? "" : "about ", count);
  card.title_value = "in " + format_duration(length);
  card.rows.push_back({"Busy", percent(std::min(1.0, held.busy_ns / length))});
  if (held.wait_ns > 0)
    card.rows.push_back({"Waiting", percent(std::min(1.0, held.wait_ns / length)), Colour::warning});
  if (held.name) {
    const std::string_view name = frame.snapshot.strings->text(*held.name);
    const Schema* schema = frame.snapshot.lanes[crowd.lane->lane].schema.get();
    card.rows.push_back(
        {"Mostly", schema != nullptr ? frame.state.labels.names(*schema).usual(name) : std::string(name)});
    card.swatch = frame.ui.theme().slice(frame.snapshot.strings->slot(*held.name));
  }
  const LaneSnapshot& lane = frame.snapshot.lanes[crowd.lane->lane];
  if (const TrackSnapshot* track = frame.snapshot.find_track(lane.track)) {
    card.rows.push_back({"Lane", track->track->name});
  }
  card.footer = "A click selects the nearest; drag across or turn the wheel to zoom in";
  const Rect seen{crowd.x0, std::max(crowd.lane->rect.y0, crowd.lane->clip.y0), crowd.x1,
                  std::min(crowd.lane->rect.y1, crowd.lane->clip.y1)};
  outline(frame.ui, seen.inset(-frame.ui.px(1)), frame.ui.colour(Colour::text2), 0, 1);
  hover_card(frame.ui, card, seen, frame.label({frame.rows.x0, seen.y0, frame.rows.x1, seen.y1}));
}

// Nothing wide enough to be an event of its own is below the pointer.
void hover_closely(TimelineFrame& frame, Point mouse) {
  const std::optional<Crowd> crowd = crowd_under(frame, mouse);
  if (crowd && crowd->held.events > 1) return draw_crowd_card(frame, *crowd);
  if (crowd && crowd->held.lone) {
    frame.tab.hovered = crowd->held.lone;
    return;
  }
  frame.state.hover_since_s = 1e18;  // nothing here, unless it is found: look again when the pointer moves
  if (!crowd || crowd->held.events <= 0) return;
  find_under(frame, mouse, EventWish::hover, [&tab = frame.tab, &state = frame.state](std::optional<EventId> event) {
    tab.hovered = event;
    if (event) state.hover_since_s = 0;
  });
}

[[nodiscard]] bool is_over(const TimelineFrame& frame) {
  return frame.canvas(frame.rows).contains(frame.ui.input().mouse) && ImGui::IsWindowHovered() &&
         frame.state.gesture == Gesture::none && !menu_is_open(frame.name("menu"));
}

}  // namespace

void take_cursor(TimelineFrame& frame) {
  if (!is_over(frame)) return;
  frame.tab.cursor_ns = whole_time(std::round(frame.ns(frame.ui.input().mouse.x)));
}

// The card opens when the pointer has rested; in dense parts only then is looked at what is there.
void draw_hover(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  Ui& ui = frame.ui;
  const Point mouse = ui.input().mouse;
  if (!is_over(frame)) {
    frame.tab.events->drop(EventWish::hover);
    frame.tab.hovered.reset();
    state.hover_since_s = ui.time();
    return;
  }
  const bool moved = mouse.x != state.last_mouse.x || mouse.y != state.last_mouse.y;
  if (moved) {
    state.last_mouse = mouse;
    state.hover_since_s = ui.time();
    frame.tab.events->drop(EventWish::hover);
    frame.tab.hovered = event_under(frame, mouse);
    ui.request_frame_after(kHoverCardDelay);
    return;
  }
  const double rested_s = ui.time() - state.hover_since_s;
  if (rested_s < 0) return;  // nothing here, as was found before
  if (rested_s < kHoverCardDelay) return ui.request_frame_after(kHoverCardDelay - rested_s);
  if (!frame.tab.hovered) hover_closely(frame, mouse);
  if (!frame.tab.hovered) return;
  const EventRecord* event = frame.tab.events->find(*frame.tab.hovered);
  if (event == nullptr) return;
  if (const auto rect = event_rect(frame, *event)) draw_hover_card(frame, *event, rect->intersected(frame.rows));
}

}  // namespace accelscope::app
