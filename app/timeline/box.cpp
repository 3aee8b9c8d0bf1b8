#include "app/timeline/frame.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

// Edges of drawn events that a gesture holds on to. Only what is drawn slice by slice has edges: nothing is read.

namespace {

constexpr float kSnapReach = 6;  // units

[[nodiscard]] const DrawnLane* lane_under(const TimelineFrame& frame, float y) {
  const TimelineState& state = frame.state;
  for (std::size_t i = 0; i < state.lane_count; ++i) {
    if (y >= state.lanes[i].rect.y0 && y < state.lanes[i].rect.y1) return &state.lanes[i];
  }
  // Between the sub-lanes of a row, or in its margin: the first of the row.
  for (const DrawnRow& row : state.drawn_rows) {
    if (row.lane_count > 0 && y >= row.rect.y0 && y < row.rect.y1) return &state.lanes[row.first_lane];
  }
  return nullptr;
}

constexpr float kHandle = 8;       // units, side of a corner's square
constexpr float kHandleReach = 5;  // units from a side within which it is taken hold of

// The nearest row, where there is none.
[[nodiscard]] std::size_t row_at(const TimelineFrame& frame, float y) {
  const TimelineState& state = frame.state;
  const bool scrolls = y >= frame.scrolled.y0 || state.pinned_rows == 0;
  const std::size_t end = scrolls ? state.rows.size() : state.pinned_rows;
  std::size_t row = scrolls ? state.pinned_rows : 0;
  for (float bottom = top_of(frame, row); row < end; ++row) {
    bottom += frame.ui.px(state.rows[row].height);
    if (y < bottom) return row;
  }
  return end == 0 ? 0 : end - 1;
}

[[nodiscard]] std::vector<TrackNumber> tracks_between(const TimelineFrame& frame, std::size_t a, std::size_t b) {
  const std::vector<rows::TimelineRow>& rows = frame.state.rows;
  std::set<TrackNumber> tracks;
  for (std::size_t i = std::min(a, b); i <= std::max(a, b) && i < rows.size(); ++i)
    tracks.merge(tracks_of(frame, rows[i]));
  return {tracks.begin(), tracks.end()};
}

// Rows of the box, as indices, first and last; nothing if none of its tracks has a row.
[[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> rows_of(const TimelineFrame& frame,
                                                                         const EventFilter& region) {
  std::optional<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < frame.state.rows.size(); ++i) {
    const std::set<TrackNumber> tracks = tracks_of(frame, frame.state.rows[i]);
    const bool inside = std::ranges::any_of(tracks, [&](TrackNumber each) { return region.has_track(each); });
    if (inside) found = {found ? found->first : i, i};
  }
  return found;
}

[[nodiscard]] std::optional<Rect> box_rect(const TimelineFrame& frame) {
  const std::optional<EventFilter>& region = frame.tab.region;
  if (!has_box(frame.tab)) return {};
  Rect box{frame.x(static_cast<double>(region->range->begin_ns)), frame.rows.y0,
           frame.x(static_cast<double>(region->range->end_ns)), frame.rows.y1};
  if (region->tracks.empty()) return box;
  const auto rows = rows_of(frame, *region);
  if (!rows) return box;
  box.y0 = top_of(frame, rows->first);
  const float bottom = top_of(frame, rows->second) + frame.ui.px(frame.state.rows[rows->second].height);
  box.y1 = rows->first < frame.state.pinned_rows ? std::max(bottom, frame.pinned.y1) : bottom;
  return box;
}

// Where keys begin a box: at the selected event, else in the middle of the view and in the first row that has lanes.
struct BoxCorner {
  double ns = 0;
  std::size_t row = 0;
};
struct FirstBox {
  BoxCorner corner;
  double end_ns = 0;  // the opposite corner's
};
[[nodiscard]] FirstBox first_box(const TimelineFrame& frame) {
  const auto rows_count = frame.state.rows.size();
  const EventRecord* event = frame.tab.selected ? frame.tab.events->find(*frame.tab.selected) : nullptr;
  const LaneSnapshot* lane = event != nullptr ? frame.snapshot.find_lane(lane_of(event->id)) : nullptr;
  const double middle = (frame.view.begin_ns + frame.view.end_ns) / 2;
  FirstBox box{{middle}, middle};
  if (event != nullptr) box = {{static_cast<double>(event->begin_ns)}, static_cast<double>(event->end_ns)};
  BoxCorner& corner = box.corner;
  while (corner.row < rows_count) {
    const std::set<TrackNumber> tracks = tracks_of(frame, frame.state.rows[corner.row]);
    if (lane != nullptr ? tracks.contains(lane->track) : !tracks.empty()) break;
    ++corner.row;
  }
  corner.row = corner.row == rows_count ? 0 : corner.row;
  return box;
}

// Scrolls and pans until the corner that keys move is seen.
void show_corner(TimelineFrame& frame, const BoxCorner& corner) {
  TimelineState& state = frame.state;
  if (corner.row >= state.pinned_rows) {
    const float top = top_of(frame, corner.row), bottom = top + frame.ui.px(state.rows[corner.row].height);
    if (top < frame.scrolled.y0) state.scroll -= frame.scrolled.y0 - top;
    if (bottom > frame.scrolled.y1) state.scroll += bottom - frame.scrolled.y1;
  }
  const session::ViewRange seen = view::with_in_sight(frame.tab.view, corner.ns, corner.ns, frame.session);
  if (seen != frame.tab.view) frame.tab.show(seen);
}

constexpr double kBoxKeyStep = 12;  // units of width

struct Handle {
  bool left = false, right = false, top = false, bottom = false;
  [[nodiscard]] bool any() const noexcept { return left || right || top || bottom; }
};

[[nodiscard]] Handle handle_at(const TimelineFrame& frame, Point at) {
  const std::optional<Rect> box = box_rect(frame);
  if (!box || !frame.canvas(frame.rows).contains(at)) return {};
  const float reach = frame.ui.px(kHandleReach);
  if (at.x < box->x0 - reach || at.x > box->x1 + reach || at.y < box->y0 - reach || at.y > box->y1 + reach) return {};
  Handle handle;
  handle.right = std::abs(at.x - box->x1) <= reach;
  handle.left = !handle.right && std::abs(at.x - box->x0) <= reach;
  if (frame.tab.region->tracks.empty() || !(handle.left || handle.right)) return handle;
  handle.bottom = std::abs(at.y - box->y1) <= reach;
  handle.top = !handle.bottom && std::abs(at.y - box->y0) <= reach;
  return handle;
}

void draw_length(TimelineFrame& frame, const Rect& box, float left, float right) {
  Ui& ui = frame.ui;
  const Rect band{left, frame.markers.y0 + ui.px(1), right, frame.markers.y1 - ui.px(1)};
  const TimeRange range = *frame.tab.region->range;
  const std::string text = format_duration(range.length_ns());
  const float half = text_width(ui, TextStyle::mono_strong, text) / 2 + ui.px(8);
  const Pixel colour = ui.colour(Colour::accent);
  fill(ui, {left, band.y0, right, band.y1}, ui.colour(Colour::accent_bg));
  const float y = std::round(band.centre().y);
  const float middle =
      std::clamp((left + right) / 2, frame.canvas_x + half, std::max(frame.canvas_x, frame.rows.x1 - half));
  if (right - left > 2 * half + ui.px(8)) {
    fill(ui, {left + ui.px(4), y, middle - half, y + ui.px(1)}, colour);
    fill(ui, {middle + half, y, right - ui.px(4), y + ui.px(1)}, colour);
  } else {
    fill(ui, {middle - half, band.y0, middle + half, band.y1}, ui.colour(Colour::accent_bg), size::kChipRadius);
  }
  const Rect chip{middle - half, band.y0, middle + half, band.y1};
  draw_text(ui, chip, text, {.style = TextStyle::mono_strong, .align = Align::centre, .fit = Fit::clip});
  for (const float x : {box.x0, box.x1}) {
    if (x < frame.canvas_x || x > frame.rows.x1) continue;
    vertical_line(ui, std::round(x), frame.markers.y0, std::max(frame.markers.y1, box.y0), with_alpha(colour, 0.6F));
  }
}

void draw_handles(TimelineFrame& frame, const Rect& box) {
  const float half = frame.ui.px(kHandle) / 2;
  const std::array<Point, 4> corners = {{{box.x0, box.y0}, {box.x1, box.y0}, {box.x0, box.y1}, {box.x1, box.y1}}};
  for (const Point& at : corners) {
    fill(frame.ui, {at.x - half, at.y - half, at.x + half, at.y + half}, frame.ui.colour(Colour::accent), 1);
  }
}

// Beside the pointer, after B: that the next drag is a box.
void draw_box_hint(TimelineFrame& frame) {
  Ui& ui = frame.ui;
  const Point mouse = ui.input().mouse;
  const Rect canvas = frame.canvas(frame.rows);
  if (!frame.state.box_armed || frame.state.gesture != Gesture::none || !canvas.contains(mouse)) return;
  set_cursor(Cursor::move);
  constexpr std::string_view kHint = "Drag a box over lanes and time (Esc: no box)";
  const float width = text_width(ui, TextStyle::small, kHint) + ui.px(16);
  const float x = std::min(mouse.x + ui.px(14), canvas.x1 - width);
  const Rect hint{x, mouse.y + ui.px(16), x + width, mouse.y + ui.px(38)};
  fill(ui, hint, ui.colour(Colour::bg4), size::kChipRadius);
  outline(ui, hint, ui.colour(Colour::accent), size::kChipRadius, 1);
  draw_text(ui, hint, kHint, {.style = TextStyle::small, .align = Align::centre});
}

}  // namespace

double snapped_ns(TimelineFrame& frame, Point at) {
  const float x = std::clamp(at.x, frame.canvas_x, frame.rows.x1);
  const double plain = frame.ns(x);
  frame.state.snapped.reset();
  if (frame.ui.input().modifiers().alt || at.y < frame.rows.y0 || at.y >= frame.rows.y1) return plain;
  const DrawnLane* lane = lane_under(frame, at.y);
  if (lane == nullptr) return plain;
  const auto pointer = static_cast<double>(x - frame.canvas_x);
  auto nearest = static_cast<double>(frame.ui.px(kSnapReach));
  std::optional<double> edge;
  for (const WideSlice& slice : lane->strip->slices) {
    if (slice.x0 > pointer + nearest) break;  // they lie by time
    for (const double each : {slice.x0, slice.x1}) {
      if (std::abs(each - pointer) > nearest || each < 0 || each > frame.view.width) continue;
      nearest = std::abs(each - pointer);
      edge = each;
    }
  }
  if (!edge) return plain;
  frame.state.snapped = frame.canvas_x + static_cast<float>(*edge);
  return std::round(frame.view.ns(*edge));
}

// Measuring between two selected events: a bracket over the time between them, with its exact length.

std::optional<Gap> gap_between(session::SessionTab& tab, EventId one, EventId other) {
  const EventRecord* first = tab.events->find(one);
  const EventRecord* second = tab.events->find(other);
  if (first == nullptr || second == nullptr) return {};
  if (std::pair(second->begin_ns, second->end_ns) < std::pair(first->begin_ns, first->end_ns)) std::swap(first, second);
  return Gap{*first, *second};
}

std::optional<Gap> selected_gap(session::SessionTab& tab) {
  if (!tab.selected || tab.also_selected.size() != 1) return {};
  return gap_between(tab, *tab.selected, tab.also_selected.front());
}

void draw_gap(TimelineFrame& frame) {
  const std::optional<Gap> gap = selected_gap(frame.tab);
  if (!gap) return;
  Ui& ui = frame.ui;
  const float from = frame.x(static_cast<double>(gap->first.end_ns));
  const float to = frame.x(static_cast<double>(gap->second.begin_ns));
  const float left = std::clamp(std::min(from, to), frame.canvas_x, frame.rows.x1);
  const float right = std::clamp(std::max(from, to), frame.canvas_x, frame.rows.x1);
  if (std::max(from, to) < frame.canvas_x || std::min(from, to) > frame.rows.x1) return;
  const auto first = event_rect(frame, gap->first);
  const auto second = event_rect(frame, gap->second);
  const float y_first = first ? first->centre().y : frame.rows.y0 + ui.px(12);
  const float y_second = second ? second->centre().y : y_first;
  // In one lane the bracket stands below the slices, so that it hides neither.
  const bool same_lane = std::abs(y_first - y_second) < 1;
  const float y = std::round(same_lane && first ? first->y1 + ui.px(8) : (y_first + y_second) / 2);
  const Pixel colour = ui.colour(Colour::marker);
  const auto post = [&](float x, float end) {
    if (x < frame.canvas_x || x > frame.rows.x1) return;
    const float foot = y + (end > y ? -ui.px(5) : ui.px(5));
    vertical_line(ui, std::round(x), std::min(end, foot), std::max(end, foot), colour);
  };
  post(from, y_first);
  post(to, y_second);
  fill(ui, {left, y, right + ui.px(1), y + ui.px(1)}, colour);
  const std::int64_t length = gap->length_ns();
  const std::string text = length < 0 ? "overlap " + format_time_exact(-length) : format_time_exact(length);
  const float width = text_width(ui, TextStyle::mono_strong, text) + ui.px(12);
  const float middle = std::clamp((left + right) / 2, frame.canvas_x + width / 2, frame.rows.x1 - width / 2);
  const float top = right - left > width + ui.px(8) ? y - ui.px(9) : y + ui.px(4);
  const Rect chip{std::round(middle - width / 2), top, std::round(middle + width / 2), top + ui.px(18)};
  fill(ui, chip, ui.colour(Colour::bg1), size::kChipRadius);
  outline(ui, chip, colour, size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::mono_strong, .align = Align::centre, .fit = Fit::clip});
}

