// Where a session of any source does its work: what a first view shows and what a range like "the active part" means.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/time/track_devices.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

// From the first to the last event that is work. Programs, tables and constants are loaded long before it, and real
// runs idle for 99 % of their time in between; so engines, streams and collectives say where the work is, DMA alone
// only where there is nothing else, and tracks of any kind where there is neither. Nothing if there is no work at all.
[[nodiscard]] Result<std::optional<TimeRange>> find_active_stretch(const QueryContext& query);

// Where a look at a session begins, and where the work is that a user may fit the view to.
struct FirstLook {
  std::optional<TimeRange> active;  // as find_active_stretch() has it
  std::optional<TimeRange> shown;   // what a first view shows; nothing if nothing was recorded
};
// All work of the devices, copies and collectives included. Where that is a few hits in a session of other work, which
// would be blown up to nothing, or so little of its own stretch that no pixel would show it, all work of hosts and
// devices; where that is a few hits too, all that was recorded. Of hosts that lie so far apart that most of it were the
// time between them, the first of them whose work is not much shorter than that of another.
[[nodiscard]] Result<FirstLook> find_first_look(const QueryContext& query);

// From the first to the last event, without what a capture or a profiler tells of itself: a pause is no record. All of
// the session where there is nothing else.
[[nodiscard]] TimeRange recorded_stretch(const Snapshot& snapshot);

// Where a session does its work. Real runs idle for most of their time before the work begins, so a view that fits
// the activity spares the user a search.

// What counts as work.
struct ActivityRule {
  std::span<const std::string_view> track_kinds;  // empty: every track of slices
  std::span<const std::string_view> setup_names;  // events that prepare and order, but do not work
};

// From the begin of the first to the end of the last event that neither waits nor only sets up; nothing if there
// is none. Decodes a few chunks of each lane.
[[nodiscard]] Result<std::optional<TimeRange>> active_stretch(const QueryContext& query, const ActivityRule& rule);

// A session of several hosts as the sessions that each of them alone would be, so that what is told of one host is told
// whatever else was recorded. Hosts whose devices are ranks of one job work together: they stay one part.
//
//   for (const SessionPart& part : session_parts(query.snapshot)) ... QueryContext alone = part_of(query, part);
struct SessionPart {
  std::string host;  // "": the session is one part
  // With the session's tracks and lanes at their places; lanes of the other hosts hold nothing.
  std::shared_ptr<const Snapshot> snapshot;
};

// At least one, in the order of their names; the snapshot itself where it is the only one. What belongs to no host of a
// device is in every part.
[[nodiscard]] std::vector<SessionPart> session_parts(const std::shared_ptr<const Snapshot>& snapshot);

// By device: the part that its host is; nothing where its host has no devices that work.
[[nodiscard]] std::vector<std::optional<std::size_t>> part_numbers(const std::vector<SessionPart>& parts,
                                                                   const TrackDevices& devices);

// By device: the time in which its host took part.
[[nodiscard]] std::vector<TimeRange> times_of_devices(const std::shared_ptr<const Snapshot>& snapshot,
                                                      const TrackDevices& devices);

[[nodiscard]] QueryContext part_of(const QueryContext& query, const SessionPart& part);

}  // namespace accelscope::analysis
