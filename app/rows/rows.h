// Which rows the timeline has: tracks grouped by kind and device in the order users know from their vendor's tools,
// groups that are open or collapsed, tracks below their parents, the sub-lanes of a track in one row, and what the
// user has pinned, hidden, moved, resized and filtered. Product rules only; no drawing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/figures/derived_counters.h"
#include "core/analysis/memory/usage.h"
#include "core/store/snapshot.h"

namespace accelscope::app::rows {

// What the user has changed about the timeline's rows: plain data that can be compared, kept and written as text.
// Rows are named by their keys (TimelineRow::key), groups by those of their headings.

enum class RowSize : std::uint8_t { normal, small, tall };
// How the counters of a group share rows: each its own, lines over each other, or areas on top of each other.
enum class CounterMode : std::uint8_t { separate, overlaid, stacked };

struct RowChoices {
  std::map<std::string, bool> open;  // rows that are not open or closed as they are by default
  std::set<std::string> hidden;
  std::vector<std::string> pinned;  // from top to bottom
  std::map<std::string, RowSize> sizes;
  // Rows in the order that the user gave them, by the key of what they belong to; "" has the groups.
  std::map<std::string, std::vector<std::string>> order;
  std::string name_filter;                          // words that must all be in "device group name"
  std::map<std::string, CounterMode> counter_mode;  // by group
  std::set<std::string> shared_scale;               // groups whose counters of one unit have one scale
  std::set<std::string> counter_lines;              // groups whose counters are lines without an area
  std::uint32_t layer_depth = 0;                    // levels of the Layers groups that are shown; 0: all
  // Rows of these tracks and no others; empty: all. For the time being: neither kept nor in links.
  std::vector<std::uint32_t> only;
  bool minimal = false;   // only what executes, and counters of how well it is used
  bool platform = false;  // in the order of work's way: threads, calls, queues, engines, transfers, counters

  bool operator==(const RowChoices&) const = default;

  [[nodiscard]] RowSize size_of(const std::string& key) const;
  [[nodiscard]] CounterMode counter_mode_of(const std::string& group) const;

  // One line for each choice. Lines that are not understood are passed over: they only concern the look. Their first
  // words are added to `passed_over`.
  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] static RowChoices from_text(std::string_view text, std::vector<std::string>* passed_over = nullptr);
};

// A bundle is a track of no events of its own: a thread or core, with the rows of what it did below it.
enum class RowKind : std::uint8_t { group, bundle, slices, counter, memory, derived };

// A row that belongs to a group, shown or not.
struct RowMember {
  std::string key;
  std::string label;
  bool hidden = false;
  TrackNumber track = kNone;  // none: a pool, or a group among the hidden ones
};

struct TimelineRow {
  RowKind kind = RowKind::slices;
  std::string key;  // the same in every session of a program: "group:Engines", "track:engine/Tensor"
  std::string label;
  std::string parent;                // key of the group or track that it belongs to; empty for groups
  std::string count;                 // of a group: "4 queues"; else empty
  std::size_t group = 0;             // of a group: as row_group() (app/rows/groups.h) numbers them
  std::vector<std::uint32_t> lanes;  // indices into Snapshot::lanes: by depth; of a group or bundle: all of its rows
  std::size_t hidden_levels = 0;     // lanes of the track that a small row or the layers' depth leaves out
  const Track* track = nullptr;      // lives as long as the snapshot; null for groups, pools and shared counter rows
  std::vector<const Track*> series;  // of a counter row: its counters, one for each lane
  bool open = true;                  // of a group, or of a track that has others below it
  bool has_children = false;         // a track: other tracks belong to it and show when it is open
  bool pinned = false;               // pinned rows come before all others
  int depth = 0;                     // of tracks below tracks
  std::shared_ptr<const analysis::DerivedCounter> derived;  // of a row of values that no source recorded
  std::uint32_t pool = 0;                                   // of a memory row: index into MemoryUsage::pools
  std::uint64_t alerts = 0;  // events of errors and throttling; of a group: those that it hides by being closed
  RowSize size = RowSize::normal;
  CounterMode counters = CounterMode::separate;
  bool counter_line = false;               // no area below the line
  bool own_scales = false;                 // overlaid counters: each has the scale of its own highest value
  std::vector<std::uint32_t> scale_lanes;  // of a counter row: the highest value of these lanes is its scale
  std::vector<RowMember> members;          // of a group: every row that it has
  std::size_t hidden_count = 0;            // of a group: its members that the user has hidden
  float height = 0;                        // units at 100 %
};

