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
#include <string>
#include <vector>

#include "core/analysis/figures/launch_queues.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

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

}  // namespace accelscope
