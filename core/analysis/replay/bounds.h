// What bounds a range, and which of its gaps costs most. The range's critical path is put down to six bounds, and what
// nothing recorded explains to none of them; they add up to the range exactly.
//
//   memory      transfers, and waiting for them or for their queue
//   compute     work of engines, cores and streams
//   issue       the time that an instruction takes to follow another
//   dependency  waiting for a semaphore or for a result
//   host        what the host does, and waiting for it
//   imbalance   collectives, and waiting for who comes to them last
//
// The ideal of a bound is how long the range's work would take at least if nothing else bound it:
//   memory      bytes / peak, of the memory or mover where that is longest
//   compute     operations / peak
//   issue       the busiest engine's own time, a union
//   dependency  the events of the path without their gaps
//   host        the busiest host thread's own time, a union
//   imbalance   the mean of the engines' own times
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/critical_path/critical_path.h"
#include "core/analysis/peaks/peaks.h"

namespace accelscope::analysis {

// All stretches in which a device has nothing to do, with what the host did meanwhile and what ended them. Of one
// device they lie apart, and with the time in which it works they add up to the range.
//
//   for (const WorkGap& gap : device_gaps(graph, range)) ...
struct WorkGap {
  std::size_t device = 0;  // of TrackDevices
  TimeRange range;
  NodeIndex before = kNoNode;  // what ended last before it; kNoNode: nothing, it is the first
  NodeIndex after = kNoNode;   // what ended it; kNoNode: the range did
  NodeIndex launch = kNoNode;  // the host's that started this; kNoNode: none is known
  // The call that held the launch up for longest, its own or another thread's; kNoNode: none is recorded for most of
  // it.
  NodeIndex host = kNoNode;
  std::int64_t host_ns = 0;   // in it, and in others of its name
  bool host_on_path = false;  // it held the launch up as far as the graph tells; else it is only known to have worked
  [[nodiscard]] std::int64_t length_ns() const noexcept { return range.length_ns(); }
};

// By device, then by time. A gap that the range ends is put down to what the thread did that launched before.
[[nodiscard]] std::vector<WorkGap> device_gaps(const WorkGraph& graph, const TimeRange& range);

// What held up the launch that ended a gap, back to its begin: a partition of the time up to there.
[[nodiscard]] CriticalPath gap_path(const WorkGraph& graph, const WorkGap& gap);

enum class PathBound : std::uint8_t { memory, compute, issue, dependency, host, imbalance, unknown };
inline constexpr std::size_t kPathBounds = 7;
[[nodiscard]] std::string_view path_bound_name(PathBound bound) noexcept;
[[nodiscard]] PathBound bound_of(const WorkGraph& graph, const PathSegment& segment) noexcept;

struct BoundFigure {
  PathBound bound = PathBound::unknown;
  std::int64_t path_ns = 0;
  std::optional<double> ideal_ns;  // missing where the session does not carry what it takes
  std::string rests_on;            // "HBM at 820 GB/s"; why the ideal is not known
};
// The longest first, the unknown last.
[[nodiscard]] Result<std::vector<BoundFigure>> bounds_of_path(const QueryContext& query, const WorkGraph& graph,
                                                              const CriticalPath& path, const PeakEdits& edits);
// "Most of the critical path: memory, 66.8 %"; says so where most of it is unknown, and of a host what that does not
// mean.
[[nodiscard]] std::string bounds_text(const std::vector<BoundFigure>& bounds);
// The same of a path alone; "" where it is empty. What bounds the session is the verdict's word.
[[nodiscard]] std::string path_most_text(const WorkGraph& graph, const CriticalPath& path);

// Gaps of one cause, of events of one name and line.
struct PathGap {
  WaitReason reason = WaitReason::unknown;
  StringId name = 0, location = kNone;  // of what waited; kNone: it has no line
  NodeIndex longest = kNoNode;          // of what waited
  std::uint64_t count = 0;
  std::int64_t gap_ns = 0;
  std::optional<std::int64_t> saving_ns;  // of the range's total, by a replay; missing beyond kMostReplayed
};
inline constexpr std::size_t kMostReplayed = 24;
inline constexpr std::size_t kReplayedNodes = 20'000'000;                 // of all replays together
[[nodiscard]] std::size_t most_replays(const WorkGraph& graph) noexcept;  // within both, and at least one
// Those that save most first, then those of which it is not known, the longest first.
[[nodiscard]] Result<std::vector<PathGap>> path_gaps(const QueryContext& query, const WorkGraph& graph,
                                                     const CriticalPath& path);

// Of the graph's total, if the gap and what held it up were not: the calls that did take no time there, and what comes
// after begins at once.
[[nodiscard]] Result<std::int64_t> saving_without_gap(const QueryContext& query, const WorkGraph& graph,
                                                      const WorkGap& gap);

}  // namespace accelscope::analysis