// How many lanes there are and how many the name filter leaves.
struct RowCount {
  std::size_t all = 0;
  std::size_t matching = 0;
};

// Counters that no source recorded (core/analysis/figures/derived_counters.h).
using DerivedCounters = std::vector<std::shared_ptr<const analysis::DerivedCounter>>;

// `memory` may be null: then tracks of kind memory have no area yet, only their events. `derived` have rows above the
// counters of their devices.
[[nodiscard]] std::vector<TimelineRow> compose_rows(const Snapshot& snapshot, const analysis::MemoryUsage* memory,
                                                    const RowChoices& choices, RowCount* count = nullptr,
                                                    const DerivedCounters& derived = {});

// Groups of more rows than this start collapsed, the largest first, when the session's rows would be higher together
// than what a window usually has room for.
inline constexpr std::size_t kManyRows = 8;
inline constexpr float kUsualHeight = 480;  // units
inline constexpr float kFold = 420;         // what of them is in sight at 1600 x 900

// Small rows of deeper stacks show these levels.
inline constexpr std::size_t kSmallLevels = 6;

// Height of a row with this many sub-lanes, and of the slices in it; units at 100 %.
struct SubLaneSizes {
  float row = 0;
  float step = 0;  // from one sub-lane to the next
  float slice = 0;
};
[[nodiscard]] SubLaneSizes sub_lane_sizes(std::size_t lanes, RowSize size = RowSize::normal) noexcept;

// The choices after the row has been moved before another one that belongs to the same, or to the end if that one's
// key is empty. Keys that are no such rows change nothing.
[[nodiscard]] RowChoices with_row_moved(RowChoices choices, const std::vector<TimelineRow>& rows, std::string_view key,
                                        std::string_view before);
// One place up (-1) or down (1).
[[nodiscard]] RowChoices with_row_stepped(RowChoices choices, const std::vector<TimelineRow>& rows,
                                          std::string_view key, int step);

// The order that the user gave rows, and how the counters of a group share rows and scales. Used by compose_rows().

using RowBlock = std::vector<TimelineRow>;  // a row with those below it

// Puts blocks that belong to the group or track into the order that the user gave them. Those that he has not moved
// stay behind the one that they follow by default.
void put_in_order(const RowChoices& choices, const std::string& parent, std::vector<RowBlock>& blocks);

// Units at 100 %. Counters that share a row, and memory pools, have a legend beside them and are higher.
[[nodiscard]] float counter_height(RowSize row_size) noexcept;
[[nodiscard]] float shared_plot_height(RowSize row_size) noexcept;

// A row for each of a group's derived counters, those of engines and streams below their device's.
inline constexpr std::string_view kDerivedMark = " (derived)";
[[nodiscard]] std::string derived_label(const analysis::DerivedCounter& counter);
[[nodiscard]] std::vector<RowBlock> derived_rows(const DerivedCounters& counters, const std::string& group,
                                                 const RowChoices& choices,
                                                 const std::function<bool(std::string_view label)>& matches);

// `rows` are those of the group. Counters are only put together with others of their unit.
void arrange_counters(const std::string& group, const RowChoices& choices, std::vector<TimelineRow>& rows);

}  // namespace accelscope::app::rows