// The box of lanes and time: drawn with B or Ctrl and a drag, or along the ruler with Shift; resized by its handles.

std::set<TrackNumber> tracks_of(const TimelineFrame& frame, const rows::TimelineRow& row) {
  std::set<TrackNumber> tracks;
  const bool holds_rows = row.kind == rows::RowKind::group || row.kind == rows::RowKind::bundle;
  if (holds_rows && row.open) return tracks;  // its rows speak for themselves
  if (row.track != nullptr) tracks.insert(row.track->number);
  for (const std::uint32_t lane : row.lanes) tracks.insert(frame.snapshot.lanes[lane].track);
  return tracks;
}

float top_of(const TimelineFrame& frame, std::size_t row) {
  const TimelineState& state = frame.state;
  const bool scrolls = row >= state.pinned_rows;
  const float y = scrolls ? frame.scrolled.y0 - state.scroll - state.row_tops[state.pinned_rows] : frame.rows.y0;
  return y + state.row_tops[row];
}

void begin_box(TimelineFrame& frame, bool whole) {
  TimelineState& state = frame.state;
  state.gesture = Gesture::box;
  state.box = {.anchor_ns = state.pressed_ns,
               .anchor_row = row_at(frame, state.pressed_at.y),
               .keeps_tracks = whole,
               .whole = whole};
}

