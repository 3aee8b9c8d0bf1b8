// Counters that no source recorded, out of its events: how busy each engine, stream and device is over time, how much
// of its peak a device reaches (MFU), how much launched work waits for it and for how long. Which there are follows
// from the tracks; values are added up for a range in equal stretches, from the lanes' trees, so the cost follows the
// stretches and not the events.
//
//   for (const DerivedCounter& counter : derived_counters(snapshot)) ...
//   auto work = leaf_work(query, nullptr);                         // of mfu only
//   auto values = derived_values(query, counter, {.work = work.get()}, {begin_ns, end_ns}, 400);   // one a stretch
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

// How much launched work waited for its device over time: the depth of its queue and how long what began had waited.
// A launch waits from the begin of the call that launched it to the begin of its work; of a session whose two clocks do
// not agree, work that begins before its launch counts as not having waited.

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

struct DerivedCounter {
  enum class Kind : std::uint8_t { utilisation, mfu, queue_depth, launch_latency };
  enum class Join : std::uint8_t { mean, highest };  // of several tracks

  Kind kind = Kind::utilisation;
  std::string key;           // "derived:nc0:Tensor"; stable between sessions
  std::string parent;        // key of the device's counter; empty: it stands by itself
  std::string name;          // "Tensor utilisation"
  std::string host, device;  // of its tracks
  std::string formula;       // in words, for the user
  std::vector<LaneIndices> tracks;
  Join join = Join::mean;
  double peak = 0;         // mfu: flop/s
  std::size_t number = 0;  // of the device, as TrackDevices has it

  [[nodiscard]] bool is_of_launches() const noexcept {
    return kind == Kind::queue_depth || kind == Kind::launch_latency;
  }
};

// By device in the order of their first tracks, a device's own first. One that its source recorded itself is left out.
[[nodiscard]] std::vector<DerivedCounter> derived_counters(const Snapshot& snapshot);

// Useful floating point operations of every leaf of the lanes that have any, added up from the lane's first leaf on.
// Reads those lanes once; a session that grew costs only what is new.
struct LeafWork {
  struct Lane {
    std::vector<double> sums;  // [leaf]: of all leaves before it
    std::uint32_t chunk_count = 0;
  };
  std::uint64_t snapshot_version = 0;
  std::vector<Lane> lanes;  // by index into Snapshot::lanes; empty for those without work
};
[[nodiscard]] Result<std::shared_ptr<const LeafWork>> leaf_work(const QueryContext& query, const LeafWork* previous);

// What counters are made of besides the lanes' trees; null: not known yet.
struct DerivedInput {
  const LeafWork* work = nullptr;          // mfu
  const LaunchQueues* launches = nullptr;  // queue_depth, launch_latency
  [[nodiscard]] bool serves(const DerivedCounter& counter) const noexcept {
    if (counter.is_of_launches()) return launches != nullptr;
    return counter.kind != DerivedCounter::Kind::mfu || work != nullptr;
  }
};

// One for each of `stretches` equal parts of the range: shares from 0 to 1 of utilisation and mfu, launches of
// queue_depth, ns of launch_latency, NaN where nothing began. What lies in a lane's nodes shorter than a quarter of a
// stretch may be counted in the neighbour. Decodes at most the leaves longer than that.
[[nodiscard]] Result<std::vector<float>> derived_values(const QueryContext& query, const DerivedCounter& counter,
                                                        const DerivedInput& input, const TimeRange& range,
                                                        std::size_t stretches);

}  // namespace accelscope::analysis
