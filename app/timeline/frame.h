// One frame of the timeline: where its parts lie and what they are drawn with. Made by TimelinePanel::draw() and
// handed to the functions that draw the parts; timeline_*.cpp holds one part each.
#pragma once

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "app/content/axes/axes.h"
#include "app/content/derived_values.h"
#include "app/content/event_labels.h"
#include "app/content/memory/plot_data.h"
#include "app/rows/rows.h"
#include "app/rows/warning_index.h"
#include "app/session/tab.h"
#include "app/timeline/colour_legend.h"
#include "app/timeline/panel.h"
#include "app/view/selection.h"
#include "core/analysis/figures/incidents.h"
#include "core/lod/lane_window.h"
#include "render/timeline/counter_strip.h"
#include "render/timeline/lane_strips.h"
#include "render/timeline/ruler.h"
#include "render/timeline/strip_texture.h"
#include "render/timeline/summary_strip.h"
#include "render/widgets/widgets.h"

namespace accelscope::app::timeline {

// What the timeline remembers of one session between frames: scroll position, open groups, decoded windows, the
// gesture under way. Retained in the session's tab; used by the files named timeline_* only.

enum class Gesture : std::uint8_t {
  none,
  press,
  zoom_box,
  box,
  pan,
  brush,
  brush_new,
  marker,
  marker_begin,
  marker_end,
  row
};

// A box of lanes and time while it is drawn or resized: from a corner that stays to the pointer.
struct BoxDrag {
  double anchor_ns = 0;
  std::size_t anchor_row = 0;  // index into TimelineState::rows
  bool keeps_tracks = false;   // only its time changes: a side is dragged, or a stretch over all lanes
  bool whole = false;          // a stretch of the ruler: no tracks
};

// Which way keys extend the box: steps of time, and rows.
struct BoxStep {
  int across = 0, along = 0;
};

// A lane of slices as it was drawn in this frame, for hit tests and outlines. Rectangles are in the window.
struct DrawnLane {
  std::uint32_t lane = 0;                    // index into Snapshot::lanes
  std::size_t row = 0;                       // index into TimelineState::rows
  render::Rect rect;                         // of its slices
  render::Rect clip;                         // what is seen of its row
  const render::LaneStrip* strip = nullptr;  // of TimelineState::strips
  int texture_row = 0;
};

struct DrawnRow {
  std::size_t row = 0;                         // index into TimelineState::rows
  render::Rect rect;                           // label column and canvas
  render::Rect clip;                           // where it may draw: not below pinned rows or the group's heading
  std::size_t first_lane = 0, lane_count = 0;  // in TimelineState::lanes: those that are seen
  std::size_t first_level = 0;                 // of them, in TimelineRow::lanes
  int summary_row = -1;                        // texture row of a collapsed group
};

// A collapsed group as one lane; made anew when something that it was made from has changed.
struct GroupSummary {
  std::uint64_t version = 0;
  std::uint64_t shade_version = 0;
  render::TimeView view;
  std::vector<std::uint32_t> lanes;
  render::SummaryBuilder builder;
  render::SummaryStrip shown;  // of this frame's view
};

// What dims and marks lanes in this frame. Null: none, or not there yet.
struct ShadedBy {
  std::shared_ptr<const EventMask> filter_mask, region_mask, search_mask, legend_mask, lit_mask, path_mask;
  std::shared_ptr<const colour::EventColours> colours;
  EventFilter filter;
  std::optional<EventFilter> region;
  render::Pixel background;
  bool operator==(const ShadedBy&) const = default;
};

// The collapsed group that the pointer rests on.
struct GroupRest {
  std::string key;
  render::Point mouse;
  double since_s = 0;
};

// A label that is dragged to another place.
struct RowDrag {
  std::string key;
  bool moved = false;  // far enough to be no click
};

// Values of a counter over the whole session: its scale stays when the view changes.
struct CounterScale {
  std::uint64_t version = 0;
  double highest = 0;
};

// The whole session at a glance: a row of texels for each group, dimmed and marked as the lanes are. Made anew band by
// band, some lanes in a frame, so that a large session costs no frame much.
struct Overview {
  content::FoldedAxis axis;
  std::vector<render::SummaryBuilder> bands;  // of each group, one for each part of the axis
  std::uint64_t shade_version = 0;
  std::size_t next_band = 0;
  bool complete = false;  // every band is of this version and width
  std::uint64_t version = 0;
  double made_at_s = -1;
};

struct MarkerEdit {
  std::int64_t id = 0;  // 0: none
  std::string text;
  bool focus = false;    // asks for the keyboard
  bool focused = false;  // had it
};

// What keys do to a marker in this frame.
struct MarkerKeys {
  std::int64_t id = 0;
  render::HandleKeys keys;
};

// Where a flag of the marker row lies: flags that would lie over each other, or over a sign, stand on further lines.
struct FlagPlace {
  float x0 = 0, x1 = 0;
  int line = 0;
};

// What the rows were composed from: they stand until one of these changes.
struct ComposedFrom {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const analysis::MemoryUsage> memory;
  rows::RowChoices choices;
};

struct TimelineState {
  explicit TimelineState(WorkerPool& pool) : windows(pool), strips(pool), crew(pool) {}

