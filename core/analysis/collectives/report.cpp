#include "core/analysis/collectives/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/analysis/statistics/estimates.h"
#include "core/analysis/time/work_kind.h"
#include "core/base/capped.h"
#include "core/lod/range_statistics.h"

namespace accelscope::analysis {
namespace {

constexpr double kFence = 1.5, kLeastExcess = 0.01;
constexpr double kLeastCost = 0.01;  // a straggler is waited for so much of the time in which the collectives lie

// Of ascending values; nearest rank.
[[nodiscard]] std::int64_t share_of(const std::vector<std::int64_t>& values, double share) noexcept {
  const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(place, 1) - 1];
}

void distribute(CollectiveFigures& figures, std::vector<std::int64_t>& durations) {
  std::ranges::sort(durations);
  figures.min_ns = durations.front();
  figures.median_ns = share_of(durations, 0.5);
  figures.p99_ns = share_of(durations, 0.99);
  figures.max_ns = durations.back();
  const auto first = static_cast<double>(share_of(durations, 0.25)),
             third = static_cast<double>(share_of(durations, 0.75));
  const double least = static_cast<double>(figures.median_ns) * (1 + kLeastExcess);
  figures.fence_ns = capped_integer(std::round(std::max(third + kFence * (third - first), least)));
  figures.outliers = static_cast<std::uint64_t>(durations.end() -
                                                std::upper_bound(durations.begin(), durations.end(), figures.fence_ns));
}

void add_bandwidth(CollectiveFigures& figures, const CollectiveKind& kind) {
  if (kind.bytes == 0 || figures.median_ns <= 0) return;
  constexpr double kNsPerSecond = 1e9;
  figures.algorithm_bandwidth = static_cast<double>(kind.bytes) * kNsPerSecond / static_cast<double>(figures.median_ns);
  figures.bus_bandwidth = *figures.algorithm_bandwidth * kind.bus_factor;
}

class Reporter {
 public:
  Reporter(std::shared_ptr<const Collectives> collectives, const CollectivesScope& scope)
      : scope_(scope), all_(*collectives) {
    report_.of = std::move(collectives);
    report_.range = scope.range;
    report_.ranks.resize(all_.ranks.size());
  }

  std::shared_ptr<const CollectivesReport> make() {
    std::vector<std::vector<std::int64_t>> durations(all_.kinds.size());
    std::vector<CollectiveFigures> figures(all_.kinds.size());
    for (std::uint32_t i = 0; i < all_.instances.size(); ++i) {
      const CollectiveInstance& instance = all_.instances[i];
      if (!scope_.range.holds(instance.first_arrival_ns, std::max(instance.end_ns, instance.first_arrival_ns)))
        continue;
      add_figures(figures[instance.kind], instance);
      durations[instance.kind].push_back(instance.duration_ns());
      if (scope_.kind && *scope_.kind != instance.kind) continue;
      report_.instances.push_back(i);
      add_lateness(instance);
    }
    for (std::uint32_t k = 0; k < figures.size(); ++k) {
      if (durations[k].empty()) continue;
      figures[k].kind = k;
      figures[k].bytes = all_.kinds[k].bytes * figures[k].count;
      distribute(figures[k], durations[k]);
      add_bandwidth(figures[k], all_.kinds[k]);
      report_.kinds.push_back(figures[k]);
    }
    std::ranges::stable_sort(report_.kinds, std::ranges::greater{}, [](const auto& each) { return each.busy_ns; });
    name_straggler();
    return std::make_shared<const CollectivesReport>(std::move(report_));
  }

 private:
  void add_figures(CollectiveFigures& figures, const CollectiveInstance& instance) const {
    ++figures.count;
    figures.busy_ns = capped_sum(figures.busy_ns, instance.duration_ns());
    figures.skew_ns = capped_sum(figures.skew_ns, instance.skew_ns());
    for (const CollectiveCell& cell : all_.cells_of(instance))
      figures.wait_ns = capped_sum(figures.wait_ns, Collectives::wait_ns(instance, cell));
  }

  void add_lateness(const CollectiveInstance& instance) {
    if (instance.count < instance.expected) ++report_.incomplete;
    for (const CollectiveCell& cell : all_.cells_of(instance)) {
      RankLateness& rank = report_.ranks[cell.rank];
      ++rank.instances;
      rank.late_ns = capped_sum(rank.late_ns, capped_difference(cell.arrival_ns, instance.first_arrival_ns));
      rank.waited_ns = capped_sum(rank.waited_ns, Collectives::wait_ns(instance, cell));
    }
    if (instance.count < 2) return;
    ++report_.compared;
    const auto noise = all_.noise_ns(instance.last_rank, instance.second_rank);
    const std::int64_t alone = capped_difference(instance.last_arrival_ns, instance.second_last_ns);
    // A rank that is not here may have come later than the last that is.
    const std::int64_t absent = capped_difference(instance.transfer_begin_ns, instance.last_arrival_ns);
    const bool is_known = noise && static_cast<double>(alone) > *noise && static_cast<double>(absent) <= *noise;
    if (!is_known) {
      ++report_.below_noise;
      return;
    }
    RankLateness& last = report_.ranks[instance.last_rank];
    ++last.last_in;
    last.others_waited_ns = capped_sum(last.others_waited_ns, alone);
  }

