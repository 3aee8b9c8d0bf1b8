// What the few words mean by which every view speaks of a session: each is defined here once, has its entry in the
// glossary (terminology.h) under the same name, and is made here alone. Status bar, lists, verdict, comparison, report,
// SQL and MCP ask here, so that a number under one of these words is the same wherever it stands.
//
//   total    session_time          from the first event to the end of the last
//   work     work_time             from the first to the last work of the devices, see find_active_stretch()
//   span     span_time             what shares of a session are of, see SessionTerms::span
//   active   active_time           of the total: at least one device works (range_activity.h), each moment once
//   idle     idle_time             the total less the active time
//   events   session_event_count   of all tracks, count_passing(); rows of tables without times are none
//   stated   stated_total_time     what the maker of the device publishes as the time of the run, where its file does
//   devices  session_devices()     those that work; one that is made of others counts in place of its parts
//
// A wait is an event, or the part of one, that wait_names.h and its own wait column tell apart from work: it is never
// active. "Bound" is what the verdict (verdict.h) says of the whole session; a critical path and a roofline say what
// they are mostly made of and use other words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"

namespace accelscope::analysis {

namespace terms {
inline constexpr std::string_view kTotal = "session_time";
inline constexpr std::string_view kWork = "work_time";
inline constexpr std::string_view kSpan = "span_time";
inline constexpr std::string_view kActive = "active_time";
inline constexpr std::string_view kIdle = "idle_time";
inline constexpr std::string_view kEvents = "session_event_count";
inline constexpr std::string_view kStated = "stated_total_time";
// The maker's own name of what is stated, as a figure of a device.
inline constexpr std::string_view kVendorTotal = "total_time";
}  // namespace terms

struct SessionTerms {
  TimeRange session;              // the total
  std::optional<TimeRange> work;  // nothing where neither a device nor a host works
  // The work of the devices with their copies; where they are fed by a host that worked for more than twice as long,
  // its time too: a few kernels at the end of a long run leave the device idle for all of it. Empty without work.
  TimeRange span{0, 0};
  std::uint64_t events = 0;
  std::optional<double> stated_total_ns;
};

// Of the whole session, whatever mask the query has. Reads indexes, and a few chunks of each lane.
[[nodiscard]] Result<SessionTerms> session_terms(const QueryContext& query);

// For whoever knows the work already.
[[nodiscard]] TimeRange span_of(const Snapshot& snapshot, const WorkKinds& kinds, const TimeRange& work);

// By their places in `devices`: those that have done any work; where none has, those that could; else all that tracks
// name.
[[nodiscard]] std::vector<std::size_t> session_devices(const Snapshot& snapshot, const TrackDevices& devices);

// Of a file that says what would run, not what has run.
[[nodiscard]] bool is_program_alone(const Snapshot& snapshot);

// "GPU" of "GPU 0", "trn1 GPU 0" and "rank 3 GPU 0"; other devices by their own names.
[[nodiscard]] std::string kind_of_device(const std::string& label);
// "2 GPUs", "4 devices"; of a single one its label; "" of none.
[[nodiscard]] std::string name_of_devices(const std::vector<std::string>& labels);

}  // namespace accelscope::analysis