bool take_box_handle(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  const Handle handle = handle_at(frame, frame.ui.input().mouse);
  if (!handle.left && !handle.right) return false;
  const EventFilter& region = *frame.tab.region;
  const auto rows = rows_of(frame, region);
  state.gesture = Gesture::box;
  state.pressed_at = frame.ui.input().mouse;
  state.box = {.anchor_ns = static_cast<double>(handle.left ? region.range->end_ns : region.range->begin_ns),
               .anchor_row = rows ? (handle.top ? rows->second : rows->first) : 0,
               .keeps_tracks = !handle.top && !handle.bottom,
               .whole = region.tracks.empty()};
  return true;
}

void drag_box(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  session::SessionTab& tab = frame.tab;
  const Point mouse = frame.ui.input().mouse;
  if (mouse.x == state.pressed_at.x && mouse.y == state.pressed_at.y && tab.region) {
    if (!frame.ui.input().down(MouseButton::left)) state.gesture = Gesture::none;
    return;  // taken hold of, and not moved
  }
  const double at = snapped_ns(frame, mouse);
  const auto begin = whole_time(std::round(std::min(at, state.box.anchor_ns)));
  const auto end = whole_time(std::round(std::max(at, state.box.anchor_ns)));
  EventFilter region;
  region.range = {begin, std::max(end, begin + 1)};
  if (state.box.keeps_tracks) {
    if (tab.region && !state.box.whole) region.tracks = tab.region->tracks;
  } else {
    const float y = std::clamp(mouse.y, frame.rows.y0, frame.rows.y1 - 1);
    region.tracks = tracks_between(frame, state.box.anchor_row, row_at(frame, y));
  }
  // Over nothing but the heads of open groups there is no lane, and no tracks would mean all of them.
  const bool lanes = state.box.whole || !region.tracks.empty();
  tab.region = lanes ? std::optional(std::move(region)) : std::nullopt;
  if (frame.ui.input().down(MouseButton::left)) return;
  state.gesture = Gesture::none;
  state.snapped.reset();
  state.box_armed = false;
  state.region_made = tab.region.has_value();
}

