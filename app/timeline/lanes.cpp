#include "app/session/analysis.h"
#include "app/timeline/frame.h"
#include "app/view/record.h"
#include "render/timeline/lane_painter.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

// What the lanes are coloured by. What passes the filter and the selected region stays bright, what the search found
// gets its bar, what is lit its outline.

void hold_masks(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  session::SessionTab& tab = frame.tab;
  ShadedBy now{.lit_mask = tab.lit,
               .filter = tab.choices.filter,
               .region = tab.region,
               .background = frame.ui.colour(Colour::bg1)};
  if (tab.marked_path) now.path_mask = tab.marked_path->mask;
  if (tab.analysis) {
    session::SessionAnalysis& analysis = *tab.analysis;
    now.colours = analysis.colours(wanted_colours(frame.snapshot, tab.choices, state.legend));
    if (!state.legend.lit.empty()) now.legend_mask = analysis.mask(session::MaskUse::legend, state.legend.lit);
    now.filter_mask = analysis.mask(session::MaskUse::filter, tab.choices.filter);
    if (tab.region) now.region_mask = analysis.mask(session::MaskUse::region, *tab.region);
    if (const auto hits = tab.choices.search.empty() ? nullptr : analysis.found()) now.search_mask = hits->mask();
  }
  if (now == state.shaded_by) return;
  state.shaded_by = std::move(now);
  state.shade_keeps = std::make_shared<const ShadedBy>(state.shaded_by);
  ++state.shade_version;
}

LaneShade shade_of(const TimelineFrame& frame, std::uint32_t lane_index) {
  const session::SessionTab& tab = frame.tab;
  LaneShade shade;
  shade.lane_index = lane_index;
  shade.hits = frame.state.shaded_by.search_mask.get();
  shade.lit = tab.lit.get();
  const TrackNumber track = frame.snapshot.lanes[lane_index].track;
  const auto narrow = [&](const EventFilter& filter) {
    if (!filter.has_track(track)) shade.dimmed = true;
    if (!filter.range) return;
    shade.bright_begin_ns = std::max(shade.bright_begin_ns, static_cast<double>(filter.range->begin_ns));
    shade.bright_end_ns = std::min(shade.bright_end_ns, static_cast<double>(filter.range->end_ns));
  };
  narrow(tab.choices.filter);
  if (!tab.choices.filter.terms.empty()) shade.bright = frame.state.shaded_by.filter_mask.get();
  if (tab.region) {
    narrow(*tab.region);
    if (!tab.region->terms.empty()) shade.region = frame.state.shaded_by.region_mask.get();
  }
  if (shade.region == nullptr) shade.region = frame.state.shaded_by.path_mask.get();
  if (frame.state.shaded_by.legend_mask) shade.region = frame.state.shaded_by.legend_mask.get();
  shade.colour_by(frame.state.shaded_by.colours.get());
  shade.background = rgb_of(frame.ui.colour(Colour::bg1));
  return shade;
}

Pixel event_colour(const TimelineFrame& frame, const EventRecord& event) {
  const std::vector<LaneSnapshot>& lanes = frame.snapshot.lanes;
  for (std::uint32_t i = 0; frame.state.shaded_by.colours && i < lanes.size(); ++i) {
    if (lanes[i].number() != lane_of(event.id)) continue;
    const colour::LaneColours* colours = frame.state.shaded_by.colours->lane(i);
    const std::uint32_t chunk = lanes[i].chunk_of_ordinal(ordinal_of(event.id));
    if (colours == nullptr || chunk >= lanes[i].chunk_count) break;
    const ChunkPlace& place = lanes[i].chunk(chunk);
    const auto row = static_cast<std::uint32_t>(ordinal_of(event.id) - place.first_ordinal);
    return frame.ui.theme().legible(opaque(colours->event(place.first_leaf + row / kBlockEvents, row % kBlockEvents)));
  }
  return frame.ui.theme().slice(frame.snapshot.strings->slot(event.name));
}