  float rows_top = 0;         // where the lanes began in the last frame, below overview, ruler and markers
  bool has_overview = false;  // in the last frame
  bool too_small = false;     // the place for it: nothing is drawn, and nothing is waited for
  lod::LaneWindows windows;
  render::LaneStrips strips;
  render::StripCrew crew;
  content::EventLabels labels;

  std::vector<rows::TimelineRow> rows;
  rows::RowCount row_count;
  std::vector<std::vector<std::uint32_t>> bands;  // lanes of each group, whatever is hidden: for the overview
  ComposedFrom composed_from;
  std::uint64_t rows_version = 0;  // counts how often they were composed
  std::vector<float> row_tops;     // pixels from the first one to each, and to the end of all, in this frame
  rows::WarningIndex warnings;
  std::optional<std::string> typed_filter;                  // while the name filter is being typed
  bool focus_filter = false;                                // a command asked for the keyboard there
  std::unordered_map<std::string, GroupSummary> summaries;  // by the group's key
  RowDrag row_drag;
  GroupRest group_rest;
  std::string menu_row;         // key of the row whose menu is open
  std::size_t pinned_rows = 0;  // leading rows that have room above those that scroll
  float content_height = 0;     // of the rows that scroll, pixels
  float scroll = 0;             // pixels
  std::optional<EventId> reveal;

  std::vector<DrawnRow> drawn_rows;
  std::vector<DrawnLane> lanes;  // the first lane_count are of this frame; kept to reuse their memory
  std::size_t lane_count = 0;
  std::unordered_map<LaneNumber, CounterScale> counter_scales;
  render::CounterStrip counter;            // scratch memory
  rows::DerivedCounters derived_counters;  // of composed_from
  content::DerivedValues derived;
  content::UsageStacks usage_stacks;
  Overview overview;
  std::shared_ptr<const analysis::Incidents> incidents;  // null: not known yet
  ShadedBy shaded_by;
  std::shared_ptr<const ShadedBy> shade_keeps;  // the same, for strips that are being made
  std::uint64_t shade_version = 0;              // counts changes of shaded_by
  bool complete = false;                        // nothing in the last frame stood for something finer
  ColourLegend legend;

  Gesture gesture = Gesture::none;
  render::Point pressed_at;  // pixels
  render::Point last_mouse;
  double pressed_ns = 0;
  bool right_press = false;  // a right press that has not moved: it opens the menu
  bool box_armed = false;    // B was pressed: the next drag is a box
  bool box_wanted = false;   // of the press under way
  BoxDrag box;
  BoxStep box_step;              // by keys, in this frame
  bool warning_chosen = false;   // by the tab of its box: its panel tells the rest
  bool marker_chosen = false;    // by a click on its flag: likewise
  bool region_made = false;      // a box was finished, or events chosen by what they share: show what they are
  std::optional<float> snapped;  // pixel of the edge that the gesture holds on to in this frame
  std::int64_t held_marker = 0;
  std::int64_t menu_marker = 0;
  std::int64_t menu_ns = 0;
  std::optional<EventId> menu_event;
  MarkerEdit marker_edit;
  MarkerKeys marker_keys;
  std::vector<std::pair<float, float>> signs;  // of this frame, in the marker row
  int marker_lines = 1;                        // that the flags of the last frame took
  std::optional<double> settle_at_s;           // when a wheel or key movement counts as finished

