// What a box, a set of events or the whole session holds: how many events, their time, bytes and FLOPs, by name, by
// source line, by layer and by track, and histograms of transfer sizes and durations.
//
//   const auto summary = selection_summary(query, filter, index.get());
//
// Whole parts of lanes come from the SummaryIndex, only the edges of the range are decoded: what lies inside of them,
// or what lies outside, which is then taken off, whichever is less. Without an index, and where the query has a mask
// (the filter's terms), every event of the range is looked at. Events are clipped to the range: one cut by an edge
// counts as one, its bytes and FLOPs in proportion to the time inside, as in metrics.h. In the histograms it stands by
// its whole size and duration. Lanes of counters, flows and tables take no part.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/selection/summary_index.h"
#include "core/analysis/source/host_calls.h"
#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/work_kind.h"
#include "core/model/event_filter.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

struct SummaryRow {
  std::string text;  // a name, "file.py:33", a layer's path
  std::string kind;  // of names: what they are to their vendor: "opcode", "variable", or the table they come from
  std::uint64_t count = 0;
  // Clipped; of names that wait: what they waited. Of a host's calls it holds the calls within them: range_activity.h
  // has their self time.
  std::int64_t busy_ns = 0;
  std::uint64_t bytes = 0;         // of names and lines
  std::uint64_t flops = 0;         // of layers
  WorkKind work = WorkKind::none;  // of names: what their tracks are
  bool waits = false;              // of names: they mean waiting
  bool repeats = false;            // of names: other rows have the same time in more detail (WorkKinds::covers_time)
};

struct SummaryRows {
  static constexpr std::size_t kMost = 4096;
  std::vector<SummaryRow> rows;  // longest time first; at most kMost
  std::uint64_t distinct = 0;    // how many there are
};

struct SummaryBin {
  std::uint64_t begin = 0;  // in bytes or ns; the bin holds what is at least this
  std::uint64_t end = 0;    // and below this
  std::uint64_t count = 0;
  std::int64_t busy_ns = 0;
  std::uint64_t bytes = 0;  // of sizes
};

struct SummaryTrack {
  TrackNumber track = 0;
  std::uint64_t count = 0;
  std::int64_t busy_ns = 0;  // over its lanes; where they are levels of a stack, of the outermost
  std::int64_t wait_ns = 0;
  std::uint64_t bytes = 0;
};

struct SelectionSummary {
  EventFilter filter;
  std::uint64_t snapshot_version = 0;
  TimeRange range;  // the filter's, no further than the session's events go
  std::uint64_t event_count = 0;
  std::int64_t busy_ns = 0;    // sum over the lanes, but for those of a host, whose calls lie within each other
  std::int64_t wait_ns = 0;    // of events whose names mean waiting
  std::int64_t waited_ns = 0;  // before the others began
  std::uint64_t bytes = 0;
  std::uint64_t flops = 0;
  SummaryRows names, lines, layers;          // a name that is of two kinds has two rows
  std::vector<SummaryTrack> tracks;          // those with events, as in the snapshot
  std::vector<SummaryBin> sizes, durations;  // those with events, smallest first
  std::uint64_t decoded_chunks = 0;
  bool scanned = false;  // every event was looked at, not the index
};

// Tracks that only tell about others' work (layers, throttling, semaphores, errors, a program's annotations ...) and
// allocations, which last but do not work, count in event_count and `tracks`; their time, bytes and FLOPs are in no
// sum, unless the filter names nothing but such tracks. Rejects nothing: the filter's terms are met by the query's
// mask.
[[nodiscard]] Result<std::shared_ptr<const SelectionSummary>> selection_summary(const QueryContext& query,
                                                                                const EventFilter& filter,
                                                                                const SummaryIndex* index = nullptr);

// Lines whose events lie within each other, with their self time instead; the longest first.
[[nodiscard]] std::vector<SummaryRow> with_self_times(std::vector<SummaryRow> lines, const SelfTimes& own,
                                                      const StringPool& strings);

// What transfers moved, each byte once: without fills, and without rows that say the same again.
[[nodiscard]] std::uint64_t copied_bytes(const Snapshot& snapshot, const WorkKinds& kinds,
                                         const SelectionSummary& summary);

// The lanes whose time is in the sums: without commentary, unless the filter names nothing else.
[[nodiscard]] LaneIndices working_lanes(const Snapshot& snapshot, const EventFilter& filter);

// How long the devices of a session were active: the one meaning of the word in figures, panels and reports.
//
// Active is each moment in which at least one event of device work is under way; it counts once, however many lanes
// work side by side. Device work are the slices of engines, streams, DMA queues and collectives, of all devices
// together. Not work are: events whose names only wait (Schema::wait_names); rows that say the same time again, such as
// transfers beside the packets that they consist of; layers, throttling, tables, host threads. Neuron's
// total_active_time is the same for one logical core, and agrees with the vendor's within 0.1 % on real files.
//
// The sum of busy times counts lanes that work side by side several times, this counts each moment once: RangeActivity
// (core/analysis/figures/range_activity.h) does, over the lanes that are named here.

// The filter's lanes of device work. Where it names none (a session of a host, a selection of host threads), those
// whose time selection_summary() adds up.
[[nodiscard]] LaneIndices active_lanes(const Snapshot& snapshot, const EventFilter& filter);

// The metadata of a session whose source cut begins and durations to whole ns, as Neuron's files do: a gapless stretch
// of such events then lasted half a ns longer than it reads, in the mean. On nine real files of 5 to 47 us of active
// time the sum is off by up to 0.67 % without it and 0.09 % with it.
inline constexpr const char* kCutTimesFact = "source.times_cut_to_ns";
[[nodiscard]] bool has_cut_times(const Snapshot& snapshot) noexcept;
// What covered time reads as, given that.
[[nodiscard]] std::int64_t active_ns(const CoveredTime& covered, bool cut_times) noexcept;

}  // namespace accelscope::analysis