namespace {

// Below its name the label says which colour is which.
[[nodiscard]] bool has_legend(const rows::TimelineRow& row) {
  return row.kind == rows::RowKind::memory || row.series.size() > 1;
}

[[nodiscard]] Rect first_line(const TimelineFrame& frame, const rows::TimelineRow& row, Rect label) {
  if (has_legend(row)) label.y1 = std::min(label.y1, label.y0 + frame.ui.px(size::kLane));
  return label;
}

void toggle(TimelineFrame& frame, const rows::TimelineRow& row) {
  rows::RowChoices choices = frame.tab.choices.rows;
  if (row.kind == rows::RowKind::group && row.members.size() == row.hidden_count) {  // nothing else can be opened
    for (const rows::RowMember& member : row.members) choices.hidden.erase(member.key);
  }
  choices.open[row.key] = !row.open;
  view::choose_rows(frame.tab, std::move(choices));
}

// Draws the number of events that are not to be overlooked; returns where it begins.
float draw_alerts(TimelineFrame& frame, const rows::TimelineRow& row, const Rect& line, float right) {
  Ui& ui = frame.ui;
  const std::string text = format_count(row.alerts);
  const float width = text_width(ui, TextStyle::mono_small, text);
  draw_text(ui, {right - width, line.y0, right, line.y1}, text,
            {.style = TextStyle::mono_small, .colour = Colour::warning, .fit = Fit::clip});
  const float left = right - width - ui.px(18);
  draw_icon(ui, {left, line.y0, left + ui.px(14), line.y1}, icon::kWarning, ui.colour(Colour::warning_line),
            TextStyle::icon12);
  const Rect sign{left, line.y0, right, line.y1};
  const Interaction touch = interact(ui, frame.name("alerts.") + row.key, sign);
  if (touch.hovered) tooltip(ui, touch, sign, text + " events of errors or throttling");
  if (touch.clicked && row.kind == rows::RowKind::group) toggle(frame, row);
  return left - ui.px(6);
}

// A link at the right end of a row's label; `right` becomes where it begins. True when it was clicked.
bool label_link(TimelineFrame& frame, const std::string& name, const std::string& text, const char* explained,
                const Rect& line, float& right) {
  Ui& ui = frame.ui;
  const Rect link{right - text_width(ui, TextStyle::small, text), line.y0, right, line.y1};
  const Interaction touch = interact(ui, name, link);
  draw_text(ui, link, text,
            {.style = TextStyle::small, .colour = touch.hovered ? Colour::text1 : Colour::accent, .fit = Fit::clip});
  tooltip(ui, touch, link, explained);
  right = link.x0 - ui.px(8);
  return touch.clicked;
}

// "4 of 7" levels that a row leaves out: a click makes it tall. Returns where it begins.
float draw_hidden_levels(TimelineFrame& frame, const rows::TimelineRow& row, const Rect& line, float right) {
  const std::string text = fmt::format("{} of {}", row.lanes.size(), row.lanes.size() + row.hidden_levels);
  if (label_link(frame, frame.name("levels.") + row.key, text, "Show all levels", line, right)) {
    rows::RowChoices choices = frame.tab.choices.rows;
    choices.sizes[row.key] = rows::RowSize::tall;
    view::choose_rows(frame.tab, std::move(choices));
  }
  return right;
}

// "2 hidden" in a group's heading: a click shows them again. Returns where it begins.
float draw_hidden(TimelineFrame& frame, const rows::TimelineRow& row, const Rect& line, float right) {
  const std::string text = fmt::format("{} hidden", row.hidden_count);
  if (label_link(frame, frame.name("hidden.") + row.key, text, "Show them again", line, right)) {
    rows::RowChoices choices = frame.tab.choices.rows;
    for (const rows::RowMember& member : row.members) choices.hidden.erase(member.key);
    view::choose_rows(frame.tab, std::move(choices));
  }
  return right;
}

// Of the rows that belong to the same group or track.
[[nodiscard]] std::vector<std::string> labels_beside(const std::vector<rows::TimelineRow>& rows,
                                                     const rows::TimelineRow& row) {
  constexpr std::size_t kMost = 64;  // of hundreds any few show what they share
  std::vector<std::string> labels;
  for (const rows::TimelineRow& each : rows) {
    if (&each != &row && each.parent == row.parent && labels.size() < kMost) labels.push_back(each.label);
  }
  return labels;
}

// Of a row that is scrolled half out of sight the part that is seen, as far as a line of text fits.
[[nodiscard]] Rect seen_label(const TimelineFrame& frame, const DrawnRow& drawn) {
  Rect label = frame.label(drawn.rect);
  const float least = std::min(label.height(), frame.ui.px(size::kLane));
  label.y0 = std::clamp(drawn.clip.y0, label.y0, label.y1 - least);
  label.y1 = std::clamp(drawn.clip.y1, label.y0 + least, label.y1);
  return label;
}

void draw_label(TimelineFrame& frame, const DrawnRow& drawn, const std::string& value, bool hovered) {
  Ui& ui = frame.ui;
  const rows::TimelineRow& row = frame.state.rows[drawn.row];
  const bool group = row.kind == rows::RowKind::group;
  const bool strong = group || row.kind == rows::RowKind::bundle;
  const Rect line = first_line(frame, row, seen_label(frame, drawn));
  if (has_legend(row) && line.y0 > drawn.rect.y0) fill(ui, line, ui.colour(Colour::bg2));  // over the legend
  const float left =
      line.x0 + ui.px(group ? size::kGroupIndent : size::kLaneIndent + 12 * static_cast<float>(row.depth));
  float right = line.x1 - ui.px(size::kLaneValueInset);
  if (group && row.hidden_count > 0) right = draw_hidden(frame, row, line, right);
  if (row.alerts > 0) right = draw_alerts(frame, row, line, right);
  if (row.hidden_levels > 0) right = draw_hidden_levels(frame, row, line, right);
  const TextStyle value_style = group ? TextStyle::small : TextStyle::mono_small;
  const float width = value.empty() ? 0 : text_width(ui, value_style, value);
  // A group's name says more than how many rows it has.
  const bool has_room = !group || text_width(ui, TextStyle::small_strong, row.label) + width <= right - left - ui.px(8);
  if (has_room && !value.empty()) {
    draw_text(ui, {right - width, line.y0, right, line.y1}, value,
              {.style = value_style,
               .colour = group ? Colour::text3 : Colour::text2,
               .align = Align::right,
               .fit = Fit::clip});
    right -= width + ui.px(8);
  }
  if (group || row.has_children) {
    const float x = left - ui.px(group ? 18 : 16);
    draw_icon(ui, {x, line.y0, x + ui.px(14), line.y1}, row.open ? icon::kCaretDown : icon::kCaretRight,
              ui.colour(Colour::text2), TextStyle::icon12);
  } else if (row.pinned && row.depth == 0) {
    const float x = left - ui.px(18);
    draw_icon(ui, {x, line.y0, x + ui.px(14), line.y1}, icon::kPin, ui.colour(hovered ? Colour::text2 : Colour::text3),
              TextStyle::icon12);
  }
  const TextStyle style = strong ? TextStyle::small_strong : TextStyle::small;
  std::string_view text = row.label;
  const auto has_no_room = [&] { return text_width(ui, style, text) > right - left; };
  if (has_no_room() && text.ends_with(rows::kDerivedMark))
    text.remove_suffix(rows::kDerivedMark.size());  // its tooltip says it too
  std::vector<std::string> beside;
  if (has_no_room()) beside = labels_beside(frame.state.rows, row);
  draw_text(ui, {left, line.y0, right, line.y1}, text,
            {.style = style, .colour = strong ? Colour::text1 : Colour::text2, .beside = beside});
}

// What the values at the left are of: the selected box, the time between two selected events, or the view.
struct Measured {
  TimeRange range;
  const char* name = "the view";
  bool is_view = true;
};

[[nodiscard]] Measured measured_stretch(const TimelineFrame& frame) {
  if (frame.tab.region && frame.tab.region->range) return {*frame.tab.region->range, "the selected box", false};
  if (const auto gap = selected_gap(frame.tab)) {
    const auto [begin, end] = std::minmax(gap->first.end_ns, gap->second.begin_ns);
    if (begin < end) return {{begin, end}, "the time between the selected events", false};
  }
  return {{std::llround(frame.view.begin_ns), std::llround(frame.view.end_ns)}};
}

[[nodiscard]] double busy_share_of(const TimelineFrame& frame, const LaneSnapshot& lane, const Measured& measured) {
  const lod::LaneStretch held = lod::lane_stretch(lane, &frame.state.windows.lane(lane), measured.range);
  return std::min(1.0, held.busy_ns / static_cast<double>(std::max<std::int64_t>(1, measured.range.length_ns())));
}

struct RowValue {
  std::string text;
  std::string meaning;  // for whoever rests on it; empty: nothing is to be said
};

RowValue draw_slices(TimelineFrame& frame, const DrawnRow& drawn, const LanePainter& painter,
                     const Measured& measured) {
  const rows::TimelineRow& row = frame.state.rows[drawn.row];
  const bool labels = row.size != rows::RowSize::small;  // too low for text
  double busy = 0;
  for (std::size_t i = drawn.first_lane; i < drawn.first_lane + drawn.lane_count; ++i) {
    const DrawnLane& lane = frame.state.lanes[i];
    painter.paint({*lane.strip, lane.texture_row, lane.rect, labels});
    const double share =
        measured.is_view ? lane.strip->busy_share : busy_share_of(frame, frame.snapshot.lanes[lane.lane], measured);
    busy = std::max(busy, share);
  }
  for (std::size_t level = 0; level < row.lanes.size(); ++level) {
    if (level >= drawn.first_level && level < drawn.first_level + drawn.lane_count) continue;
    busy = std::max(busy, busy_share_of(frame, frame.snapshot.lanes[row.lanes[level]], measured));  // out of sight
  }
  const auto length = static_cast<double>(measured.range.length_ns());
  return {percent(busy), fmt::format("{}: busy {} of {}, {} of {}", row.label, percent(busy), measured.name,
                                     format_duration(busy * length), format_duration(length))};
}

void draw_grid(TimelineFrame& frame, const Rect& canvas, const rows::TimelineRow& row) {
  Ui& ui = frame.ui;
  if (row.kind == rows::RowKind::group) return;
  for (const RulerTick& tick : frame.time_ruler.ticks) {
    if (tick.label.empty()) continue;
    const float x = std::floor(frame.canvas_x + static_cast<float>(tick.x));
    fill(ui, {x, canvas.y0, x + ui.px(1), canvas.y1}, ui.colour(Colour::line1));
  }
  fill(ui, {canvas.x0, canvas.y1 - ui.px(1), canvas.x1, canvas.y1}, ui.colour(Colour::line1));
}

// How busy a group's rows are on average, by their busiest sub-lanes.
[[nodiscard]] double busy_share(const TimelineFrame& frame, const rows::TimelineRow& row, const Measured& measured) {
  double sum = 0;
  std::size_t rows = 0;
  TrackNumber track = kNone;
  double busiest = 0;
  for (const std::uint32_t index : row.lanes) {
    const LaneSnapshot& lane = frame.snapshot.lanes[index];
    if (rows == 0 || lane.track != track) {
      sum += busiest;
      busiest = 0;
      ++rows;
      track = lane.track;
    }
    busiest = std::max(busiest, busy_share_of(frame, lane, measured));
  }
  return rows == 0 ? 0 : (sum + busiest) / static_cast<double>(rows);
}

// What a collapsed group holds, for whoever rests on it.
void explain_group(TimelineFrame& frame, const rows::TimelineRow& row, const Rect& rect, double hovered_for,
                   const Measured& measured) {
  if (hovered_for < kHoverCardDelay) return frame.ui.request_frame_after(kHoverCardDelay - hovered_for);
  HoverCard card;
  card.title = row.label;
  const std::size_t shown = row.members.size() - row.hidden_count;
  card.rows.push_back(
      {"Rows", row.hidden_count == 0 ? format_count(shown) : fmt::format("{}, {} hidden", shown, row.hidden_count)});
  if (!row.lanes.empty())
    card.rows.push_back(
        {measured.is_view ? "Busy in view" : "Busy in the box", percent(busy_share(frame, row, measured))});
  if (row.alerts > 0) card.rows.push_back({"Errors, throttling", format_count(row.alerts), Colour::warning});
  card.footer = "Click to open";
  hover_card(frame.ui, card, rect);
}

// Seconds that the pointer has rested on the group's lane.
[[nodiscard]] double rested_on(TimelineFrame& frame, const rows::TimelineRow& row) {
  GroupRest& rest = frame.state.group_rest;
  const Point mouse = frame.ui.input().mouse;
  if (rest.key != row.key || rest.mouse.x != mouse.x || rest.mouse.y != mouse.y) {
    rest = {row.key, mouse, frame.ui.time()};
  }
  return frame.ui.time() - rest.since_s;
}

[[nodiscard]] bool may_hover(const TimelineFrame& frame) {
  return frame.state.gesture == Gesture::none && !menu_is_open(frame.name("row_menu")) &&
         !menu_is_open(frame.name("menu"));
}

void draw_summary(TimelineFrame& frame, const Rect& rect, const DrawnRow& drawn) {
  frame.lanes_texture.draw_row(frame.list, rect, drawn.summary_row);
  for (const PixelRun& run : frame.state.summaries[frame.state.rows[drawn.row].key].shown.found) {
    const float x = rect.x0 + static_cast<float>(run.begin);
    fill(frame.ui, {x, rect.y0 - frame.ui.px(2), rect.x0 + static_cast<float>(run.end), rect.y0},
         frame.ui.colour(Colour::text1));
  }
  for (const PixelRun& run : frame.state.summaries[frame.state.rows[drawn.row].key].shown.lit) {
    const float x = rect.x0 + static_cast<float>(run.begin);
    fill(frame.ui, {x, rect.y1 - frame.ui.px(2), rect.x0 + static_cast<float>(run.end), rect.y1},
         frame.ui.colour(Colour::accent));
  }
}

void draw_row(TimelineFrame& frame, const DrawnRow& drawn, const LanePainter& painter, const Measured& measured) {
  Ui& ui = frame.ui;
  TimelineState& state = frame.state;
  const rows::TimelineRow& row = state.rows[drawn.row];
  const bool group = row.kind == rows::RowKind::group;
  const Rect canvas = frame.canvas(drawn.rect);
  const Rect label = frame.label(drawn.rect);
  const Rect seen = drawn.rect.intersected(drawn.clip);
  const bool opens = group || row.has_children;
  const Interaction touch =
      interact(ui, frame.name("label.") + row.key, frame.label(seen),
               {.below_others = true, .keys = opens ? FocusStopKind::button : FocusStopKind::open, .label = row.label});
  if (touch.ring && ui.keyboard_focus().moved) {  // the next one is in sight, too
    const float below = drawn.rect.y1 + ui.px(size::kLane) - frame.scrolled.y1;
    const float above = frame.scrolled.y0 + ui.px(size::kLane) - drawn.rect.y0;
    if (drawn.rect.overlaps(frame.scrolled) && below > 0 && below > above) state.scroll += below, ui.request_frame();
    if (drawn.rect.overlaps(frame.scrolled) && above > 0 && above > below && state.scroll > 0) {
      state.scroll = std::max(0.0F, state.scroll - above);
      ui.request_frame();
    }
  }
  const bool over_canvas = frame.canvas(seen).contains(ui.input().mouse);
  const bool hovered = touch.hovered || over_canvas;
  const bool dragged = state.row_drag.moved && state.row_drag.key == row.key;
  fill(ui, canvas, ui.colour(group ? Colour::bg2 : Colour::bg1));
  draw_grid(frame, canvas, row);
  const bool lit = (hovered && !group) || touch.hovered || dragged;
  const auto fill_label = [&] { fill(ui, label, ui.colour(lit ? Colour::bg3 : Colour::bg2)); };
  if (has_legend(row)) fill_label();
  RowValue value;
  switch (row.kind) {
    case rows::RowKind::group:
      value.text = row.count;
      if (drawn.summary_row >= 0) {
        draw_summary(frame, canvas.inset(0, ui.px(3)), drawn);
      }
      break;
    case rows::RowKind::bundle:
      if (drawn.summary_row >= 0) draw_summary(frame, canvas.inset(0, ui.px(3)), drawn);
      if (!row.lanes.empty() && !row.open) value.text = percent(busy_share(frame, row, measured));
      break;
    case rows::RowKind::slices:
      value = draw_slices(frame, drawn, painter, measured);
      break;
    case rows::RowKind::counter:
      value.text = draw_counter(frame, drawn);
      break;
    case rows::RowKind::memory:
      value.text = draw_memory(frame, drawn);
      break;
    case rows::RowKind::derived:
      value = {draw_derived(frame, drawn), fmt::format("{}, derived: {}", row.derived->name, row.derived->formula)};
      break;
  }
  if (!has_legend(row)) fill_label();  // over slices that begin before the view
  draw_label(frame, drawn, value.text, hovered);
  touch_label(frame, row, touch);
  if (!value.meaning.empty() && may_hover(frame)) tooltip(ui, touch, label, value.meaning);
  if (group && !row.open && may_hover(frame)) {
    if (touch.hovered) explain_group(frame, row, seen, touch.hovered_for, measured);
    if (over_canvas && ImGui::IsWindowHovered()) explain_group(frame, row, seen, rested_on(frame, row), measured);
  }
  if (touch.clicked && !state.row_drag.moved && opens) toggle(frame, row);
}

[[nodiscard]] const DrawnLane* slices_under(const TimelineFrame& frame, Point at) {
  if (!frame.canvas(frame.rows).contains(at)) return nullptr;
  for (std::size_t i = 0; i < frame.state.lane_count; ++i) {
    const DrawnLane& lane = frame.state.lanes[i];
    if (at.y >= lane.rect.y0 && at.y < lane.rect.y1 && lane.clip.contains(at)) return &lane;
  }
  return nullptr;
}

}  // namespace

