// What the host did while a device had nothing to do. Every gap has one cause, so that gaps add up: the data loader,
// where the host is in it for half of the gap or more; a synchronising call, where the gap begins within one that ends
// before the gap does, so that nothing was queued; else launching.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/advice/device_sums.h"
#include "core/analysis/advice/words.h"
#include "core/scan/event_reader.h"

namespace accelscope {

struct HostSpan {
  std::int64_t begin_ns = 0, end_ns = 0;
  StringId name = 0;
  EventId event = kNoEvent;
};

// Calls of a host's threads that mean something to a device, by begin; at most kMost of a kind.
struct HostSpans {
  static constexpr std::size_t kMost = 2'000'000;
  std::vector<HostSpan> loading, synchronising;
};
// Those of each source that recorded a host, by its scope: the devices of a rank wait for their own host, not for
// another rank's.
struct HostsBySource {
  std::map<std::uint32_t, HostSpans> by_scope;

  [[nodiscard]] bool has_host() const noexcept { return !by_scope.empty(); }
  // The hosts that a device's gaps are put down to: those of its tracks' sources; where none of these recorded a host,
  // all there are.
  [[nodiscard]] std::vector<std::uint32_t> scopes_of(const DeviceSum& device) const;
};
// In the range, whatever the query's mask lets through: they explain what the devices do.
[[nodiscard]] Result<HostsBySource> hosts_by_source(const QueryContext& query, const TimeRange& range);

enum class IdleCause : std::uint8_t { launching, loading, synchronising };
struct IdleGap {
  DeviceGap gap;
  IdleCause cause = IdleCause::launching;
  HostSpan call;               // of the two others
  std::int64_t shared_ns = 0;  // of the gap and the call
};
// The call that the hosts of some scopes were in at the middle of a gap: of those that share half of it or more the
// shortest, which says most. Nothing where there is none, or where a chunk cannot be read.
class HostWatch {
 public:
  HostWatch(const QueryContext& query, const std::vector<std::uint32_t>& scopes);
  [[nodiscard]] std::optional<HostSpan> at(const TimeRange& gap);

 private:
  static constexpr std::size_t kMostLanes = 96;
  EventReader reader_;
  LaneIndices lanes_;
};
// Of gaps by time that lie apart; where several calls explain one, the call that began last. Fails only when cancelled.
[[nodiscard]] Result<std::vector<IdleGap>> idle_causes(const std::vector<DeviceGap>& gaps,
                                                       const std::vector<const HostSpans*>& hosts,
                                                       const TaskControl& control);

}  // namespace accelscope
