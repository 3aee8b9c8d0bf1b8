#include "app/rows/groups.h"
#include "app/session/analysis.h"
#include "app/timeline/frame.h"
#include "core/scan/event_reader.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

// What lies over the lanes: the cursor, the box being zoomed to, outlines of hovered, selected and related events, and
// arrows along dependencies.

namespace {

constexpr std::size_t kMostArrows = 12;    // to and from the selected event
constexpr std::size_t kMostLaunches = 64;  // arrows of those that are in sight: more cannot be told apart
constexpr std::size_t kMostCalls = 512;    // that are looked at for them in a frame

void outline_event(TimelineFrame& frame, EventId id, Colour colour, float grow, float thickness) {
  const EventRecord* event = frame.tab.events->find(id);
  if (!event) return;
  const auto rect = event_rect(frame, *event);
  if (!rect || rect->x1 < frame.canvas_x || rect->x0 > frame.rows.x1) return;
  outline(frame.ui, rect->inset(-grow * frame.ui.scale()), frame.ui.colour(colour), size::kSliceRadius + grow,
          thickness);
}

// From the right end of one event to the left end of another, leaving and arriving level. False: one has no lane here.
bool draw_arrow(TimelineFrame& frame, const EventRecord& from, const EventRecord& to, Colour colour) {
  const auto start = event_rect(frame, from);
  const auto end = event_rect(frame, to);
  if (!start || !end) return false;
  Ui& ui = frame.ui;
  const bool down = end->y0 >= start->y1 - 1;
  const Point a{std::clamp(start->x1 - ui.px(3), frame.canvas_x, frame.rows.x1), down ? start->y1 : start->y0};
  const Point b{std::clamp(end->x0 + ui.px(5), frame.canvas_x, frame.rows.x1), down ? end->y0 : end->y1};
  const float bend = std::max(std::abs(b.y - a.y) / 2, ui.px(10)) * (down ? 1.0F : -1.0F);
  const ImVec2 p1(a.x, a.y);
  const ImVec2 p2(a.x, a.y + bend);
  const ImVec2 p3(b.x, b.y - bend);
  const ImVec2 p4(b.x, b.y);
  frame.list->AddBezierCubic(p1, p2, p3, p4, ui.colour(Colour::bg1), 3 * ui.scale());
  frame.list->AddBezierCubic(p1, p2, p3, p4, ui.colour(colour), 1.5F * ui.scale());
  const float head = ui.px(4);
  const float tail = down ? -head * 1.5F : head * 1.5F;
  frame.list->AddTriangleFilled(p4, ImVec2(b.x - head, b.y + tail), ImVec2(b.x + head, b.y + tail), ui.colour(colour));
  return true;
}

// Each link from its source to its target. What lies between two events off the same side of the screen is not drawn.
void draw_links(TimelineFrame& frame, const std::vector<analysis::Dependency>& links, Colour colour) {
  for (const analysis::Dependency& each : links) {
    const EventRecord* from = frame.tab.events->find(each.source);
    const EventRecord* to = frame.tab.events->find(each.target);
    if (!from || !to) continue;
    const double first = frame.ns(frame.canvas_x), last = frame.ns(frame.rows.x1);
    const auto begin = static_cast<double>(std::min(from->end_ns, to->begin_ns));
    const auto end = static_cast<double>(std::max(from->end_ns, to->begin_ns));
    if (end < first || begin > last) continue;
    (void)draw_arrow(frame, *from, *to, colour);
    outline_event(frame, each.source, Colour::accent, 0, 2);
    outline_event(frame, each.target, Colour::accent, 0, 2);
  }
}

void draw_dependencies(TimelineFrame& frame, const EventRecord& selected) {
  const analysis::DependencyChain* chain = frame.tab.chain.get();
  if (frame.tab.dependency_chain && chain != nullptr && chain->event == selected.id) {
    draw_links(frame, chain->before, Colour::accent);
    draw_links(frame, chain->after, Colour::selection);
    return;
  }
  const auto dependencies = frame.tab.analysis ? frame.tab.analysis->dependencies() : nullptr;
  if (!dependencies) return;
  for (const analysis::Dependency& each : dependencies->predecessors(selected.id, kMostArrows).dependencies) {
    const EventRecord* other = frame.tab.events->find(each.source);
    if (!other) continue;
    (void)draw_arrow(frame, *other, selected, Colour::accent);
    outline_event(frame, other->id, Colour::accent, 0, 2);
  }
  for (const analysis::Dependency& each : dependencies->successors(selected.id, kMostArrows).dependencies) {
    const EventRecord* other = frame.tab.events->find(each.target);
    if (!other) continue;
    (void)draw_arrow(frame, selected, *other, Colour::selection);
    outline_event(frame, other->id, Colour::accent, 0, 2);
  }
}

// In the platform view an arrow from calls that are wide enough to be read, the widest first, to what they launched.
void draw_launches(TimelineFrame& frame) {
  if (!frame.tab.choices.rows.platform || !frame.tab.analysis || session::may_grow(frame.tab)) return;
  const auto dependencies = frame.tab.analysis->dependencies();
  if (!dependencies) return;
  std::vector<std::pair<double, EventId>> calls;  // by width
  for (const DrawnLane& lane : std::span(frame.state.lanes).first(frame.state.lane_count)) {
    const TrackSnapshot* const track = frame.snapshot.find_track(frame.snapshot.lanes[lane.lane].track);
    if (track == nullptr || lane.strip == nullptr || !rows::is_runtime_calls(*track)) continue;
    for (const WideSlice& slice : lane.strip->slices) calls.emplace_back(slice.x1 - slice.x0, slice.id);
  }
  const auto looked_at = static_cast<std::ptrdiff_t>(std::min(calls.size(), kMostCalls));
  std::ranges::partial_sort(calls, calls.begin() + looked_at, std::greater{});
  std::size_t left = kMostLaunches;
  for (const auto& [width, id] : std::span(calls).first(static_cast<std::size_t>(looked_at))) {
    for (const analysis::Dependency& each : dependencies->successors(id, 1).dependencies) {
      const EventRecord* const call = frame.tab.events->find(id);
      const EventRecord* const launched = frame.tab.events->find(each.target);
      if (call == nullptr || launched == nullptr || !draw_arrow(frame, *call, *launched, Colour::text3)) continue;
      if (--left == 0) return;
    }
  }
}

void draw_outlines(TimelineFrame& frame) {
  for (const EventId id : frame.tab.related) outline_event(frame, id, Colour::accent, 0, 2);
  for (const EventId id : frame.tab.also_selected) outline_event(frame, id, Colour::selection, 2, 2);
  if (frame.tab.selected) {
    if (const EventRecord* selected = frame.tab.events->find(*frame.tab.selected)) draw_dependencies(frame, *selected);
    outline_event(frame, *frame.tab.selected, Colour::selection, 2, 2);
  }
  if (frame.tab.hovered && frame.tab.hovered != frame.tab.selected) {
    outline_event(frame, *frame.tab.hovered, Colour::text2, 0, 1);
  }
}

void draw_zoom_box(TimelineFrame& frame) {
  const TimelineState& state = frame.state;
  if (state.gesture != Gesture::zoom_box) return;
  Ui& ui = frame.ui;
  const float at = std::clamp(state.snapped.value_or(ui.input().mouse.x), frame.canvas_x, frame.rows.x1);
  const float from = frame.x(state.pressed_ns);
  const Rect box{std::min(from, at), frame.rows.y0, std::max(from, at), frame.rows.y1};
  fill(ui, box, with_alpha(ui.colour(Colour::accent), 0.16F));
  vertical_line(ui, box.x0, box.y0, box.y1, ui.colour(Colour::accent));
  vertical_line(ui, box.x1, box.y0, box.y1, ui.colour(Colour::accent));
  const std::string text = format_duration(static_cast<double>(box.width()) * frame.view.ns_per_pixel());
  const float width = text_width(ui, TextStyle::mono_strong, text) + ui.px(16);
  const float middle = box.centre().x;
  const Rect chip{middle - width / 2, frame.markers.y0 + ui.px(1), middle + width / 2, frame.markers.y1 - ui.px(1)};
  fill(ui, chip, ui.colour(Colour::accent_bg), size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::mono_strong, .align = Align::centre, .fit = Fit::clip});
}

