// The rule about ranks that meet in collectives.
#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/collectives/report.h"
#include "core/base/capped.h"
#include "core/base/format.h"

namespace accelscope::analysis {
namespace {

struct LateRank {
  std::int64_t late_ns = 0;  // after the last of the others
  std::vector<FindingPlace> places;
  EventId first = kNoEvent;
};

}  // namespace

Result<void> judge_ranks(const Judgement& judgement, const std::vector<DeviceSum>& devices,
                         const Collectives& collectives) {
  if (collectives.present() < 2 || collectives.instances.empty() || !judgement.judges(RuleId::straggling_rank))
    return {};
  std::vector<LateRank> ranks(collectives.ranks.size());
  std::size_t met = 0;
  for (const CollectiveInstance& each : collectives.instances) {
    if (each.count < 2 || !judgement.range.holds(each.first_arrival_ns, each.end_ns)) continue;
    ++met;
    const std::int64_t late = each.last_arrival_ns - each.second_last_ns;
    const auto noise = collectives.noise_ns(each.last_rank, each.second_rank);
    if (collectives.own_clocks && !noise) continue;  // which of them came last is not known
    if (static_cast<double>(late) <= noise.value_or(0)) continue;
    LateRank& rank = ranks[each.last_rank];
    rank.late_ns += late;
    rank.places.push_back({{each.second_last_ns, each.last_arrival_ns}, ""});
    const CollectiveCell* const cell = collectives.cell(each, each.last_rank);
    if (rank.first == kNoEvent && cell != nullptr) rank.first = cell->event;
  }
  const auto worst = std::ranges::max_element(ranks, {}, &LateRank::late_ns);
  const auto number = static_cast<std::size_t>(worst - ranks.begin());
  if (static_cast<double>(worst->places.size()) < rule_of(RuleId::straggling_rank).threshold * static_cast<double>(met))
    return {};
  // Where ranks take turns, or once or twice of many, who is last is chance.
  const bool stands_out = std::ranges::all_of(ranks, [&](const LateRank& each) {
    return &each == &*worst || worst->late_ns >= capped_product(kClearlyLate, each.late_ns);
  });
  if (!stands_out || worst->places.size() < std::min<std::uint64_t>(kOftenLast, met)) return {};
  const CollectiveRank& rank = collectives.ranks[number];
  const auto device = std::ranges::find_if(devices, [&](const DeviceSum& each) { return each.device == rank.device; });
  if (device == devices.end()) return {};
  Finding found = judgement.finding(RuleId::straggling_rank, *device, static_cast<double>(worst->late_ns));
  found.least_ns = found.saving_ns;  // when each came is known
  found.count = worst->places.size();
  found.first = worst->first;
  found.headline = fmt::format("{} comes last to {} of {} collectives: all others wait {} for it", rank.name,
                               format_count(worst->places.size()), format_count(met), format_duration(worst->late_ns));
  found.tab = fmt::format("{} comes last", rank.name);
  set_places(found, std::move(worst->places));
  judgement.tell(std::move(found));
  return {};
}

}  // namespace accelscope::analysis