bool has_box(const session::SessionTab& tab) { return tab.region && tab.region->range && tab.region->terms.empty(); }

// One corner stays: that from which it was drawn, else its begin and first row.
void extend_box(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  session::SessionTab& tab = frame.tab;
  const BoxStep step = std::exchange(state.box_step, {});
  if ((step.across == 0 && step.along == 0) || state.rows.empty()) return;
  const FirstBox first = first_box(frame);
  BoxCorner corner{first.end_ns, first.corner.row};
  const bool grows = has_box(tab);
  const auto rows = grows ? rows_of(frame, *tab.region) : std::nullopt;
  if (!grows) {
    state.box = {.anchor_ns = first.corner.ns, .anchor_row = first.corner.row};
  } else {
    const auto begin = static_cast<double>(tab.region->range->begin_ns);
    const auto end = static_cast<double>(tab.region->range->end_ns);
    state.box.anchor_ns = std::round(state.box.anchor_ns);
    if (state.box.anchor_ns != begin && state.box.anchor_ns != end) state.box.anchor_ns = begin;
    corner.ns = state.box.anchor_ns == begin ? end : begin;
    if (rows) {
      if (state.box.anchor_row != rows->first && state.box.anchor_row != rows->second)
        state.box.anchor_row = rows->first;
      corner.row = state.box.anchor_row == rows->first ? rows->second : rows->first;
    }
  }
  const double width = kBoxKeyStep * static_cast<double>(frame.ui.scale()) * frame.view.ns_per_pixel();
  corner.ns = std::clamp(corner.ns + step.across * std::max(1.0, std::round(width)), frame.session.begin_ns,
                         frame.session.end_ns);
  EventFilter region;
  const auto from = whole_time(std::round(std::min(corner.ns, state.box.anchor_ns)));
  region.range = {from, std::max(whole_time(std::round(std::max(corner.ns, state.box.anchor_ns))), from + 1)};
  if (!grows || rows) {  // else it is a stretch over all lanes
    for (std::size_t next = corner.row; step.along != 0;) {
      if (step.along < 0 ? next == 0 : next + 1 == state.rows.size()) break;
      next = step.along < 0 ? next - 1 : next + 1;
      if (tracks_of(frame, state.rows[next]).empty()) continue;  // the head of an open group
      corner.row = next;
      break;
    }
    region.tracks = tracks_between(frame, state.box.anchor_row, corner.row);
  }
  tab.region = std::move(region);
  state.region_made = true;
  show_corner(frame, corner);
  frame.ui.request_frame();
}