void draw_cursor(TimelineFrame& frame) {
  if (!frame.tab.cursor_ns || frame.state.gesture == Gesture::zoom_box) return;
  const float x = std::floor(frame.x(static_cast<double>(*frame.tab.cursor_ns)));
  if (x < frame.canvas_x || x > frame.rows.x1) return;
  vertical_line(frame.ui, x, frame.ruler.y1, frame.rows.y1, with_alpha(frame.ui.colour(Colour::accent), 0.45F));
}

// A chip on the marker row over a line through all lanes.
void draw_flagged_line(TimelineFrame& frame, std::int64_t ns, const std::string& text, bool is_late) {
  const float x = std::floor(frame.x(static_cast<double>(ns)));
  if (x < frame.canvas_x || x > frame.rows.x1) return;
  Ui& ui = frame.ui;
  const Pixel colour = ui.colour(is_late ? Colour::warning_line : Colour::text2);
  if (is_late) {
    vertical_line(ui, x, frame.rows.y0, frame.rows.y1, colour);
  } else {
    dashed_line(ui, frame.list, {x, frame.rows.y0}, {x, frame.rows.y1}, colour);
  }
  if (text.empty()) return;
  const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(12);
  const float y = frame.rows.y0 + ui.px(2);
  const Rect chip = is_late ? Rect{x, y, x + width, y + ui.px(16)} : Rect{x - width, y, x, y + ui.px(16)};
  fill(ui, chip, ui.colour(is_late ? Colour::warning_bg : Colour::bg4), size::kChipRadius);
  draw_text(ui, chip, text,
            {.style = TextStyle::mono_small,
             .colour = is_late ? Colour::warning : Colour::text1,
             .align = Align::centre,
             .fit = Fit::clip});
}

