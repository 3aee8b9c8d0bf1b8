// How much launched work waited for its device over time: the depth of its queue and how long what began had waited.
// A launch waits from the begin of the call that launched it to the begin of its work; of a session whose two clocks do
// not agree, work that begins before its launch counts as not having waited.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

// Of one device. Times ascend; sums[i] are those of all before i, modulo 2^64: the differences of two are exact.
class LaunchQueue {
 public:
  LaunchQueue() = default;
  // launched and begun: of each launch, in any order.
  explicit LaunchQueue(std::vector<std::pair<std::int64_t, std::int64_t>> launched_begun);

  // For each of the equal stretches of the range: how many launches waited, the mean over the stretch.
  void add_depth(const TimeRange& range, std::span<double> stretches) const;
  // The mean wait in ns of what began in the stretch; NaN where nothing did.
  void add_latency(const TimeRange& range, std::span<double> stretches) const;
  [[nodiscard]] std::size_t size() const noexcept { return begun_.size(); }

 private:
  std::vector<std::int64_t> launched_, begun_;
  std::vector<std::uint64_t> launched_sums_, begun_sums_;
  std::vector<std::uint64_t> wait_sums_;  // in the order of begun_
};

struct LaunchQueues {
  std::uint64_t snapshot_version = 0;
  std::vector<LaunchQueue> devices;  // as TrackDevices numbers them
};
[[nodiscard]] Result<std::shared_ptr<const LaunchQueues>> launch_queues(const QueryContext& query,
                                                                        const Dependencies* known = nullptr);

}  // namespace accelscope
