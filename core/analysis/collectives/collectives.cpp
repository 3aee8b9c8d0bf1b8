#include "core/analysis/collectives/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/analysis/collectives/arrivals.h"
#include "core/analysis/statistics/estimates.h"
#include "core/analysis/time/track_devices.h"
#include "core/base/capped.h"
#include "core/names/collective_words.h"

namespace accelscope::analysis {
namespace {

constexpr std::size_t kMostSteps = 4'000'000;

[[nodiscard]] double distance(const MatchedEvent& a, const MatchedEvent& b) noexcept {
  return std::abs(static_cast<double>(a.begin_ns) - static_cast<double>(b.begin_ns));
}

[[nodiscard]] bool all_differ(const std::vector<MatchedEvent>& events) {
  std::vector<std::uint64_t> ids;
  ids.reserve(events.size());
  for (const MatchedEvent& each : events) ids.push_back(each.id);
  if (!std::ranges::is_sorted(ids)) std::ranges::sort(ids);
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
  std::ranges::sort(order);
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

namespace {

// How far the clocks of ranks agree, told by the ends of what they did together: all ranks of a collective are done at
// nearly the same time.

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
    if (!std::ranges::is_sorted(each, earlier)) std::ranges::sort(each, earlier);
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
    for (const TrackNumber number : rank.reported_on) {
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

// Sets the clocks of all ranks and their residuals, and moves the cells. Of the instances only kind, first and count
// need be known.
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
    const double ahead = rank.offset_ns + rank.drift * (static_cast<double>(cell.end_ns) - origin);
    cell.set_by_ns = capped_integer(std::round(ahead));
    cell.arrival_ns = capped_difference(cell.arrival_ns, cell.set_by_ns);
    cell.begin_ns = capped_difference(cell.begin_ns, cell.set_by_ns);
    cell.end_ns = capped_difference(cell.end_ns, cell.set_by_ns);
  }
}

// The digits that the text ends with.
[[nodiscard]] std::optional<std::uint32_t> number_at_end(std::string_view text) noexcept {
  const std::size_t last = text.find_last_not_of("0123456789");
  const std::string_view digits = last == std::string_view::npos ? text : text.substr(last + 1);
  std::uint32_t number = 0;
  const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (wrong != std::errc() || digits.empty()) return std::nullopt;
  return number;
}

// A rank is called by its number where one has but one device; ranks of several are called by their devices.
[[nodiscard]] std::vector<CollectiveRank> named_ranks(const Snapshot& snapshot, const CollectiveArrivals& arrivals) {
  const TrackDevices devices(snapshot);
  std::map<std::string_view, std::size_t> devices_of_rank;
  std::map<std::uint32_t, std::size_t> uses;
  for (const ArrivingRank& each : arrivals.ranks) {
    const std::string& label = devices.label(each.device);
    if (const std::string_view rank = rank_of_device(label); !rank.empty()) ++devices_of_rank[rank];
  }
  std::vector<CollectiveRank> ranks;
  for (const ArrivingRank& each : arrivals.ranks) {
    CollectiveRank rank;
    rank.device = devices.label(each.device);
    const std::string_view named = rank_of_device(rank.device);
    const bool is_only = !named.empty() && devices_of_rank[named] == 1;
    rank.name = is_only ? std::string(named) : rank.device;
    rank.number = number_at_end(rank.name);
    if (rank.number) ++uses[*rank.number];
    rank.events = each.events.size();
    std::set<TrackNumber> reported;
    for (const CollectiveArrival& event : each.events) {
      const LaneSnapshot* lane = snapshot.find_lane(lane_of(event.event));
      if (lane != nullptr) reported.insert(lane->track);
    }
    rank.reported_on.assign(reported.begin(), reported.end());
    for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
      if (devices.of_track(t) != each.device) continue;
      const Track& track = *snapshot.tracks[t].track;
      rank.tracks.push_back(track.number);
      if (rank.host.empty()) rank.host = track.host;
    }
    ranks.push_back(std::move(rank));
  }
  for (CollectiveRank& rank : ranks) {
    if (rank.number && uses[*rank.number] > 1) rank.number.reset();  // it tells nothing
  }
  return ranks;
}

// The events of one operation and group, by rank.
struct Sequence {
  std::string operation;
  std::vector<std::uint32_t> members;  // numbers of ranks; empty: not known
  std::uint32_t expected = 0;          // ranks of the group; 0: not known
  struct Part {
    std::uint32_t rank = 0;
    std::vector<std::uint32_t> events;  // indices into ArrivingRank::events
  };
  std::vector<Part> parts;
};

class CollectiveFinder {
 public:
  CollectiveFinder(const Snapshot& snapshot, CollectiveArrivals arrivals)
      : snapshot_(snapshot), arrivals_(std::move(arrivals)) {
    found_.ranks = named_ranks(snapshot_, arrivals_);
    drop_numbers_of_devices();
  }

