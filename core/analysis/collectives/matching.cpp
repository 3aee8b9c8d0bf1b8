#include "core/analysis/collectives/matching.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace accelscope {
namespace {

constexpr std::size_t kMostSteps = 4'000'000;

[[nodiscard]] double distance(const MatchedEvent& a, const MatchedEvent& b) noexcept {
  return std::abs(static_cast<double>(a.begin_ns) - static_cast<double>(b.begin_ns));
}

[[nodiscard]] bool all_differ(const std::vector<MatchedEvent>& events) {
  std::vector<std::uint64_t> ids;
  ids.reserve(events.size());
  for (const MatchedEvent& each : events) ids.push_back(each.id);
  if (!std::is_sorted(ids.begin(), ids.end())) std::sort(ids.begin(), ids.end());
  return !ids.empty() && ids.front() != 0 && std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

// Every rank has the same ids in the same order, as ranks of one program mostly do.
[[nodiscard]] bool have_same_ids(std::span<const std::vector<MatchedEvent>> ranks) {
  const auto same_id = [](const MatchedEvent& a, const MatchedEvent& b) { return a.id == b.id; };
  for (const auto& events : ranks) {
    if (!std::equal(events.begin(), events.end(), ranks[0].begin(), ranks[0].end(), same_id)) return false;
  }
  return ranks.size() > 1 && all_differ(ranks[0]);
}

[[nodiscard]] std::vector<std::uint32_t> counted(std::size_t size, std::uint32_t first = 0) {
  std::vector<std::uint32_t> places(size);
  std::iota(places.begin(), places.end(), first);
  return places;
}

// By id, if the ids are fit for it.
[[nodiscard]] bool match_by_id(std::span<const std::vector<MatchedEvent>> ranks, CollectiveMatching& matching) {
  if (ranks.size() < 2) return false;
  std::unordered_map<std::uint64_t, std::int64_t> first_seen;  // id -> the earliest begin
  std::unordered_map<std::uint64_t, std::size_t> of_first;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::unordered_map<std::uint64_t, std::size_t> own;
    std::size_t shared = 0;
    for (const MatchedEvent& each : ranks[r]) {
      if (each.id == 0 || !own.try_emplace(each.id, r).second) return false;
      if (r > 0 && of_first.contains(each.id)) ++shared;
      const auto [place, is_new] = first_seen.try_emplace(each.id, each.begin_ns);
      if (!is_new) place->second = std::min(place->second, each.begin_ns);
    }
    if (r == 0) of_first = std::move(own);
    if (r > 0 && 2 * shared < ranks[r].size()) return false;
  }
  std::vector<std::pair<std::int64_t, std::uint64_t>> order;
  order.reserve(first_seen.size());
  for (const auto& [id, begin] : first_seen) order.emplace_back(begin, id);
  std::sort(order.begin(), order.end());
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (const auto& [begin, id] : order) numbers.emplace(id, static_cast<std::uint32_t>(numbers.size()));
  matching.by = MatchedBy::id;
  matching.instances = order.size();
  for (const auto& events : ranks) {
    std::vector<std::uint32_t>& places = matching.instance_of.emplace_back();
    for (const MatchedEvent& each : events) places.push_back(numbers.at(each.id));
  }
  return true;
}

// All moved on by the same number of places: that with the least distance of some of them.
[[nodiscard]] std::vector<std::uint32_t> moved_beside(std::span<const MatchedEvent> reference,
                                                      std::span<const MatchedEvent> times) {
  constexpr std::size_t kLooks = 64;
  const std::size_t step = std::max<std::size_t>(1, times.size() / kLooks);
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t by = 0; by + times.size() <= reference.size(); ++by) {
    double sum = 0;
    for (std::size_t i = 0; i < times.size(); i += step) sum += distance(reference[i + by], times[i]);
    if (sum < least) least = sum, best = by;
  }
  return counted(times.size(), static_cast<std::uint32_t>(best));
}

}  // namespace

std::vector<std::uint32_t> places_beside(std::span<const MatchedEvent> reference, std::span<const MatchedEvent> times) {
  const std::size_t offsets = reference.size() - times.size() + 1;
  if (offsets > 1 && offsets * times.size() > kMostSteps) return moved_beside(reference, times);
  // least[d]: of all times so far, the last of which was moved on by at most d places.
  std::vector<double> least(offsets, 0);
  std::vector<bool> moves(offsets * times.size());  // the last was moved on by exactly d
  for (std::size_t i = 0; i < times.size(); ++i) {
    double before = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < offsets; ++d) {
      const double here = least[d] + distance(reference[i + d], times[i]);
      moves[i * offsets + d] = here < before;
      before = std::min(before, here);
      least[d] = before;
    }
  }
  std::vector<std::uint32_t> places(times.size());
  std::size_t d = offsets - 1;
  for (std::size_t i = times.size(); i-- > 0;) {
    while (d > 0 && !moves[i * offsets + d]) --d;
    places[i] = static_cast<std::uint32_t>(i + d);
  }
  return places;
}

CollectiveMatching match_collectives(std::span<const std::vector<MatchedEvent>> ranks) {
  CollectiveMatching matching;
  if (have_same_ids(ranks)) {
    return {MatchedBy::id, ranks[0].size(), {ranks.size(), counted(ranks[0].size())}};
  }
  if (match_by_id(ranks, matching)) return matching;
  std::size_t longest = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].size() > ranks[longest].size()) longest = r;
  }
  matching.instances = ranks.empty() ? 0 : ranks[longest].size();
  matching.instance_of.clear();
  for (const auto& events : ranks) {
    if (events.size() == matching.instances) {
      matching.instance_of.push_back(counted(events.size()));
    } else {
      matching.by = MatchedBy::time;
      matching.instance_of.push_back(places_beside(ranks[longest], events));
    }
  }
  return matching;
}

}  // namespace accelscope
