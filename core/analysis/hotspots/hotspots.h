// Kernels and operations of the devices by total time: how often, how long, moving how much, waiting how long, and with
// what they were launched: the columns that a source keeps in the group "Launch" (grid, block, registers, shared
// memory, occupancy, work sizes), whatever it calls them.
//
// An event takes part when it shares time with the range and passes the query's mask; it is measured as a whole, as in
// core/analysis/statistics. What only tells of others' work, and transfers whose packets are recorded too, take none.
// Where nothing of a device was recorded, sampled functions of a host's threads stand in their place. Events that are
// waiting (Schema::wait_names) are counted apart. Bytes and waits below 0 count as nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/peaks/peaks.h"
#include "core/analysis/time/work_kind.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

// A column of launches, of all tables that have it under one name.
struct LaunchColumn {
  std::string name, title, unit, explanation;
  bool numeric = false;
};

// What the events of a kernel have in such a column.
struct LaunchValue {
  std::uint64_t count = 0;  // events with a value
  double sum = 0, min = 0, max = 0;
  std::string first;    // of texts, of the kernel's first event that has one
  bool varies = false;  // texts differ
};

struct Hotspot {
  StringId name = 0;
  WorkKind work = WorkKind::compute;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0, min_ns = 0, max_ns = 0;
  std::int64_t wait_ns = 0;  // that they waited before they began (Role::wait_ns), while their lanes were free
  bool has_wait = false;
  std::uint64_t bytes = 0;
  double flops = 0;
  std::int64_t flops_ns = 0;   // of the events that say so
  std::string precision;       // that they compute in; "": not known, or several
  std::optional<double> peak;  // FLOP/s of their device in it
  std::string work_from;       // what operations and bytes rest on, of the first that says so
  EventId longest = kNoEvent;
  std::vector<TrackNumber> tracks;  // sorted
  std::vector<LaunchValue> launch;  // as HotspotList::columns
};

struct HotspotList {
  static constexpr std::size_t kMost = 65'536;
  std::vector<LaunchColumn> columns;  // that any event has a value in
  std::vector<Hotspot> rows;          // largest total first; of one name on engines and on queues two
  std::int64_t total_ns = 0;          // of all
  std::int64_t waiting_ns = 0;        // of events that are waiting
  std::uint64_t left_out = 0;         // rows of the least total beyond kMost
};

[[nodiscard]] Result<HotspotList> find_hotspots(const QueryContext& query, const TimeRange& range,
                                                const PeakEdits& edits = {});

}  // namespace accelscope::analysis
