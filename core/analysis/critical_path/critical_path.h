// What a session's time was spent on: backwards from its end, each time to what the event had to come after, to its
// begin. The path is a partition of the range: its segments touch, and their lengths add up to the range exactly.
//
//   const CriticalPath path = find_critical_path(graph, {graph.begin_of_all_ns, graph.end_of_all_ns});
//   for (const PathShare& share : path_shares(graph, path, PathBy::resource)) ...
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/critical_path/waits.h"
#include "core/analysis/critical_path/work_graph.h"

namespace accelscope::analysis {

struct PathSegment {
  std::int64_t begin_ns = 0, end_ns = 0;
  // The event that was under way, or, where nothing of the path was, the one that waited; kNoNode: before the first
  // event, after the last or between two that nothing joins.
  NodeIndex node = kNoNode;
  bool is_gap = false;
  WaitReason reason = WaitReason::unknown;  // of a gap
  [[nodiscard]] std::int64_t length_ns() const noexcept { return end_ns - begin_ns; }
};

struct CriticalPath {
  TimeRange range;
  std::vector<PathSegment> segments;  // by time; none is empty
  std::uint64_t event_count = 0;      // different events on it
  std::int64_t gap_ns = 0;
};

[[nodiscard]] CriticalPath find_critical_path(const WorkGraph& graph, const TimeRange& range);
// The same of one event: what it was held up by, from the end of the range back, in which it begins or goes on.
[[nodiscard]] CriticalPath find_path_to(const WorkGraph& graph, NodeIndex node, const TimeRange& range);

// What a path is looked for in where nobody says: from the first work on, so that what a device idles before it does
// not hide the rest; with the host's calls in the graph from their first on. A range is clipped to what the graph has.
[[nodiscard]] Result<TimeRange> path_range(const QueryContext& query, const WorkGraph& graph,
                                           const std::optional<TimeRange>& wanted);

struct SessionPath {
  std::shared_ptr<const WorkGraph> graph;
  CriticalPath path;
};
// The graph of the session and the path of path_range().
[[nodiscard]] Result<SessionPath> session_path(const QueryContext& query, const std::optional<TimeRange>& wanted);

struct PathShare {
  std::string label;
  std::uint64_t count = 0;  // events, or gaps
  std::int64_t length_ns = 0;
  bool is_gap = false;  // a row of gaps, with their cause as its label
  NodeIndex first = kNoNode;
};
enum class PathBy : std::uint8_t {
  resource,  // the queue, engine, stream or thread; gaps by their cause
  line,      // of the source; gaps by their cause
  name,      // opcodes, tensors, kernels
  kind,      // DMA, engines, collectives, host
  wait,      // gaps by their cause and what waited; work by its kind
};
// The longest first. They add up to the range's length.
[[nodiscard]] std::vector<PathShare> path_shares(const WorkGraph& graph, const CriticalPath& path, PathBy by);

// By how much each event could end later without moving the end of the session, all else as it was: by node.
[[nodiscard]] Result<std::vector<std::int64_t>> event_slack(const WorkGraph& graph, const TaskControl& control);

}  // namespace accelscope::analysis