  std::shared_ptr<const Collectives> find(RankClocks clocks) {
    for (std::uint32_t r = 0; r < arrivals_.ranks.size(); ++r) sort_into_sequences(r);
    for (const auto& [key, sequence] : sequences_) add_instances(sequence);
    sequences_.clear();
    add_missing();
    order_ranks();
    set_rank_clocks(found_, snapshot_, clocks);
    for (CollectiveInstance& each : found_.instances) time_instance(each);
    found_.matched = found_.instances.size();
    hide_instances();
    std::ranges::sort(found_.instances, [](const auto& a, const auto& b) {
      return std::tie(a.transfer_begin_ns, a.end_ns, a.first) < std::tie(b.transfer_begin_ns, b.end_ns, b.first);
    });
    return std::make_shared<const Collectives>(std::move(found_));
  }

 private:
  using SequenceKey = std::tuple<std::string_view, std::vector<std::uint32_t>, StringId>;

  [[nodiscard]] std::string_view operation_of(const CollectiveFacts& facts) const {
    const std::string_view text = snapshot_.strings->text(facts.operation_text);
    if (const auto named = collective_operation(text)) return *named;
    const std::string_view name = snapshot_.strings->text(facts.name);
    return collective_operation(name).value_or(name);
  }

  // The number of a device is that of a rank only where the groups have ranks of all these numbers: GPUs 2, 3 and 4 are
  // ranks 0, 1 and 2 of a job.
  void drop_numbers_of_devices() {
    std::set<std::uint32_t> members;
    for (const CollectiveFacts& facts : arrivals_.facts) {
      for (const auto& each : replica_groups(snapshot_.strings->text(facts.group)))
        members.insert(each.begin(), each.end());
    }
    const auto of_device = [](const CollectiveRank& rank) {
      return rank.number && rank_of_device(rank.device).empty();
    };
    const bool strange = std::ranges::any_of(found_.ranks, [&](const CollectiveRank& rank) {
      return of_device(rank) && !members.empty() && !members.contains(*rank.number);
    });
    for (CollectiveRank& rank : found_.ranks) {
      if (strange && of_device(rank)) rank.number.reset();
    }
  }

  // The members of the rank's own group; none if the group is not known or does not name the rank.
  [[nodiscard]] std::vector<std::uint32_t> members_of(StringId group, std::uint32_t rank) {
    const auto [place, is_new] = groups_.try_emplace(group);
    if (is_new) place->second = replica_groups(snapshot_.strings->text(group));
    const std::optional<std::uint32_t> number = found_.ranks[rank].number;
    if (!number) return {};
    for (std::vector<std::uint32_t>& each : place->second) {
      if (std::find(each.begin(), each.end(), *number) != each.end()) return each;
    }
    return {};
  }

  void sort_into_sequences(std::uint32_t rank) {
    const std::vector<CollectiveArrival>& events = arrivals_.ranks[rank].events;
    std::vector<Sequence::Part*> of_facts(arrivals_.facts.size(), nullptr);
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      Sequence::Part*& part = of_facts[events[i].facts];
      if (part == nullptr) part = &part_of(arrivals_.facts[events[i].facts], rank);
      part->events.push_back(i);
    }
  }

  Sequence::Part& part_of(const CollectiveFacts& facts, std::uint32_t rank) {
    std::vector<std::uint32_t> members = members_of(facts.group, rank);
    const std::string_view operation = operation_of(facts);
    const StringId group = members.empty() ? facts.group : 0;
    const auto [place, is_new] = sequences_.try_emplace(SequenceKey{operation, members, group});
    Sequence& sequence = place->second;
    if (is_new) {
      sequence.operation = operation;
      sequence.expected = members.empty() ? facts.group_size : static_cast<std::uint32_t>(members.size());
      if (sequence.expected == 0) {
        const auto& groups = groups_.at(facts.group);
        if (groups.size() == 1) sequence.expected = static_cast<std::uint32_t>(groups.front().size());
      }
      sequence.members = std::move(members);
      sequence.parts.reserve(arrivals_.ranks.size());  // parts are pointed at
    }
    if (sequence.parts.empty() || sequence.parts.back().rank != rank) sequence.parts.push_back({rank, {}});
    return sequence.parts.back();
  }