// Each rank's part of the operation that was chosen: its wait hatched, its event in a box; amber for the last to come.
void draw_operation(TimelineFrame& frame) {
  const session::ShownOperation* operation = frame.tab.operation.get();
  if (operation == nullptr) return;
  Ui& ui = frame.ui;
  for (std::size_t i = 0; i < frame.state.lane_count; ++i) {
    const DrawnLane& lane = frame.state.lanes[i];
    const LaneNumber number = frame.snapshot.lanes[lane.lane].number();
    for (const session::ShownOperation::Part& part : operation->parts) {
      if (lane_of(part.event) != number) continue;
      const auto x_of = [&](std::int64_t ns) {
        return std::clamp(frame.x(static_cast<double>(ns)), frame.canvas_x - ui.px(4), frame.rows.x1 + ui.px(4));
      };
      const float from = x_of(part.arrival_ns), begin = x_of(part.transfer_ns), end = x_of(part.end_ns);
      frame.list->PushClipRect(low(lane.clip), high(lane.clip), true);
      if (begin > from) {
        fill(ui, {from, lane.rect.y0, begin, lane.rect.y1}, ui.colour(Colour::hatch_bg));
        hatch(ui, frame.list, {from, lane.rect.y0, begin, lane.rect.y1}, ui.colour(Colour::hatch));
      }
      outline(ui, Rect{from, lane.rect.y0, std::max(end, from + 2), lane.rect.y1}.inset(-ui.px(1)),
              ui.colour(part.is_last ? Colour::warning_line : Colour::selection), size::kSliceRadius + 1, 2);
      frame.list->PopClipRect();
      ui.register_widget(frame.name("operation"), {from, lane.rect.y0, end, lane.rect.y1});
    }
  }
  if (!operation->one_clock) return;
  draw_flagged_line(frame, operation->first_arrival_ns, operation->title, false);
  draw_flagged_line(frame, operation->last_arrival_ns, operation->skew, true);
}

// The parts of the path that are in view.
std::pair<session::ShownPath::Parts, session::ShownPath::Parts> path_in_view(const TimelineFrame& frame,
                                                                             const session::ShownPath& path) {
  const auto from_ns = static_cast<std::int64_t>(frame.ns(frame.canvas_x));
  const auto to_ns = static_cast<std::int64_t>(frame.ns(frame.rows.x1));
  const auto first =
      std::lower_bound(path.parts.begin(), path.parts.end(), from_ns,
                       [](const session::ShownPath::Part& part, std::int64_t ns) { return part.end_ns < ns; });
  const auto last =
      std::upper_bound(first, path.parts.end(), to_ns,
                       [](std::int64_t ns, const session::ShownPath::Part& part) { return ns < part.begin_ns; });
  return {first, last};
}

void draw_path_box(TimelineFrame& frame, const session::ShownPath::Part& part, const Rect& box) {
  Ui& ui = frame.ui;
  EventRecord event;
  event.id = part.event;
  event.name = part.name;
  const Pixel colour = event_colour(frame, event);
  const bool is_wide = box.width() >= ui.px(4);
  const float gap = is_wide ? ui.px(1) : 0;
  fill(ui, {box.x0, box.y0, box.x1 - gap, box.y1}, colour, is_wide ? size::kSliceRadius : 0);
  const Rect text = box.inset(ui.px(4), 0);
  if (text.width() < ui.px(20)) return;
  draw_text(ui, text, frame.snapshot.strings->text(part.name),
            {.style = TextStyle::mono_small, .colour = Colour::ink, .fit = Fit::ellipsis});
}

