// What collectives come to in a stretch of time: figures of each kind of operation, how late each rank came, and the
// one rank that the others waited for, where there is one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/analysis/collectives/collectives.h"
#include "core/model/time_range.h"

namespace accelscope::analysis {

// A rank is a straggler that is waited for so many times as long as any other,
inline constexpr std::int64_t kClearlyLate = 2;
// and comes last so often, or always, where ranks meet less often: once or twice is chance.
inline constexpr std::uint64_t kOftenLast = 3;

// Of the instances of one kind. Durations are of whole instances, from the last arrival to the end on the last rank.
struct CollectiveFigures {
  std::uint32_t kind = 0;  // index into Collectives::kinds
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;                                         // of all instances; 0: not known
  std::int64_t busy_ns = 0;                                        // durations added up
  std::int64_t wait_ns = 0;                                        // of all ranks added up
  std::int64_t skew_ns = 0;                                        // last less first arrival, added up
  std::int64_t min_ns = 0, median_ns = 0, p99_ns = 0, max_ns = 0;  // nearest rank
  // Instances longer than the third quartile and one and a half times the distance of the quartiles (Tukey's fence),
  // and by 1 % of the median at least.
  std::uint64_t outliers = 0;
  std::int64_t fence_ns = 0;  // above it is an outlier
  // Size over the median duration, and that times the bus factor (core/names/collective_words.h); nothing where
  // the size or the duration is not known.
  std::optional<double> algorithm_bandwidth, bus_bandwidth;  // bytes per second
};

struct RankLateness {
  std::uint64_t instances = 0;  // that it took part in
  std::uint64_t last_in = 0;    // that it was the last to come to, by more than is noise
  std::int64_t late_ns = 0;     // after the first arrival, added up
  std::int64_t waited_ns = 0;   // for others
  // How much earlier the transfers had begun if it had come with the last but one: all others wait for so long, at
  // once. Nothing below the residual of the clocks counts.
  std::int64_t others_waited_ns = 0;
  [[nodiscard]] double mean_late_ns() const noexcept {
    return instances == 0 ? 0 : static_cast<double>(late_ns) / static_cast<double>(instances);
  }
};

struct CollectivesReport {
  std::shared_ptr<const Collectives> of;
  TimeRange range;
  std::vector<std::uint32_t> instances;  // that share time with the range, from first arrival to end; in order
  std::vector<CollectiveFigures> kinds;  // that have instances, longest busy first
  std::vector<RankLateness> ranks;       // as Collectives::ranks
  std::uint64_t compared = 0;            // instances with at least two ranks
  std::uint64_t below_noise = 0;         // of them: the last two came too close together to say which was last
  std::uint64_t incomplete = 0;          // some ranks are missing
  // The rank that others waited for at least twice as long as for any other, three times at least (or always, where
  // there are fewer instances), and for 1 % of the time in which the collectives lie.
  std::optional<std::uint32_t> straggler;
};

struct CollectivesScope {
  TimeRange range;
  std::optional<std::uint32_t> kind;  // ranks and instances of this one only; the figures are of all
  bool operator==(const CollectivesScope&) const = default;
};

[[nodiscard]] std::shared_ptr<const CollectivesReport> report_collectives(
    std::shared_ptr<const Collectives> collectives, const CollectivesScope& scope);

// Why a rank came late: of the names of events on devices, the one whose time on it exceeds the median of the other
// ranks most, in the range; and how much longer it was throttled than they.
struct LateCause {
  StringId name = 0;  // 0: none exceeds it
  std::int64_t excess_ns = 0;
  double ratio = 0;                                        // its time over the median of the others; 0: they have none
  std::int64_t throttled_ns = 0, others_throttled_ns = 0;  // the latter: their median
};
[[nodiscard]] Result<LateCause> late_cause(const QueryContext& query, const Collectives& collectives,
                                           std::uint32_t rank, const TimeRange& range);

}  // namespace accelscope::analysis