  void name_straggler() {
    std::int64_t most = 0, next = 0;
    std::uint32_t rank = 0;
    for (std::uint32_t r = 0; r < report_.ranks.size(); ++r) {
      const std::int64_t waited = report_.ranks[r].others_waited_ns;
      if (waited > most) {
        next = std::exchange(most, waited);
        rank = r;
      } else {
        next = std::max(next, waited);
      }
    }
    if (most == 0) return;  // also where there is no rank
    TimeRange stretch{INT64_MAX, INT64_MIN};
    for (const std::uint32_t i : report_.instances) {
      stretch.begin_ns = std::min(stretch.begin_ns, all_.instances[i].first_arrival_ns);
      stretch.end_ns = std::max(stretch.end_ns, all_.instances[i].end_ns);
    }
    const bool often = report_.ranks[rank].last_in >= std::min(kOftenLast, report_.compared);
    const bool costs = static_cast<double>(most) >= kLeastCost * static_cast<double>(stretch.length_ns());
    if (often && costs && most >= capped_product(kClearlyLate, next)) report_.straggler = rank;
  }

  const CollectivesScope scope_;
  const Collectives& all_;
  CollectivesReport report_;
};

// Time by name on the rank's engines and streams, and how long it was throttled.
struct RankTime {
  std::map<StringId, std::int64_t> by_name;
  std::int64_t throttled_ns = 0;
};

[[nodiscard]] Result<RankTime> time_of(const QueryContext& query, const CollectiveRank& rank, const TimeRange& range) {
  RankTime time;
  LaneIndices work, throttles;
  for (const TrackNumber number : rank.tracks) {
    const TrackSnapshot* track = query.snapshot->find_track(number);
    if (track == nullptr) continue;
    const bool throttle = track_kind_of(track->track->kind).alert == Alert::throttling;
    if (!throttle && work_kind_of(*track) != WorkKind::compute) continue;
    LaneIndices& into = throttle ? throttles : work;
    into.insert(into.end(), track->lanes.begin(), track->lanes.end());
  }
  const auto names = TRY(lod::name_statistics(query, work, range));
  for (const lod::NameStatistic& each : names.names) time.by_name[each.name] += each.time_ns;
  const auto throttled = TRY(lod::name_statistics(query, throttles, range));
  time.throttled_ns = throttled.time_ns;
  return time;
}

}  // namespace

std::shared_ptr<const CollectivesReport> report_collectives(std::shared_ptr<const Collectives> collectives,
                                                            const CollectivesScope& scope) {
  return Reporter(std::move(collectives), scope).make();
}

Result<LateCause> late_cause(const QueryContext& query, const Collectives& collectives, std::uint32_t rank,
                             const TimeRange& range) {
  LateCause cause;
  RankTime own;
  std::vector<RankTime> others;
  for (std::uint32_t r = 0; r < collectives.ranks.size(); ++r) {
    if (collectives.ranks[r].missing) continue;
    if (query.control.cancelled()) return cancelled_error();
    auto time = TRY(time_of(query, collectives.ranks[r], range));
    if (r == rank) {
      own = std::move(time);
    } else {
      others.push_back(std::move(time));
    }
  }
  std::set<StringId> parts;  // of collectives: their time is what is to be explained
  for (const CollectiveKind& kind : collectives.kinds) parts.insert(kind.name);
  for (const auto& [name, ns] : own.by_name) {
    if (parts.contains(name)) continue;
    std::vector<std::int64_t> times;
    for (const RankTime& other : others) {
      const auto found = other.by_name.find(name);
      times.push_back(found == other.by_name.end() ? 0 : found->second);
    }
    const std::int64_t median = middle_value(std::move(times));
    if (ns - median <= cause.excess_ns) continue;
    cause.name = name;
    cause.excess_ns = ns - median;
    cause.ratio = median > 0 ? static_cast<double>(ns) / static_cast<double>(median) : 0;
  }
  std::vector<std::int64_t> throttled;
  for (const RankTime& other : others) throttled.push_back(other.throttled_ns);
  cause.throttled_ns = own.throttled_ns;
  cause.others_throttled_ns = middle_value(std::move(throttled));
  return cause;
}

}  // namespace accelscope::analysis
