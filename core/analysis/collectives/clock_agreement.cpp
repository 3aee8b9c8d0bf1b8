#include "core/analysis/collectives/clock_agreement.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/analysis/statistics/middle.h"

namespace accelscope {
namespace {

constexpr std::size_t kLeastForOffset = 2;  // with one instance the distance is all offset: nothing is left to judge by
constexpr std::size_t kLeastForDrift = 9;
constexpr double kJudged = 0.95;

// How far a rank's end lay behind the median of all ranks.
struct EndDistance {
  double at_ns = 0, by_ns = 0;
};
using EndDistances = std::vector<std::vector<EndDistance>>;  // by rank

[[nodiscard]] EndDistances end_distances(const Collectives& all) {
  EndDistances distances(all.ranks.size());
  std::vector<std::int64_t> ends;
  for (const CollectiveInstance& instance : all.instances) {
    if (instance.count < 2) continue;
    ends.clear();
    for (const CollectiveCell& cell : all.cells_of(instance)) ends.push_back(cell.end_ns);
    const auto middle = ends.begin() + static_cast<std::ptrdiff_t>((ends.size() - 1) / 2);
    std::nth_element(ends.begin(), middle, ends.end());
    auto median = static_cast<double>(*middle);
    if (ends.size() % 2 == 0) {
      median = (median + static_cast<double>(*std::min_element(middle + 1, ends.end()))) / 2;
    }
    for (const CollectiveCell& cell : all.cells_of(instance)) {
      const auto end = static_cast<double>(cell.end_ns);
      distances[cell.rank].push_back({end, end - median});
    }
  }
  for (std::vector<EndDistance>& each : distances) {
    const auto earlier = [](const EndDistance& a, const EndDistance& b) { return a.at_ns < b.at_ns; };
    if (!std::is_sorted(each.begin(), each.end(), earlier)) std::sort(each.begin(), each.end(), earlier);
  }
  return distances;
}

template <typename Value>
[[nodiscard]] double middle_of(std::span<const EndDistance> of, Value value) {
  std::vector<double> values;
  values.reserve(of.size());
  for (const EndDistance& each : of) values.push_back(value(each));
  return middle_value(std::move(values));
}

// A line through the medians of the first and the last third, so that single distances do not turn it.
void fit_clock(CollectiveRank& rank, std::span<const EndDistance> distances, double origin_ns) {
  if (distances.size() < kLeastForOffset) return;
  const auto at = [](const EndDistance& each) { return each.at_ns; };
  const auto by = [](const EndDistance& each) { return each.by_ns; };
  if (distances.size() >= kLeastForDrift) {
    const auto early = distances.first(distances.size() / 3);
    const auto late = distances.last(distances.size() / 3);
    const double apart = middle_of(late, at) - middle_of(early, at);
    if (apart > 0) rank.drift = (middle_of(late, by) - middle_of(early, by)) / apart;
  }
  rank.offset_ns =
      middle_of(distances, [&](const EndDistance& each) { return each.by_ns - rank.drift * (each.at_ns - origin_ns); });
}

[[nodiscard]] std::optional<double> residual_of(const CollectiveRank& rank, std::span<const EndDistance> distances,
                                                double origin_ns, std::size_t least) {
  if (distances.size() < least) return std::nullopt;
  std::vector<double> left;
  left.reserve(distances.size());
  for (const EndDistance& each : distances) {
    left.push_back(std::abs(each.by_ns - rank.offset_ns - rank.drift * (each.at_ns - origin_ns)));
  }
  const auto place =
      left.begin() + static_cast<std::ptrdiff_t>(std::ceil(kJudged * static_cast<double>(left.size())) - 1);
  std::nth_element(left.begin(), place, left.end());
  return *place;
}

// The clocks that ranks tell their collectives by. `own`: they are not one.
struct RecordedClocks {
  std::vector<double> residuals;  // by rank
  bool own = false;
};

[[nodiscard]] RecordedClocks recorded_clocks(const Collectives& all, const Snapshot& snapshot) {
  RecordedClocks found;
  std::set<std::pair<std::uint32_t, ClockNumber>> used;  // with the source that it is of
  for (const CollectiveRank& rank : all.ranks) {
    double& residual = found.residuals.emplace_back(0);
    for (const TrackNumber number : rank.told_on) {
      const TrackSnapshot* track = snapshot.find_track(number);
      if (track == nullptr) continue;
      used.emplace(scope_of(number), track->track->clock);
      for (const auto& clock : snapshot.clocks) {
        if (clock->number == track->track->clock) residual = std::max(residual, clock->residual_ns);
      }
    }
  }
  found.own = used.size() > 1;
  return found;
}

}  // namespace

void set_rank_clocks(Collectives& collectives, const Snapshot& snapshot, RankClocks wanted) {
  const RecordedClocks recorded = recorded_clocks(collectives, snapshot);
  const EndDistances distances = end_distances(collectives);
  const auto origin = static_cast<double>(snapshot.begin_ns);
  collectives.own_clocks = recorded.own;
  const bool by_ends = wanted == RankClocks::by_ends || (wanted == RankClocks::automatic && recorded.own);
  collectives.clocks = by_ends ? RankClocks::by_ends : RankClocks::recorded;
  for (std::size_t r = 0; r < collectives.ranks.size(); ++r) {
    CollectiveRank& rank = collectives.ranks[r];
    if (rank.missing) continue;
    if (by_ends) fit_clock(rank, distances[r], origin);
    if (!recorded.own && !by_ends) {
      rank.residual_ns = recorded.residuals[r];
      continue;
    }
    rank.residual_ns = residual_of(rank, distances[r], origin, by_ends ? kLeastForOffset : 1);
    if (!by_ends && rank.residual_ns) rank.residual_ns = std::max(*rank.residual_ns, recorded.residuals[r]);
  }
  if (!by_ends) return;
  for (CollectiveCell& cell : collectives.cells) {
    const CollectiveRank& rank = collectives.ranks[cell.rank];
    cell.set_by_ns = std::llround(rank.offset_ns + rank.drift * (static_cast<double>(cell.end_ns) - origin));
    cell.arrival_ns -= cell.set_by_ns;
    cell.begin_ns -= cell.set_by_ns;
    cell.end_ns -= cell.set_by_ns;
  }
}

}  // namespace accelscope