void draw_path_label(TimelineFrame& frame, const session::ShownPath& path) {
  Ui& ui = frame.ui;
  Rect line = frame.label(frame.path);
  fill(ui, line, ui.colour(Colour::bg2));
  const float left = line.x0 + ui.px(size::kLaneIndent);
  draw_icon(ui, {left - ui.px(18), line.y0, left - ui.px(4), line.y1}, icon::kPin, ui.colour(Colour::accent),
            TextStyle::icon12);
  line.x1 -= ui.px(size::kLaneValueInset);
  const std::string length = format_duration(path.parts.back().end_ns - path.parts.front().begin_ns);
  const float width = text_width(ui, TextStyle::mono_small, length);
  draw_text(ui, {line.x1 - width, line.y0, line.x1, line.y1}, length,
            {.style = TextStyle::mono_small, .colour = Colour::text2, .fit = Fit::clip});
  draw_text(ui, {left, line.y0, line.x1 - width - ui.px(8), line.y1}, "Critical path",
            {.style = TextStyle::small_strong, .fit = Fit::ellipsis});
  const Interaction touch = interact(ui, frame.name("path_label"), frame.label(frame.path),
                                     {.keys = FocusStopKind::open, .label = "Critical path"});
  tooltip(ui, touch, frame.label(frame.path), "What the length is made of; others are dimmed while Why marks it");
}

// A click selects the event.
void touch_path(TimelineFrame& frame, session::ShownPath::Parts first, session::ShownPath::Parts last) {
  Ui& ui = frame.ui;
  const Rect canvas = frame.canvas(frame.path);
  const Interaction touch =
      interact(ui, frame.name("path_lane"), canvas, {.keys = FocusStopKind::pointer, .label = "Critical path"});
  if (!touch.hovered) return;
  const auto at_ns = static_cast<std::int64_t>(frame.ns(ui.input().mouse.x));
  const auto part = std::upper_bound(
      first, last, at_ns, [](std::int64_t ns, const session::ShownPath::Part& each) { return ns < each.end_ns; });
  if (part == last || part->begin_ns > at_ns) return;
  const std::string length = format_duration(part->end_ns - part->begin_ns);
  const std::string name = part->event == kNoEvent ? "" : std::string(frame.snapshot.strings->text(part->name)) + ", ";
  tooltip(ui, touch, canvas,
          part->is_gap ? name + length + " waiting for " + part->reason : name + length + " on the path");
  if (!touch.clicked || part->event == kNoEvent) return;
  frame.tab.chosen_in = session::ChosenIn::timeline;
  frame.tab.also_selected.clear();
  frame.tab.selected = part->event;
}

// The critical path: an accent edge round its events, what its gaps were for, and an arrow from each event to the next,
// where they are few enough to be told apart.
void draw_path(TimelineFrame& frame) {
  const session::ShownPath* path = frame.tab.marked_path.get();
  if (path == nullptr) return;
  constexpr std::ptrdiff_t kMostEdges = 2'000, kMostPathArrows = 40;
  Ui& ui = frame.ui;
  const auto [first, last] = path_in_view(frame, *path);
  if (last - first > kMostEdges) return;
  EventRecord before;
  for (auto part = first; part != last; ++part) {
    if (part->event == kNoEvent) continue;
    EventRecord event;
    event.id = part->event;
    event.begin_ns = part->event_begin_ns;
    event.end_ns = part->event_end_ns;
    const auto rect = event_rect(frame, event);
    if (part->is_gap) {
      const float x0 = std::max(frame.x(static_cast<double>(part->begin_ns)), frame.canvas_x);
      const float x1 = std::min(frame.x(static_cast<double>(part->end_ns)), frame.rows.x1);
      const std::string text = format_duration(part->end_ns - part->begin_ns) + " for " + part->reason;
      const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(10);
      if (!rect || x1 - x0 < width + ui.px(6)) continue;
      const float middle = (x0 + x1) / 2, y = rect->centre().y;
      const Rect chip{middle - width / 2, y - ui.px(8), middle + width / 2, y + ui.px(8)};
      fill(ui, chip, ui.colour(Colour::bg3), size::kChipRadius);
      outline(ui, chip, ui.colour(Colour::accent), size::kChipRadius);
      draw_text(ui, chip, text, {.style = TextStyle::mono_small, .align = Align::centre, .fit = Fit::clip});
      continue;
    }
    if (before.id != kNoEvent && before.id != event.id && last - first <= kMostPathArrows) {
      draw_arrow(frame, before, event, Colour::accent);
    }
    before = event;
    if (rect) {
      outline(ui, *rect, ui.colour(Colour::accent), size::kSliceRadius, 2);
      ui.register_widget("timeline.path", *rect);
    }
  }
}

