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
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/analysis/source/host_calls.h"
#include "core/model/event_filter.h"

namespace accelscope::analysis {

// What of a device is under way, as bits: several may be at once.
enum class WorkUnit : std::uint8_t { compute, transfer, collective };
inline constexpr std::size_t kWorkUnits = 3;

// The one split of a device's time: each moment is in one part.
enum class TimePart : std::uint8_t {
  compute,        // it computes, whatever else is under way
  communication,  // collectives, and nothing computes: they are exposed
  copies,         // data moves, and nothing else is under way
  idle,           // nothing is
};
inline constexpr std::size_t kTimeParts = 4;
[[nodiscard]] std::string_view name_of(TimePart part) noexcept;  // "communication alone"
struct TimeSplit {
  std::array<double, kTimeParts> shares{};  // they add up to 1; all 0 where nothing is known
  [[nodiscard]] double share(TimePart part) const noexcept { return shares[static_cast<std::size_t>(part)]; }
};

struct DeviceActivity {
  std::string device;                                     // as TrackDevices names it
  std::array<std::int64_t, 1U << kWorkUnits> times_ns{};  // by the set of units under way; the first stays 0
  TimeRange stretch{0, 0};  // from its first to the end of its last work; empty: it did none
  TimeRange gap{0, 0};      // the longest in it in which nothing is under way
  StringId before_gap = 0;  // what ended last before
  std::int64_t cut_ns = 0;  // what times cut to whole ns lack of it, see summary.h

  [[nodiscard]] std::int64_t active_ns() const noexcept;               // anything is under way, see summary.h
  [[nodiscard]] std::int64_t active_ns(WorkUnit unit) const noexcept;  // it is
  [[nodiscard]] std::int64_t alone_ns(WorkUnit unit) const noexcept {
    return times_ns[1U << static_cast<unsigned>(unit)];
  }
  [[nodiscard]] std::int64_t working_ns() const noexcept;  // compute or collectives
  // Of the range that it was measured in; the part of idle is the rest of `span_ns`.
  [[nodiscard]] std::int64_t part_ns(TimePart part, std::int64_t span_ns) const noexcept;
  [[nodiscard]] TimeSplit split(std::int64_t span_ns) const noexcept;
};

// Time in which at least one event was under way that does not wait, over all devices, each moment once: what stands in
// rows below a head that says union.
struct ActivityUnions {
  using ByName = std::unordered_map<StringId, std::int64_t>;
  ByName work;       // compute and collectives
  ByName transfers;  // but those of `whole`
  ByName whole;      // transfers beside the packets that they consist of (WorkKinds::covers_time)
  std::map<std::string, std::int64_t, std::less<>> queues;  // rings by queue, see queue_of_ring()
  // Of tracks of several lanes but a host's. Of all others, whose events do not overlap, it is the sum of them.
  std::map<TrackNumber, std::int64_t> tracks;
  std::int64_t copies_ns = 0;  // data moves: transfers but those that only fill memory

  // Those of stretches of time that do not overlap add up.
  auto measures() { return std::tie(work, transfers, whole, queues, tracks, copies_ns); }
};
// "qSyncIO0" of the rings "qSyncIO0-Q1-E0", "qSyncIO0-Q1-E1" ..., "Q0" of those that have no names.
[[nodiscard]] std::string_view queue_of_ring(std::string_view track) noexcept;

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
  SelfTimes zone_lines;  // of zones on devices, which lie within each other: by the innermost that has a line
  ActivityUnions unions;
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

}  // namespace accelscope::analysis
