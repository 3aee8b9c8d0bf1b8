// Where the rows lie: pinned ones in a band of their own, the others scrolled below the heading of their group; and
// the strips of all that is seen.
#include "app/rows/groups.h"
#include "app/session/analysis.h"
#include "app/timeline/frame.h"
#include "app/view/record.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kPinnedShare = 0.6F;       // of the rows' area that pinned rows may take
constexpr float kPinnedLine = 2;           // units between them and the rest
constexpr std::size_t kSummaryLanes = 96;  // lanes of collapsed groups that a frame adds up

[[nodiscard]] DrawnLane& next_lane(TimelineState& state) {
  if (state.lane_count == state.lanes.size()) state.lanes.emplace_back();
  return state.lanes[state.lane_count++];
}

// Slices of each sub-lane of a row that is in sight, from top to bottom.
void place_sub_lanes(TimelineFrame& frame, DrawnRow& drawn) {
  const rows::TimelineRow& row = frame.state.rows[drawn.row];
  const rows::SubLaneSizes sizes = rows::sub_lane_sizes(row.lanes.size(), row.size);
  const Ui& ui = frame.ui;
  const float slice = ui.px(sizes.slice);
  const float step = ui.px(sizes.step);
  const float used = step * static_cast<float>(row.lanes.size() - 1) + slice;
  float y = std::round(drawn.rect.y0 + (drawn.rect.height() - used) / 2);
  drawn.first_lane = frame.state.lane_count;
  for (std::size_t level = 0; level < row.lanes.size(); ++level, y += step) {
    const Rect rect{frame.canvas_x, y, drawn.rect.x1, y + slice};
    if (rect.y1 <= drawn.clip.y0 || rect.y0 >= drawn.clip.y1) continue;  // scrolled away: nothing is made for it
    if (drawn.first_lane == frame.state.lane_count) drawn.first_level = level;
    DrawnLane& placed = next_lane(frame.state);
    placed.lane = row.lanes[level];
    placed.row = drawn.row;
    placed.rect = rect;
    placed.clip = drawn.clip;
    placed.strip = nullptr;
  }
  drawn.lane_count = frame.state.lane_count - drawn.first_lane;
}

void place_row(TimelineFrame& frame, std::size_t index, float y, const Rect& clip) {
  const rows::TimelineRow& row = frame.state.rows[index];
  DrawnRow drawn;
  drawn.row = index;
  drawn.rect = {frame.rows.x0, y, frame.rows.x1, y + frame.ui.px(row.height)};
  if (drawn.rect.y1 <= clip.y0 || drawn.rect.y0 >= clip.y1) return;
  drawn.clip = clip;
  if (row.kind == rows::RowKind::slices) place_sub_lanes(frame, drawn);
  frame.state.drawn_rows.push_back(drawn);
}

// Divides the rows' area; pinned rows that it has no room for scroll with the others.
void place_bands(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  state.row_tops.assign(1, 0);
  for (const rows::TimelineRow& row : state.rows)
    state.row_tops.push_back(state.row_tops.back() + frame.ui.px(row.height));
  state.pinned_rows = 0;
  float height = 0;
  for (const rows::TimelineRow& row : state.rows) {
    const float higher = height + frame.ui.px(row.height);
    if (!row.pinned || higher > frame.rows.height() * kPinnedShare) break;
    height = higher;
    ++state.pinned_rows;
  }
  frame.pinned = frame.scrolled = frame.rows;
  frame.pinned.y1 = frame.rows.y0 + height;
  frame.scrolled.y0 = frame.pinned.y1 + (state.pinned_rows > 0 ? frame.ui.px(kPinnedLine) : 0);
  state.content_height = state.row_tops.back() - state.row_tops[state.pinned_rows];
}

// The heading of the topmost row stays in sight until the next group's pushes it out.
struct Sticky {
  std::size_t row = 0;
  float y = 0;
  bool any = false;
};

[[nodiscard]] Sticky sticky_heading(const TimelineFrame& frame) {
  const TimelineState& state = frame.state;
  Sticky sticky;
  float y = frame.scrolled.y0 - state.scroll;
  for (std::size_t i = state.pinned_rows; i < state.rows.size(); ++i) {
    const rows::TimelineRow& row = state.rows[i];
    const bool heading = row.kind == rows::RowKind::group;
    if (heading && y >= frame.scrolled.y0) {
      if (sticky.any) sticky.y = std::min(sticky.y, y - frame.ui.px(state.rows[sticky.row].height));
      break;
    }
    if (y >= frame.scrolled.y1) break;
    if (heading) sticky = {i, frame.scrolled.y0, true};
    y += frame.ui.px(row.height);
  }
  return sticky;
}