  void add_instances(const Sequence& sequence) {
    std::vector<std::vector<MatchedEvent>> events;
    for (const Sequence::Part& part : sequence.parts) {
      std::vector<MatchedEvent>& into = events.emplace_back();
      into.reserve(part.events.size());
      for (const std::uint32_t i : part.events) {
        const CollectiveArrival& event = arrivals_.ranks[part.rank].events[i];
        into.push_back({event.begin_ns, event.id});
      }
    }
    const CollectiveMatching matching = match_collectives(events);
    if (matching.by == MatchedBy::time) found_.by_time += matching.instances;
    events.clear();
    const std::vector<std::uint32_t> firsts = place_cells(sequence, matching);
    for (std::size_t i = 0; i + 1 < firsts.size(); ++i) {
      const auto present = firsts[i + 1] - firsts[i];
      if (present == 0) continue;
      CollectiveInstance instance;
      instance.first = firsts[i];
      instance.count = present;
      instance.expected = std::max(sequence.expected, present);
      instance.kind = kind_of(sequence, instance, firsts[i]);
      found_.instances.push_back(instance);
    }
    facts_.clear();
  }

  // Cells of each instance by rank; facts_ gets the facts of each. Returns where each instance's begin.
  [[nodiscard]] std::vector<std::uint32_t> place_cells(const Sequence& sequence, const CollectiveMatching& matching) {
    const auto base = static_cast<std::uint32_t>(found_.cells.size());
    std::vector<std::uint32_t> firsts(matching.instances + 1, 0);
    for (const auto& places : matching.instance_of) {
      for (const std::uint32_t place : places) ++firsts[place + 1];
    }
    for (std::size_t i = 1; i < firsts.size(); ++i) firsts[i] += firsts[i - 1];
    std::vector<std::uint32_t> next(firsts.begin(), firsts.end() - (firsts.empty() ? 0 : 1));
    found_.cells.resize(base + firsts.back());
    facts_base_ = base;
    facts_.resize(firsts.back());
    for (std::size_t p = 0; p < sequence.parts.size(); ++p) {
      const Sequence::Part& part = sequence.parts[p];
      const std::vector<CollectiveArrival>& events = arrivals_.ranks[part.rank].events;
      for (std::size_t i = 0; i < part.events.size(); ++i) {
        const CollectiveArrival& event = events[part.events[i]];
        const std::uint32_t at = next[matching.instance_of[p][i]]++;
        found_.cells[base + at] = {part.rank,    event.event, event.arrival_ns, event.begin_ns,
                                   event.end_ns, 0,           event.hidden};
        facts_[at] = event.facts;
      }
    }
    for (std::uint32_t& first : firsts) first += base;
    return firsts;
  }

  [[nodiscard]] std::uint32_t kind_of(const Sequence& sequence, const CollectiveInstance& instance,
                                      std::uint32_t first) {
    const std::uint32_t facts = facts_[first - facts_base_];
    const bool all_alike =
        std::all_of(facts_.begin() + (first - facts_base_), facts_.begin() + (first - facts_base_) + instance.count,
                    [facts](std::uint32_t each) { return each == facts; });
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < instance.count; ++i) {
      bytes = std::max(bytes, arrivals_.facts[facts_[first - facts_base_ + i]].bytes);
    }
    const auto key = std::make_tuple(&sequence, facts, instance.expected, bytes);
    if (all_alike && last_kind_ && last_kind_->first == key) return last_kind_->second;
    const CollectiveFacts& said = arrivals_.facts[facts];
    CollectiveKind kind;
    kind.operation = sequence.operation;
    kind.algorithm = snapshot_.strings->text(said.algorithm);
    kind.name = said.name;
    if (kind.algorithm.empty()) kind.algorithm = collective_algorithm(snapshot_.strings->text(said.name));
    kind.type = snapshot_.strings->text(said.type);
    kind.bytes = bytes;
    kind.ranks = instance.expected;
    kind.bus_factor = bus_factor(kind.operation, kind.ranks);
    const auto [place, is_new] =
        kinds_.try_emplace(std::make_tuple(kind.operation, kind.algorithm, kind.type, kind.bytes, kind.ranks),
                           static_cast<std::uint32_t>(found_.kinds.size()));
    if (is_new) found_.kinds.push_back(kind);
    for (std::uint32_t i = 0; i < instance.count; ++i) add_reported(place->second, facts_[first - facts_base_ + i]);
    last_kind_.emplace(key, place->second);
    return place->second;
  }

