// What the host did while a device had nothing to do. Every gap has one cause, so that gaps add up: the data loader,
// where the host is in it for half of the gap or more; so calls that free memory; a synchronising call, where the gap
// begins within one that ends before the gap does, so that nothing was queued; else launching.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/advice/device_sums.h"
#include "core/analysis/advice/words.h"
#include "core/analysis/dependencies/dependencies.h"
#include "core/scan/event_reader.h"

namespace accelscope::analysis {

struct HostSpan {
  std::int64_t begin_ns = 0, end_ns = 0;
  StringId name = 0;
  EventId event = kNoEvent;
  bool copies = false;
};

// Calls of a host's threads that mean something to a device, by begin; at most kMost of a kind.
struct HostSpans {
  static constexpr std::size_t kMost = 2'000'000;
  std::vector<HostSpan> loading, synchronising, freeing;
  std::vector<HostSpan> copying;      // calls that copy; those that wait for the copy are among synchronising too
  std::int64_t first_ns = INT64_MAX;  // of all its calls, whatever the range
  auto measures() { return std::tie(loading, synchronising, freeing, copying); }
};
// A process of a host: the scope of the source that recorded it, and its number in TrackDevices.
using HostProcess = std::pair<std::uint32_t, std::size_t>;
// Those of each process: the devices of a rank wait for their own process, not for another rank's, also where one
// source recorded many.
struct HostsByProcess {
  std::map<HostProcess, HostSpans> by_process;
  // By the device's name: those whose calls launched anything on it, as far as dependencies tell.
  std::map<std::string, std::set<HostProcess>> launching;
  // And the threads, by their tracks, whose calls launched kernels on it.
  std::map<std::string, std::set<TrackNumber>> launching_threads;

  // Whether a call is of a thread that launches kernels on the device, or of any where none is known to.
  [[nodiscard]] bool launches(const std::string& device, const Snapshot& snapshot, const HostSpan& call) const;
  [[nodiscard]] bool has_host() const noexcept { return !by_process.empty(); }
  // The processes that a device's gaps are put down to: those that launch on it; where that is not known, those of its
  // tracks' sources; where none of these recorded a host, all there are.
  [[nodiscard]] std::vector<HostProcess> processes_of(const DeviceSum& device) const;
};
// In the range, whatever the query's mask lets through: they explain what the devices do.
// dependencies: null where they are not known.
[[nodiscard]] Result<HostsByProcess> hosts_by_process(const QueryContext& query, const TimeRange& range,
                                                      const Dependencies* dependencies);

enum class IdleCause : std::uint8_t { launching, loading, synchronising, freeing };
struct IdleGap {
  DeviceGap gap;
  IdleCause cause = IdleCause::launching;
  HostSpan call;               // of the two others
  std::int64_t shared_ns = 0;  // of the gap and the call
};
// The call that some processes of a host were in at the middle of a gap: of those that share half of it or more the
// shortest, which says most. Nothing where there is none, or where a chunk cannot be read.
class HostWatch {
 public:
  HostWatch(const QueryContext& query, const std::vector<HostProcess>& processes);
  [[nodiscard]] std::optional<HostSpan> at(const TimeRange& gap);

 private:
  static constexpr std::size_t kMostLanes = 96;
  EventReader reader_;
  LaneIndices lanes_;
};
// Of gaps by time that lie apart; where several calls explain one, the call that began last, and of the two causes
// `first`. Fails only when cancelled.
[[nodiscard]] Result<std::vector<IdleGap>> idle_causes(const std::vector<DeviceGap>& gaps,
                                                       const std::vector<const HostSpans*>& hosts,
                                                       const TaskControl& control,
                                                       IdleCause first = IdleCause::loading);

}  // namespace accelscope::analysis