void place_rows(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  state.drawn_rows.clear();
  state.lane_count = 0;
  float y = frame.rows.y0;
  for (std::size_t i = 0; i < state.pinned_rows; ++i) {
    place_row(frame, i, y, frame.pinned);
    y += frame.ui.px(state.rows[i].height);
  }
  const Sticky sticky = sticky_heading(frame);
  Rect clip = frame.scrolled;
  if (sticky.any) clip.y0 = std::max(clip.y0, sticky.y + frame.ui.px(state.rows[sticky.row].height));
  y = frame.scrolled.y0 - state.scroll;
  for (std::size_t i = state.pinned_rows; i < state.rows.size() && y < frame.scrolled.y1; ++i) {
    if (!sticky.any || i != sticky.row) place_row(frame, i, y, clip);
    y += frame.ui.px(state.rows[i].height);
  }
  if (sticky.any) place_row(frame, sticky.row, sticky.y, frame.scrolled);
}

// Opens what the track lies in. True when that changed something: its row is there in the next frame.
bool open_around(TimelineFrame& frame, const TrackSnapshot& track) {
  rows::RowChoices choices = frame.tab.choices.rows;
  for (const rows::TimelineRow& row : frame.state.rows) {
    if ((row.kind != rows::RowKind::group && row.kind != rows::RowKind::bundle) || row.open) continue;
    const bool inside = std::ranges::any_of(row.members, [&](const rows::RowMember& member) {
      return member.track == track.track->number && !member.hidden;
    });
    if (inside) choices.open[row.key] = true;
  }
  const rows::TrackNames names(frame.snapshot);
  const TrackSnapshot* parent = &track;
  for (int depth = 0; depth < 8 && parent->track->parent != kNone; ++depth) {
    const TrackSnapshot* next = frame.snapshot.find_track(parent->track->parent);
    if (next == nullptr || next == parent) break;
    choices.open[rows::row_key(names, next->track->number)] = true;
    parent = next;
  }
  if (choices == frame.tab.choices.rows) return false;
  view::choose_rows(frame.tab, std::move(choices));
  return true;
}

// Makes a row tall that leaves the lane's level out. True when that changed something.
bool show_level_of(TimelineFrame& frame, const rows::TimelineRow& row, const LaneSnapshot& lane) {
  const auto shown = std::ranges::any_of(
      row.lanes, [&](std::uint32_t index) { return frame.snapshot.lanes[index].number() == lane.number(); });
  if (shown || row.hidden_levels == 0 || row.size == rows::RowSize::tall) return false;
  rows::RowChoices choices = frame.tab.choices.rows;
  choices.sizes[row.key] = rows::RowSize::tall;
  view::choose_rows(frame.tab, std::move(choices));
  return true;
}

void reveal_event(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  if (!state.reveal) return;
  const LaneSnapshot* lane = frame.snapshot.find_lane(lane_of(*state.reveal));
  const TrackSnapshot* track = lane != nullptr ? frame.snapshot.find_track(lane->track) : nullptr;
  if (track == nullptr) return state.reveal.reset();
  float y = 0;
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    const rows::TimelineRow& row = state.rows[i];
    const float height = frame.ui.px(row.height);
    const bool scrolls = i >= state.pinned_rows;
    if (row.track == track->track.get()) {
      const bool seen =
          y >= state.scroll + frame.ui.px(size::kGroupRow) && y + height <= state.scroll + frame.scrolled.height();
      if (scrolls && !seen) state.scroll = y - (frame.scrolled.height() - height) / 2;
      if (show_level_of(frame, row, *lane)) return frame.ui.request_frame();
      return state.reveal.reset();
    }
    if (scrolls) y += height;
  }
  if (open_around(frame, *track)) {
    frame.ui.request_frame();
  } else {
    state.reveal.reset();
  }
}