  void add_reported(std::uint32_t kind, std::uint32_t facts) {
    if (reported_.insert(std::uint64_t{kind} << 32 | facts).second)
      found_.kinds[kind].reported.push_back(arrivals_.facts[facts]);
  }

  // Instances stay that have a part which passes the mask.
  void hide_instances() {
    std::vector<bool> seen(found_.ranks.size(), false);
    std::erase_if(found_.instances, [&](const CollectiveInstance& instance) {
      std::uint32_t hidden = 0;
      for (const CollectiveCell& cell : found_.cells_of(instance)) {
        hidden += cell.hidden ? 1 : 0;
        if (!cell.hidden) seen[cell.rank] = true;
      }
      if (hidden < instance.count) found_.hidden_parts += hidden;
      return hidden == instance.count;
    });
    found_.hidden_instances = found_.matched - found_.instances.size();
    for (std::size_t r = 0; r < found_.ranks.size(); ++r) found_.ranks[r].hidden = !found_.ranks[r].missing && !seen[r];
  }

  // Members of groups that no rank of the session is; only where the numbers are those that groups use.
  void add_missing() {
    std::set<std::uint32_t> known, wanted;
    for (const CollectiveRank& rank : found_.ranks) {
      if (rank.number) known.insert(*rank.number);
    }
    for (const auto& [group, groups] : groups_) {
      std::set<std::uint32_t> named;
      for (const auto& each : groups) named.insert(each.begin(), each.end());
      const bool fits = std::ranges::any_of(known, [&](std::uint32_t n) { return named.contains(n); });
      if (fits) wanted.insert(named.begin(), named.end());
    }
    for (const std::uint32_t number : wanted) {
      if (known.contains(number)) continue;
      CollectiveRank rank;
      rank.name = fmt::format("rank {}", number);
      rank.number = number;
      rank.missing = true;
      rank.host = host_beside(number);
      found_.ranks.push_back(std::move(rank));
    }
  }

  // A missing rank stands with the ranks whose numbers lie around it.
  [[nodiscard]] std::string host_beside(std::uint32_t number) const {
    const CollectiveRank* below = nullptr;
    for (const CollectiveRank& rank : found_.ranks) {
      if (rank.missing || !rank.number || *rank.number > number) continue;
      if (below == nullptr || *below->number < *rank.number) below = &rank;
    }
    return below == nullptr ? std::string() : below->host;
  }

