// The scan that puts the events of a session into a tree, window by window, for a question or for an index.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/dependencies/launches.h"
#include "core/analysis/hierarchy/path_worker.h"
#include "core/analysis/time/track_devices.h"

namespace accelscope::analysis {

// What of a session is in a tree of one kind.
struct PathSubject {
  PathSubject(const Snapshot& snapshot, const PathKind& kind,
              std::shared_ptr<const BorrowedPaths> borrowed = std::make_shared<const BorrowedPaths>());
  // With the paths that work borrows; `known`: of the same snapshot and kind, null: they are found here.
  [[nodiscard]] static Result<PathSubject> find(const QueryContext& query, const PathKind& kind,
                                                const std::shared_ptr<const BorrowedPaths>& known);

  const PathKind& kind;
  WorkKinds works;
  TrackDevices devices;
  std::shared_ptr<const BorrowedPaths> borrowed;
  LaneIndices lanes;    // whose events have such paths, or borrow them
  LaneIndices scanned;  // and what else is on the same threads: it says whether a call works or waits
  HierarchyUnits units;
  std::vector<std::uint64_t> device_bits;  // by lane: NodeTotals::devices
  FunctionNames functions;                 // of PathSplit::function

  // Of a range, to that depth.
  [[nodiscard]] PathPlan plan(const QueryContext& query, const TimeRange& range, std::size_t depth,
                              PathTree& tree) const {
    return {.query = query,
            .works = works,
            .units = units,
            .kind = kind,
            .range = range,
            .depth = depth,
            .device_bits = device_bits,
            .tree = tree,
            .functions = &functions,
            .borrowed = borrowed.get()};
  }
};

inline constexpr std::size_t kDeviceBits = 63;  // the last bit stands for all further devices

struct PathScan {
  const QueryContext& query;
  const PathSubject& subject;
  const PathPlan& plan;
  const std::vector<HostLaunch>& launches;  // by source
  // Called for every window, by several threads at once.
  std::function<void(WindowPart&& part)> add;
  std::uint64_t window_events = kWindowEvents;
};

// Of a stretch. `first`: what began before it is met here, too; else another stretch has it.
[[nodiscard]] Result<void> scan_paths(const PathScan& scan, const TimeRange& stretch, bool first);

// What the calls of a host launched, by source; none for kinds that are not of calls.
[[nodiscard]] Result<std::vector<HostLaunch>> launches_of(const QueryContext& query, const PathSubject& subject,
                                                          const std::vector<HostLaunch>* known);

}  // namespace accelscope::analysis