// A collapsed group is one lane: the mean of its lanes. The last one is shown, where it lies in this view, until the
// next is made.
void summarise(TimelineFrame& frame, DrawnRow& drawn, std::size_t& budget) {
  TimelineState& state = frame.state;
  const rows::TimelineRow& row = state.rows[drawn.row];
  GroupSummary& summary = state.summaries[row.key];
  const auto is_asked_for = [&] {
    return summary.version == frame.snapshot.version && summary.shade_version == state.shade_version &&
           summary.view == frame.view && summary.lanes == row.lanes;
  };
  if (!summary.builder.busy() && !(is_asked_for() && summary.builder.strip().complete)) {
    summary.version = frame.snapshot.version;
    summary.shade_version = state.shade_version;
    summary.view = frame.view;
    summary.lanes = row.lanes;
    summary.builder.begin(row.lanes, frame.view);
  }
  summary.builder.advance(
      frame.snapshot, state.windows, state.crew, [&](std::uint32_t lane) { return shade_of(frame, lane); }, budget);
  const bool goes_on = summary.builder.busy() || !is_asked_for();
  if (goes_on) frame.ui.request_frame();
  state.complete = state.complete && !goes_on && summary.builder.strip().complete;
  summary.shown = at_view(summary.builder.strip(), frame.view);
  drawn.summary_row = frame.lanes_texture.add(summary.shown.texels);
}

void build_strips(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  hold_masks(frame);
  state.strips.begin_frame(state.windows, frame.tab.snapshot, frame.view);
  for (std::size_t i = 0; i < state.lane_count; ++i) {
    DrawnLane& drawn = state.lanes[i];
    drawn.strip = &state.strips.strip({drawn.lane, shade_of(frame, drawn.lane), state.shade_keeps});
  }
  state.strips.end_frame();
  if (!state.strips.settled()) frame.ui.request_frame();
}

}  // namespace

void compose_frame_rows(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  ComposedFrom from{frame.tab.snapshot, frame.tab.analysis ? frame.tab.analysis->memory() : nullptr,
                    frame.tab.choices.rows};
  if (state.typed_filter) from.choices.name_filter = *state.typed_filter;
  const ComposedFrom& last = state.composed_from;
  const bool same_data = from.snapshot == last.snapshot && from.memory == last.memory;
  if (same_data && from.choices == last.choices) return;
  if (!same_data) {
    state.bands.clear();
    state.derived_counters.clear();
    for (analysis::DerivedCounter& counter :
         frame.tab.analysis ? analysis::derived_counters(frame.snapshot) : std::vector<analysis::DerivedCounter>()) {
      state.derived_counters.push_back(std::make_shared<analysis::DerivedCounter>(std::move(counter)));
    }
    for (rows::TimelineRow& row : rows::compose_rows(frame.snapshot, from.memory.get(), {})) {
      if (row.kind == rows::RowKind::group && !row.lanes.empty()) state.bands.push_back(std::move(row.lanes));
    }
  }
  state.rows =
      rows::compose_rows(frame.snapshot, from.memory.get(), from.choices, &state.row_count, state.derived_counters);
  state.composed_from = std::move(from);
  ++state.rows_version;
}

void prepare_lanes(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  Ui& ui = frame.ui;
  place_bands(frame);
  reveal_event(frame);
  state.scroll =
      std::round(std::clamp(state.scroll, 0.0F, std::max(0.0F, state.content_height - frame.scrolled.height())));
  place_rows(frame);
  const float highest = rows::sub_lane_sizes(1, rows::RowSize::tall).row;
  frame.lanes_texture.begin(
      frame.view.width, static_cast<int>(frame.canvas_x), static_cast<int>(ui.px(highest)),
      {static_cast<int>(ui.px(size::kHatchStep)), ui.scale(), ui.colour(Colour::hatch), ui.colour(Colour::hatch_bg)});
  build_strips(frame);
  state.complete = state.strips.settled();
  want_derived(frame);
  for (std::size_t i = 0; i < state.lane_count; ++i) {
    DrawnLane& drawn = state.lanes[i];
    drawn.texture_row = frame.lanes_texture.add(drawn.strip->texels);
  }
  std::size_t budget = kSummaryLanes;
  for (DrawnRow& drawn : state.drawn_rows) {
    const rows::TimelineRow& row = state.rows[drawn.row];
    const bool closes = row.kind == rows::RowKind::group || row.kind == rows::RowKind::bundle;
    if (closes && !row.open && !row.lanes.empty()) summarise(frame, drawn, budget);
  }
}

}  // namespace accelscope::app::timeline