  void order_ranks() {
    std::map<std::string, std::size_t> hosts;  // by the lowest number of their ranks, else as they come
    for (std::size_t r = 0; r < found_.ranks.size(); ++r) {
      const std::size_t at = found_.ranks[r].number.value_or(static_cast<std::uint32_t>(r));
      const auto [place, is_new] = hosts.try_emplace(found_.ranks[r].host, at);
      if (!is_new) place->second = std::min(place->second, at);
    }
    std::vector<std::uint32_t> order(found_.ranks.size());
    for (std::uint32_t r = 0; r < order.size(); ++r) order[r] = r;
    const auto key = [&](std::uint32_t r) {
      const CollectiveRank& rank = found_.ranks[r];
      return std::make_tuple(hosts.at(rank.host), std::cref(rank.host), rank.number.value_or(~std::uint32_t{0}), r);
    };
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    std::vector<std::uint32_t> place(order.size());
    std::vector<CollectiveRank> ranks;
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      place[order[at]] = at;
      ranks.push_back(std::move(found_.ranks[order[at]]));
    }
    found_.ranks = std::move(ranks);
    for (CollectiveCell& cell : found_.cells) cell.rank = place[cell.rank];
    const auto by_rank = [](const CollectiveCell& a, const CollectiveCell& b) { return a.rank < b.rank; };
    for (const CollectiveInstance& each : found_.instances) {
      const auto first = found_.cells.begin() + each.first, last = first + each.count;
      if (!std::is_sorted(first, last, by_rank)) std::sort(first, last, by_rank);
    }
  }

  void time_instance(CollectiveInstance& instance) const {
    const std::span<const CollectiveCell> cells = found_.cells_of(instance);
    const CollectiveCell *last = nullptr, *second = nullptr;
    std::int64_t earliest_begin = cells.front().begin_ns;
    instance.first_arrival_ns = cells.front().arrival_ns;
    instance.end_ns = cells.front().end_ns;
    for (const CollectiveCell& cell : cells) {
      instance.first_arrival_ns = std::min(instance.first_arrival_ns, cell.arrival_ns);
      earliest_begin = std::min(earliest_begin, cell.begin_ns);
      instance.end_ns = std::max(instance.end_ns, cell.end_ns);
      if (last == nullptr || cell.arrival_ns > last->arrival_ns) {
        second = std::exchange(last, &cell);
      } else if (second == nullptr || cell.arrival_ns > second->arrival_ns) {
        second = &cell;
      }
    }
    if (second == nullptr) second = last;
    instance.last_rank = last->rank;
    instance.second_rank = second->rank;
    instance.last_arrival_ns = last->arrival_ns;
    instance.second_last_ns = second->arrival_ns;
    instance.transfer_begin_ns = instance.last_arrival_ns;
    if (instance.count < instance.expected && arrivals_.has_waits) {
      instance.transfer_begin_ns = std::max(instance.transfer_begin_ns, earliest_begin);
    }
  }

  const Snapshot& snapshot_;
  CollectiveArrivals arrivals_;
  Collectives found_;
  std::map<SequenceKey, Sequence> sequences_;
  std::map<StringId, std::vector<std::vector<std::uint32_t>>> groups_;
  std::vector<std::uint32_t> facts_;  // of the cells of the sequence at hand
  std::uint32_t facts_base_ = 0;
  std::map<std::tuple<std::string, std::string, std::string, std::uint64_t, std::uint32_t>, std::uint32_t> kinds_;
  std::unordered_set<std::uint64_t> reported_;  // kind and facts
  std::optional<std::pair<std::tuple<const Sequence*, std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t>>
      last_kind_;
};

}  // namespace

const CollectiveCell* Collectives::cell(const CollectiveInstance& instance, std::uint32_t rank) const noexcept {
  const std::span<const CollectiveCell> all = cells_of(instance);
  const auto found = std::ranges::lower_bound(all, rank, {}, &CollectiveCell::rank);
  return found != all.end() && found->rank == rank ? &*found : nullptr;
}

std::int64_t Collectives::wait_ns(const CollectiveInstance& instance, const CollectiveCell& cell) noexcept {
  return std::max<std::int64_t>(0,
                                capped_difference(std::min(instance.transfer_begin_ns, cell.end_ns), cell.arrival_ns));
}

std::size_t Collectives::present() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(ranks, [](const CollectiveRank& rank) { return !rank.missing; }));
}

std::size_t Collectives::hidden() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(ranks, [](const CollectiveRank& rank) { return rank.hidden; }));
}

std::optional<double> Collectives::noise_ns(std::uint32_t rank, std::uint32_t other) const noexcept {
  const auto &one = ranks[rank].residual_ns, &two = ranks[other].residual_ns;
  if (!one || !two) return std::nullopt;
  return *one + *two;
}

std::optional<Collectives::Residual> Collectives::residual() const noexcept {
  Residual found;
  std::size_t count = 0;
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].missing) continue;
    if (!ranks[r].residual_ns) return std::nullopt;
    ++count;
    found.mean_ns += *ranks[r].residual_ns;
    if (*ranks[r].residual_ns > found.most_ns || count == 1) found.most_ns = *ranks[r].residual_ns, found.rank = r;
  }
  if (count == 0) return std::nullopt;
  found.mean_ns /= static_cast<double>(count);
  return found;
}

Result<std::shared_ptr<const Collectives>> find_collectives(const QueryContext& query, RankClocks clocks) {
  auto arrivals = TRY(read_arrivals(query));
  if (query.control.cancelled()) return cancelled_error();
  return CollectiveFinder(*query.snapshot, std::move(arrivals)).find(clocks);
}

}  // namespace accelscope::analysis