void draw_lanes(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  Ui& ui = frame.ui;
  state.labels.begin_frame(frame.tab.snapshot);
  const LanePainter painter(ui, frame.list, frame.lanes_texture, state.labels);
  const Measured measured = measured_stretch(frame);
  for (const DrawnRow& drawn : state.drawn_rows) {
    frame.list->PushClipRect(low(drawn.clip), high(drawn.clip), true);
    draw_row(frame, drawn, painter, measured);
    frame.list->PopClipRect();
  }
  state.labels.end_frame(frame.tab.analysis.get(), session::may_grow(frame.tab));
  if (state.pinned_rows > 0) {
    fill(ui, {frame.rows.x0, frame.pinned.y1, frame.rows.x1, frame.scrolled.y0}, ui.colour(Colour::line2));
  }
  drag_row(frame);
}

std::optional<EventId> event_under(const TimelineFrame& frame, Point at) {
  const DrawnLane* lane = slices_under(frame, at);
  if (lane == nullptr) return {};
  const double x = static_cast<double>(at.x - frame.canvas_x);
  for (const WideSlice& slice : lane->strip->slices) {
    if (x >= slice.x0 && x < slice.x1) return slice.id;
  }
  return {};
}

void find_under(const TimelineFrame& frame, Point at, session::EventIntent intent,
                std::function<void(std::optional<EventId>)> then) {
  frame.tab.events->drop(intent);
  const DrawnLane* drawn = slices_under(frame, at);
  const std::optional<EventId> event = event_under(frame, at);
  if (drawn == nullptr || event) return then(event);
  const auto slack = static_cast<std::int64_t>(std::max(1.0, frame.view.ns_per_pixel()));
  frame.tab.events->ask(
      intent,
      [lane = frame.snapshot.lanes[drawn->lane], ns = static_cast<std::int64_t>(frame.ns(at.x)), slack](
          EventReader& reader, const TaskControl&) { return reader.event_at(lane, ns, slack); },
      [&tab = frame.tab, then = std::move(then)](const Result<std::optional<EventId>>& found) {
        if (!found) tab.last_error = found.message();
        then(found ? *found : std::nullopt);
      });
}

std::optional<Rect> event_rect(const TimelineFrame& frame, const EventRecord& event) {
  const TimelineState& state = frame.state;
  for (std::size_t i = 0; i < state.lane_count; ++i) {
    const DrawnLane& lane = state.lanes[i];
    if (frame.snapshot.lanes[lane.lane].number() != lane_of(event.id)) continue;
    const float x0 = frame.x(static_cast<double>(event.begin_ns));
    const float x1 = frame.x(static_cast<double>(event.end_ns));
    const Rect rect{std::round(std::max(x0, frame.canvas_x - 8)), std::max(lane.rect.y0, lane.clip.y0),
                    std::max(std::round(std::min(x1, frame.rows.x1 + 8)) - 1, std::round(x0) + 1),
                    std::min(lane.rect.y1, lane.clip.y1)};
    if (rect.y1 <= rect.y0) return {};  // below a pinned row or a heading
    return rect;
  }
  return {};
}

}  // namespace accelscope::app::timeline