bool over_box(const TimelineFrame& frame, Point at) {
  const std::optional<Rect> box = box_rect(frame);
  return box && at.x >= box->x0 && at.x < box->x1 && at.y >= box->y0 && at.y < box->y1;
}

void draw_box(TimelineFrame& frame) {
  draw_box_hint(frame);
  const std::optional<Rect> found = box_rect(frame);
  if (!found) return;
  Ui& ui = frame.ui;
  const Rect& box = *found;
  const float left = std::clamp(box.x0, frame.canvas_x, frame.rows.x1);
  const float right = std::clamp(box.x1, frame.canvas_x, frame.rows.x1);
  if (box.x1 < frame.canvas_x || box.x0 > frame.rows.x1) return;
  draw_length(frame, box, left, std::max(right, left + ui.px(1)));
  // A box of scrolling rows goes below the pinned ones.
  const auto rows = rows_of(frame, *frame.tab.region);
  const bool scrolls = !frame.tab.region->tracks.empty() && rows && rows->first >= frame.state.pinned_rows;
  const Rect canvas = frame.canvas(scrolls ? frame.scrolled : frame.rows);
  frame.list->PushClipRect(ImVec2(canvas.x0, canvas.y0), ImVec2(canvas.x1, canvas.y1), true);
  const Rect shown{std::max(box.x0, canvas.x0 - ui.px(8)), box.y0, std::min(box.x1, canvas.x1 + ui.px(8)), box.y1};
  fill(ui, shown, with_alpha(ui.colour(Colour::accent), 0.08F));
  const Pixel colour = ui.colour(Colour::accent);
  if (frame.tab.region->tracks.empty()) {  // over all lanes: two lines
    for (const float x : {box.x0, box.x1}) fill(ui, {x - 1, shown.y0, x + 1, shown.y1}, colour);
  } else {
    outline(ui, shown, colour, 0, 2);
    draw_handles(frame, box);
  }
  frame.list->PopClipRect();
  ui.register_widget(frame.name("box"), shown);
  const Handle handle = handle_at(frame, ui.input().mouse);
  if (handle.any() && frame.state.gesture == Gesture::none)
    set_cursor(handle.top || handle.bottom ? Cursor::move : Cursor::resize_horizontal);
}

}  // namespace accelscope::app::timeline