// The edge of an event that the gesture holds on to.
void draw_snap(TimelineFrame& frame) {
  if (!frame.state.snapped || frame.state.gesture == Gesture::none) return;
  const float x = std::floor(*frame.state.snapped);
  vertical_line(frame.ui, x, frame.markers.y0, frame.rows.y1, frame.ui.colour(Colour::accent));
  frame.ui.register_widget(frame.name("snap"), {x, frame.markers.y0, x + 1, frame.rows.y1});
}

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
  card.title_value = format_duration(event.end_ns - event.begin_ns);
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
  lod::LaneStretch held;
  float x0 = 0;
  float x1 = 0;
  TimeRange range;
};

[[nodiscard]] Crowd crowd_between(const TimelineFrame& frame, const DrawnLane& lane, float x0, float x1) {
  Crowd crowd{.lane = &lane, .held = {}, .x0 = x0, .x1 = x1, .range = {}};
  crowd.range.begin_ns = std::llround(frame.ns(x0));
  crowd.range.end_ns = std::max<std::int64_t>(std::llround(frame.ns(x1)), crowd.range.begin_ns + 1);
  const LaneSnapshot& snapshot = frame.snapshot.lanes[lane.lane];
  crowd.held = lod::lane_stretch(snapshot, &frame.state.windows.lane(snapshot), crowd.range);
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
  const lod::LaneStretch& held = crowd.held;
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
  find_under(frame, mouse, session::EventIntent::hover,
             [&tab = frame.tab, &state = frame.state](std::optional<EventId> event) {
               tab.hovered = event;
               if (event) state.hover_since_s = 0;
             });
}

[[nodiscard]] bool is_over(const TimelineFrame& frame) {
  return frame.canvas(frame.rows).contains(frame.ui.input().mouse) && ImGui::IsWindowHovered() &&
         frame.state.gesture == Gesture::none && !menu_is_open(frame.name("menu"));
}

}  // namespace

void draw_path_lane(TimelineFrame& frame) {
  const session::ShownPath* path = frame.tab.marked_path.get();
  if (path == nullptr || path->parts.empty()) return;
  Ui& ui = frame.ui;
  const Rect canvas = frame.canvas(frame.path);
  fill(ui, canvas, ui.colour(Colour::bg1));
  frame.list->PushClipRect(low(canvas), high(canvas), true);
  const auto [first, last] = path_in_view(frame, *path);
  const Rect band = canvas.inset(0, ui.px((size::kLane - size::kSlice) / 2));
  float drawn = canvas.x0;
  for (auto part = first; part != last && drawn < canvas.x1; ++part) {
    const float x0 = std::max(drawn, std::round(frame.x(static_cast<double>(part->begin_ns))));
    const float x1 = std::min(std::round(frame.x(static_cast<double>(part->end_ns))), canvas.x1);
    if (x1 - x0 < 1) continue;  // what comes next takes its place
    const Rect box{x0, band.y0, x1, band.y1};
    drawn = x1;
    if (part->is_gap || part->event == kNoEvent) {
      fill(ui, box, ui.colour(Colour::hatch_bg));
      hatch(ui, frame.list, box, ui.colour(Colour::hatch));
    } else {
      draw_path_box(frame, *part, box);
    }
  }
  frame.list->PopClipRect();
  ui.register_widget(frame.name("path_strip"), band);
  draw_path_label(frame, *path);
  fill(ui, {frame.path.x0, frame.path.y1 - ui.px(1), frame.path.x1, frame.path.y1}, ui.colour(Colour::line2));
  touch_path(frame, first, last);
}

void draw_overlay(TimelineFrame& frame) {
  frame.list->PushClipRect(ImVec2(frame.canvas_x, frame.markers.y0), high(frame.rows), true);
  draw_cursor(frame);
  frame.list->PushClipRect(low(frame.canvas(frame.rows)), high(frame.rows), true);
  draw_path(frame);
  draw_operation(frame);
  draw_launches(frame);
  draw_outlines(frame);
  draw_gap(frame);
  frame.list->PopClipRect();
  draw_box(frame);
  draw_snap(frame);
  draw_zoom_box(frame);
  frame.list->PopClipRect();
}

// What the pointer rests on: one event, or how many there are where they are narrower than pixels.

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
    frame.tab.events->drop(session::EventIntent::hover);
    frame.tab.hovered.reset();
    state.hover_since_s = ui.time();
    return;
  }
  const bool moved = mouse.x != state.last_mouse.x || mouse.y != state.last_mouse.y;
  if (moved) {
    state.last_mouse = mouse;
    state.hover_since_s = ui.time();
    frame.tab.events->drop(session::EventIntent::hover);
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

}  // namespace accelscope::app::timeline