  double hover_since_s = 0;
};

[[nodiscard]] inline ImVec2 low(const render::Rect& rect) { return {rect.x0, rect.y0}; }
[[nodiscard]] inline ImVec2 high(const render::Rect& rect) { return {rect.x1, rect.y1}; }

struct TimelineFrame {
  const std::string& widgets;  // what their names begin with
  render::Ui& ui;
  session::SessionTab& tab;
  TimelineState& state;
  const Snapshot& snapshot;
  render::StripTexture& lanes_texture;
  render::StripTexture& overview_texture;
  ImDrawList* list = nullptr;
  render::Rect area;      // everything
  render::Rect overview;  // with its part of the label column
  render::Rect ruler;
  render::Rect markers;
  render::Rect path;      // the lane of the critical path; empty where none is marked
  render::Rect rows;      // all of them
  render::Rect pinned;    // its upper part, that does not scroll
  render::Rect scrolled;  // the rest
  float canvas_x = 0;     // where the label column ends
  render::TimeView view;
  view::SessionSpan session;
  render::Ruler time_ruler;

  [[nodiscard]] std::string name(std::string_view part) const { return widgets + "." + std::string(part); }
  [[nodiscard]] render::Rect canvas(const render::Rect& band) const { return {canvas_x, band.y0, band.x1, band.y1}; }
  [[nodiscard]] render::Rect label(const render::Rect& band) const { return {band.x0, band.y0, canvas_x, band.y1}; }
  [[nodiscard]] float x(double ns) const { return canvas_x + static_cast<float>(view.x(ns)); }
  [[nodiscard]] double ns(float x) const { return view.ns(static_cast<double>(x - canvas_x)); }
};

// timeline/layout.cpp: which rows there are, where they lie, and the strips of those that are seen.
void compose_frame_rows(TimelineFrame& frame);
void prepare_lanes(TimelineFrame& frame);

// timeline/lanes.cpp: rows, labels, lanes.
void draw_lanes(TimelineFrame& frame);
// The event under the pixel, of those that are drawn one by one.
[[nodiscard]] std::optional<EventId> event_under(const TimelineFrame& frame, render::Point at);
// The same, but where they are narrower than pixels the nearest, which a worker looks for: `then` gets it at once or in
// a later frame, and must not hold on to this one.
void find_under(const TimelineFrame& frame, render::Point at, session::EventIntent intent,
                std::function<void(std::optional<EventId>)> then);
[[nodiscard]] std::optional<render::Rect> event_rect(const TimelineFrame& frame, const EventRecord& event);

// timeline/plots.cpp: counters and memory. Return what the row's label says: the value at the cursor, else of the view.
[[nodiscard]] std::string draw_counter(TimelineFrame& frame, const DrawnRow& drawn);
[[nodiscard]] std::string draw_memory(TimelineFrame& frame, const DrawnRow& drawn);
// timeline/plots.cpp: counters that no source recorded. want_derived() once per frame, when the rows are placed.
void want_derived(TimelineFrame& frame);
[[nodiscard]] std::string draw_derived(TimelineFrame& frame, const DrawnRow& drawn);
[[nodiscard]] std::string percent(double share);

// timeline/menus.cpp: what the user does with a row's label: its menu, and dragging it to another place.
void touch_label(TimelineFrame& frame, const rows::TimelineRow& row, const render::Interaction& touch);
void drag_row(TimelineFrame& frame);
void draw_row_menu(TimelineFrame& frame);
void flip_pin(rows::RowChoices& choices, const std::string& key);
void open_all(const TimelineState& state, rows::RowChoices& choices, bool open);

// timeline/menus.cpp: the name filter, and what is shown when it leaves nothing.
void draw_row_filter(TimelineFrame& frame);
void draw_no_rows(TimelineFrame& frame);

// timeline/lanes.cpp: what a lane's strip is dimmed and marked by. hold_masks() once per frame before shade_of().
void hold_masks(TimelineFrame& frame);
[[nodiscard]] render::Pixel event_colour(const TimelineFrame& frame, const EventRecord& event);
[[nodiscard]] render::LaneShade shade_of(const TimelineFrame& frame, std::uint32_t lane_index);

// timeline/axis.cpp
void draw_overview(TimelineFrame& frame);
void draw_ruler(TimelineFrame& frame);

// timeline/signs.cpp: where errors, throttling and warnings happened, and where something was compiled.
void draw_signs(TimelineFrame& frame);

// timeline/signs.cpp: a box round what the chosen finding, and the largest others, rest on, with its reason above.
void draw_warnings(TimelineFrame& frame);

// timeline/markers.cpp
inline constexpr float kMarkerLine = 18;  // units: what a further line of flags takes
void draw_markers(TimelineFrame& frame);
void drop_marker(session::SessionTab& tab, std::int64_t ns, std::optional<std::int64_t> end_ns = {});

// timeline/box.cpp: the tracks that a row shows by itself, and where a row begins, in sight or not: pinned rows stand
// still, the others scroll below them.
[[nodiscard]] std::set<TrackNumber> tracks_of(const TimelineFrame& frame, const rows::TimelineRow& row);
[[nodiscard]] float top_of(const TimelineFrame& frame, std::size_t row);

// timeline/box.cpp: the box of lanes and time that is selected (SessionTab::region).
void begin_box(TimelineFrame& frame, bool whole);
void drag_box(TimelineFrame& frame);
// Takes hold of a handle or side of the box under the pointer; false: there is none.
[[nodiscard]] bool take_box_handle(TimelineFrame& frame);
[[nodiscard]] bool over_box(const TimelineFrame& frame, render::Point at);
void draw_box(TimelineFrame& frame);
void extend_box(TimelineFrame& frame);  // by TimelineState::box_step
[[nodiscard]] bool has_box(const session::SessionTab& tab);

// timeline/box.cpp: the time under the pointer, or the begin or end of a drawn event beside it. Alt: never an edge.
[[nodiscard]] double snapped_ns(TimelineFrame& frame, render::Point at);

// timeline/box.cpp: from the end of the first to the begin of the second of two selected events; < 0: they overlap.
struct Gap {
  EventRecord first, second;
  [[nodiscard]] std::int64_t length_ns() const noexcept { return second.begin_ns - first.end_ns; }
};
// Nothing until both are known.
[[nodiscard]] std::optional<Gap> gap_between(session::SessionTab& tab, EventId one, EventId other);
[[nodiscard]] std::optional<Gap> selected_gap(session::SessionTab& tab);
void draw_gap(TimelineFrame& frame);

// timeline/input.cpp: what the mouse does on the canvas, the overview and the marker row.
void handle_mouse(TimelineFrame& frame);
// Changes the view during a gesture; it enters the history when the gesture is over.
void move_view(session::SessionTab& tab, TimelineState& state, const session::ViewRange& view);
void finish_move(session::SessionTab& tab, TimelineState& state);
// The selected one first, then those beside it.
[[nodiscard]] std::vector<EventId> selected_events(const session::SessionTab& tab);
// Shows the stretch that they take, once they are known.
void fit_events(session::SessionTab& tab, std::vector<EventId> events);

// timeline/menus.cpp: the menu of the lanes and of a marker.
void draw_menu(TimelineFrame& frame);

// timeline/overlay.cpp: cursor, zoom box, outlines, arrows.
void draw_overlay(TimelineFrame& frame);
// The lane of the critical path: its events one after another, what it waited for between them hatched.
void draw_path_lane(TimelineFrame& frame);

// timeline/overlay.cpp: the time at the pointer, before anything that shows values at it is drawn, and the card of what
// the pointer rests on.
void take_cursor(TimelineFrame& frame);
void draw_hover(TimelineFrame& frame);

}  // namespace accelscope::app::timeline
