// A host's threads in the graph. A thread is one server: at each moment its innermost call works, whatever recorded it:
// Python's frames, operators, annotations, calls of the driver. Its nodes are the stretches between the moments at
// which that changes, so a call with others inside of it has several, and one without time of its own has none.
//
// Calls that wait, or launch, are not looked into. A call that goes on until a copy that it started has ended (of
// pageable memory) works up to a point and waits for the copy from there on. Where a thread's innermost call spans what
// another thread of its process does, from its first call to its last, the one waits for the other: a backward pass,
// a pool of threads.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/analysis/critical_path/work_graph.h"

namespace accelscope::analysis {

// A thread as the graph has it, and the moments of its calls that dependencies name.
class HostWork {
 public:
  // Adds the threads' lanes and nodes to a graph that has those of all devices.
  [[nodiscard]] Result<void> add(const QueryContext& query, const Dependencies& dependencies, WorkGraph& graph);

  // What of a call comes last before a time: what it starts comes after that. kNoNode: it is no call of a thread.
  [[nodiscard]] NodeIndex last_of(const WorkGraph& graph, EventId call, std::int64_t until_ns) const;
  // What of it, or after it began, comes first: it comes after what the call waited for.
  [[nodiscard]] NodeIndex first_of(const WorkGraph& graph, EventId call) const;
  // Where a call waits for what it started, or for another thread: its nodes that wait, and the last of what ends them.
  struct Joined {
    NodeIndex target = kNoNode, source = kNoNode;
  };
  [[nodiscard]] const std::vector<Joined>& joined() const noexcept { return joined_; }
  // Calls of its row launch work, so one that waits waits for a device.
  [[nodiscard]] bool is_of_device_calls(EventId call) const { return launching_.contains(lane_of(call)); }
  // When a call that a dependency names was made; nothing of others.
  [[nodiscard]] std::optional<std::int64_t> made_ns(EventId call) const {
    const auto found = named_.find(call);
    if (found == named_.end() || found->second.graph_lane == kNone) return std::nullopt;
    return found->second.begin_ns;
  }

 private:
  friend class HostWorkBuilder;
  struct NamedCall {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint32_t graph_lane = kNone;
  };
  std::unordered_map<EventId, NamedCall> named_;  // by dependencies
  std::vector<Joined> joined_;
  std::set<LaneNumber> launching_;  // all lanes of tracks whose calls launch
};

}  // namespace accelscope::analysis
