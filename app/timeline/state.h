// What the timeline remembers of one session between frames: scroll position, open groups, decoded windows, the
// gesture under way. Kept in the session's tab; used by the files named timeline_* only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/content/axes/axes.h"
#include "app/content/derived_values.h"
#include "app/content/event_labels.h"
#include "app/content/memory/plot_data.h"
#include "app/rows/rows.h"
#include "app/rows/warning_index.h"
#include "app/session/tab.h"
#include "app/timeline/colour_legend.h"
#include "core/analysis/figures/incidents.h"
#include "core/lod/lane_window.h"
#include "render/base/geometry.h"
#include "render/timeline/counter_strip.h"
#include "render/timeline/lane_strips.h"
#include "render/timeline/strip_texture.h"
#include "render/timeline/summary_strip.h"

namespace accelscope::app {

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
  std::shared_ptr<const EventColours> colours;
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
  FoldedAxis axis;
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

// Where a flag of the marker row lies: flags that would lie over each other, or over a sign, stand on further lines.
struct FlagPlace {
  float x0 = 0, x1 = 0;
  int line = 0;
};

// What the rows were composed from: they stand until one of these changes.
struct ComposedFrom {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const MemoryUsage> memory;
  RowChoices choices;
};

struct TimelineState {
  explicit TimelineState(WorkerPool& pool) : windows(pool), strips(pool), crew(pool) {}

  float rows_top = 0;      // where the lanes began in the last frame, below overview, ruler and markers
  bool too_small = false;  // the place for it: nothing is drawn, and nothing is waited for
  LaneWindows windows;
  render::LaneStrips strips;
  render::StripCrew crew;
  EventLabels labels;

  std::vector<TimelineRow> rows;
  RowCount row_count;
  std::vector<std::vector<std::uint32_t>> bands;  // lanes of each group, whatever is hidden: for the overview
  ComposedFrom composed_from;
  std::uint64_t rows_version = 0;  // counts how often they were composed
  std::vector<float> row_tops;     // pixels from the first one to each, and to the end of all, in this frame
  WarningIndex warnings;
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
  render::CounterStrip counter;      // scratch memory
  DerivedCounters derived_counters;  // of composed_from
  DerivedValues derived;
  UsageStacks usage_stacks;
  Overview overview;
  std::shared_ptr<const Incidents> incidents;  // null: not known yet
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
  bool warning_chosen = false;   // by the tab of its box: its panel tells the rest
  bool region_made = false;      // a box was finished, or events chosen by what they share: show what they are
  std::optional<float> snapped;  // pixel of the edge that the gesture holds on to in this frame
  std::int64_t held_marker = 0;
  std::int64_t menu_marker = 0;
  std::int64_t menu_ns = 0;
  std::optional<EventId> menu_event;
  MarkerEdit marker_edit;
  std::vector<std::pair<float, float>> signs;  // of this frame, in the marker row
  int marker_lines = 1;                        // that the flags of the last frame took
  std::optional<double> settle_at_s;           // when a wheel or key movement counts as finished

  double hover_since_s = 0;
};

}  // namespace accelscope::app
