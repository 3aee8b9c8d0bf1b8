// The walk back from the end of a range, over recorded times or over those of a replay.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/analysis/critical_path/critical_path.h"

namespace accelscope::analysis {

// The event that ended last, not after a time; of equal ones the smallest.
inline NodeIndex last_ended_before(const WorkGraph& graph, const std::vector<std::int64_t>& ends, std::int64_t until,
                                   std::int64_t after) {
  NodeIndex last = kNoNode;
  for (const GraphLane& lane : graph.lanes) {
    const auto begin = ends.begin() + lane.first;
    auto at = std::upper_bound(begin, begin + lane.count, until);
    if (at == begin || *(at - 1) <= after) continue;
    const auto node = static_cast<NodeIndex>(at - 1 - ends.begin());
    if (last == kNoNode || ends[node] > ends[last]) last = node;
  }
  return last;
}

// Of the events that go on over a time, and do not wait, the one that began last.
inline NodeIndex begun_last(const WorkGraph& graph, const std::vector<std::int64_t>& begins,
                            const std::vector<std::int64_t>& ends, std::int64_t time) {
  NodeIndex last = kNoNode;
  for (const GraphLane& lane : graph.lanes) {
    const auto begin = begins.begin() + lane.first;
    auto at = std::lower_bound(begin, begin + lane.count, time);
    if (at == begin) continue;
    const auto node = static_cast<NodeIndex>(at - 1 - begins.begin());
    if (ends[node] <= time || graph.waits[node] != 0) continue;
    if (last == kNoNode || begins[node] > begins[last]) last = node;
  }
  return last;
}

// Times: begins(), ends(), begin_hold(node), end_hold(node).
template <typename Times>
class PathWalk {
 public:
  PathWalk(const WorkGraph& graph, const Times& times, const TimeRange& range)
      : graph_(graph), times_(times), at_(range.end_ns) {
    path_.range = range;
  }

  // From what was under way last, or from an event that was.
  CriticalPath run(NodeIndex from = kNoNode) {
    if (path_.range.empty()) return std::move(path_);
    if (from == kNoNode) from = begun_last(graph_, times_.begins(), times_.ends(), at_);
    if (from != kNoNode) {
      leave_event(from);
    } else {
      find_earlier(kNoNode);
    }
    // Over times that contradict their edges a walk may go in a circle: it ends, and the rest is a gap.
    std::size_t steps = 0;
    const std::size_t most_steps = 4 * graph_.count() + 64;
    while (node_ != kNoNode && at_ > path_.range.begin_ns && ++steps < most_steps) {
      if (at_end_ && graph_.waits[node_] != 0) {
        leave_wait();
      } else {
        leave_event();
      }
    }
    add_gap(path_.range.begin_ns, kNoNode, WaitReason::unknown);
    std::reverse(path_.segments.begin(), path_.segments.end());
    count_events();
    return std::move(path_);
  }

 private:
  void count_events() {
    struct Met {
      LanePositions positions;
      std::vector<bool> events;
    };
    std::unordered_map<LaneNumber, Met> met;
    for (const PathSegment& segment : path_.segments) {
      if (segment.is_gap) continue;
      const EventId event = graph_.event(segment.node);
      auto of_lane = met.find(lane_of(event));
      if (of_lane == met.end()) {
        const LaneSnapshot& lane = *graph_.snapshot->find_lane(lane_of(event));
        of_lane = met.emplace(lane_of(event), Met{LanePositions(lane), std::vector<bool>(lane.event_count)}).first;
      }
      Met& lane = of_lane->second;
      const std::uint64_t position = lane.positions.of_ordinal(ordinal_of(event));
      if (position >= lane.events.size() || lane.events[position]) continue;
      lane.events[position] = true;
      ++path_.event_count;
    }
  }
  void add(std::int64_t from, NodeIndex node, bool is_gap, WaitReason reason) {
    from = std::max(from, path_.range.begin_ns);
    if (from >= at_) return;
    if (is_gap) path_.gap_ns += at_ - from;
    path_.segments.push_back({from, at_, node, is_gap, reason});
    at_ = from;
  }
  void add_gap(std::int64_t from, NodeIndex waiting, WaitReason reason) { add(from, waiting, true, reason); }

  void go_to(NodeIndex node, bool at_end) {
    node_ = node;
    at_end_ = at_end;
  }

  // Nothing is known to come before: what ended last before.
  void find_earlier(NodeIndex waiting) {
    NodeIndex earlier = last_ended_before(graph_, times_.ends(), at_, path_.range.begin_ns);
    // What takes no time may have ended as the other began without coming before it.
    if (earlier != kNoNode && waiting != kNoNode && times_.begins()[earlier] >= times_.begins()[waiting]) {
      earlier = last_ended_before(graph_, times_.ends(), at_ - 1, path_.range.begin_ns);
    }
    if (earlier == kNoNode) return go_to(kNoNode, true);
    add_gap(times_.ends()[earlier], waiting, WaitReason::unknown);
    go_to(earlier, true);
  }

  // A wait lasts until what ended it: from there the path goes on with that.
  void leave_wait() {
    const Hold hold = times_.end_hold(node_);
    const bool held_already = hold.source == kNoNode && !graph_.edges_of(node_).empty();
    if (hold.source == kNoNode) {
      const std::int64_t from = times_.begins()[node_];
      add(from, node_, !held_already, wait_reason(graph_, node_, hold));
      at_end_ = false;
      return leave_begin();
    }
    add_gap(hold.since_ns, node_, wait_reason(graph_, node_, hold));
    go_to(hold.source, !hold.from_begin);
  }

  void leave_event() {
    add(times_.begins()[node_], node_, false, WaitReason::unknown);
    leave_begin();
  }
  void leave_event(NodeIndex node) {
    go_to(node, true);
    leave_event();
  }

  void leave_begin() {
    const NodeIndex node = node_;
    const Hold hold = times_.begin_hold(node);
    if (hold.source == kNoNode) return find_earlier(node);
    if (hold.from_begin) {
      // It was under way since it began, so the time up to here is its own.
      add(hold.since_ns, hold.source, false, WaitReason::unknown);
      return go_to(hold.source, false);
    }
    add_gap(hold.since_ns, node, wait_reason(graph_, node, hold));
    go_to(hold.source, true);
  }

  const WorkGraph& graph_;
  const Times times_;
  CriticalPath path_;
  std::int64_t at_ = 0;
  NodeIndex node_ = kNoNode;
  bool at_end_ = true;  // else at the begin of node_
};

}  // namespace accelscope::analysis
