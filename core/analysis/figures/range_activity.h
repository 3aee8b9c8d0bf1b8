// How a stretch of time was used: how long each device worked, moved data and idled, each moment once; its longest gap
// and what came before it; the self time of the host's calls and lines. This is the one meaning of "active": what the
// status bar, the overview, the summary, the verdict and the metrics show.
//
//   auto index = ActivityIndex::build(query);                      // once: about 250,000 events are added up in one
//   piece auto activity = range_activity(query, filter, index->get());   // decodes no more than two pieces at its
//   edges
//
// Tracks and terms of the filter are met by the query's mask, which makes every event of the range be looked at.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/source/host_calls.h"
#include "core/model/event_filter.h"

namespace accelscope {

// What of a device is under way, as bits: several may be at once.
enum class Unit : std::uint8_t { compute, transfer, collective };
inline constexpr std::size_t kUnits = 3;

struct DeviceActivity {
  std::string device;                                 // as TrackDevices names it
  std::array<std::int64_t, 1U << kUnits> times_ns{};  // by the set of units under way; the first stays 0
  TimeRange stretch{0, 0};                            // from its first to the end of its last work; empty: it did none
  TimeRange gap{0, 0};                                // the longest in it in which nothing is under way
  StringId before_gap = 0;                            // what ended last before

  [[nodiscard]] std::int64_t active_ns() const noexcept;           // anything is under way
  [[nodiscard]] std::int64_t active_ns(Unit unit) const noexcept;  // it is
  [[nodiscard]] std::int64_t alone_ns(Unit unit) const noexcept { return times_ns[1U << static_cast<unsigned>(unit)]; }
  [[nodiscard]] std::int64_t working_ns() const noexcept;  // compute or collectives
};

struct RangeActivity {
  EventFilter filter;
  std::uint64_t snapshot_version = 0;
  TimeRange range;                      // the filter's, no further than the session's events go
  std::vector<DeviceActivity> devices;  // those with tracks of work, whether or not it is in the range
  std::int64_t active_ns = 0;           // at least one device works, or, where there is none, one of the host's threads
  std::int64_t working_ns = 0;          // at least one device computes
  std::int64_t transfer_ns = 0;         // at least one device moves data
  std::int64_t host_ns = 0;             // at least one of the host's threads works
  // The longest in which nothing is under way, on no device and no thread of a host, waits neither, and nothing of
  // another row begins or ends (layers, annotations, marks; not a profiler's own rows); by time.
  std::vector<TimeRange> gaps;
  HostTimes host;
};

class ActivityIndex {
 public:
  struct Piece;
  [[nodiscard]] static Result<std::shared_ptr<const ActivityIndex>> build(const QueryContext& query);
  ActivityIndex();
  ~ActivityIndex();
  [[nodiscard]] std::uint64_t snapshot_version() const noexcept { return version_; }

 private:
  friend Result<std::shared_ptr<const RangeActivity>> range_activity(const QueryContext& query,
                                                                     const EventFilter& filter,
                                                                     const ActivityIndex* index);
  std::uint64_t version_ = 0;
  std::vector<Piece> pieces_;  // by time, without gaps
};

// An index of an older snapshot is not used. Fails when a chunk cannot be read or when cancelled.
[[nodiscard]] Result<std::shared_ptr<const RangeActivity>> range_activity(const QueryContext& query,
                                                                          const EventFilter& filter,
                                                                          const ActivityIndex* index = nullptr);

}  // namespace accelscope
