// Events into a tree by the events that they lie in: calls of a host's threads, zones of a device's tracks.
#pragma once

#include <unordered_map>

#include "core/analysis/dependencies/launches.h"
#include "core/analysis/hierarchy/path_worker.h"
#include "core/scan/event_mask.h"

namespace accelscope {

class NestedPaths {
 public:
  // `launches` by source. `passing`: the events that are counted, null: all. The chunks must have no mask, as the
  // others still lie within and around.
  NestedPaths(const PathPlan& plan, const std::vector<HostLaunch>& launches, const EventMask* passing)
      : worker_(plan), launches_(launches), passing_(passing) {}
  void add(const ScannedChunk& chunk, const ScanWindow& window);
  [[nodiscard]] WindowPart close(const ScanWindow& window);
  [[nodiscard]] PathWorker& worker() noexcept { return worker_; }

 private:
  struct Call {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::int64_t rank = 0;
    EventId id = kNoEvent;
    StringId name = 0;
    std::uint32_t lane = 0;
    std::uint32_t launch = 0, launch_count = 0;  // in launches_
    std::uint64_t bytes = 0;
    bool waits = false, counts = true, owned = true;
  };
  struct Open {
    const Call* call = nullptr;
    std::uint32_t node = 0;
    std::uint32_t counted = 0;  // the node of the innermost call from here on out that counts; 0: none does
  };
  struct Known {
    bool waits = false, marks = false;
  };
  [[nodiscard]] const Known& known_of(StringId name);
  [[nodiscard]] Open enter(const Call& call, const Open* outer);
  void add_launches(const Call& call, std::uint32_t node, std::uint32_t slot);

  PathWorker worker_;
  const std::vector<HostLaunch>& launches_;
  const EventMask* passing_;
  std::unordered_map<std::uint64_t, std::vector<Call>> stacks_;  // by thread, or by track of a device
  std::unordered_map<StringId, Known> known_;
};

}  // namespace accelscope
