// What an allocator's snapshot tells: requests that failed, and memory that is held with nothing in it.
#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/memory/pressure.h"
#include "core/base/format.h"

namespace accelscope::analysis {
namespace {

[[nodiscard]] Finding memory_finding(RuleId rule, std::string_view subject) {
  Finding found;
  found.rule = &rule_of(rule);
  found.key = fmt::format("{} {}", found.rule->name, subject);
  found.remedy = found.rule->remedy;
  found.reported = found.rule->condition;
  return found;
}

[[nodiscard]] Finding failed_request(const Snapshot& snapshot, const MemoryPressure& pressure) {
  const FailedRequest& first = pressure.failures.front();
  Finding found = memory_finding(RuleId::out_of_memory, first.source);
  found.is_error = true;
  found.headline = pressure_text(pressure);
  found.tab = "Out of memory";
  found.count = pressure.failures.size();
  found.first = first.event;
  found.source = first.source;
  found.evidence = first.holders.empty() ? "" : "held by " + holders_text(first.holders, first.held);
  if (first.reserved > first.held) {
    found.evidence += fmt::format("{}{} are reserved and free, in pieces too small", found.evidence.empty() ? "" : "; ",
                                  format_bytes(first.reserved - first.held));
  }
  if (const LaneSnapshot* lane = snapshot.find_lane(lane_of(first.event))) found.tracks = {lane->track};
  found.events.tracks = found.tracks;
  std::vector<FindingPlace> places;
  for (const FailedRequest& each : pressure.failures) places.push_back({{each.ns, each.ns + 1}, failure_text(each)});
  set_places(found, std::move(places));
  return found;
}

}  // namespace

Result<void> judge_memory(const QueryContext& query, Advice& advice) {
  constexpr std::uint64_t kLeastBytes = std::uint64_t{32} << 20;  // a segment or two is how an allocator works
  const QueryContext whole = query.unmasked();
  const auto tells = [](const LaneSnapshot& lane) {
    return lane.schema && lane.event_count > 0 && (lane.schema->find(Role::reserved) || is_failure_table(*lane.schema));
  };
  if (std::ranges::none_of(query.snapshot->lanes, tells)) return {};
  const auto usage = TRY(memory_usage(whole));
  const auto pressure = TRY(memory_pressure(whole, *usage));
  if (!pressure.failures.empty()) {
    advice.judged.push_back(&rule_of(RuleId::out_of_memory));
    advice.findings.push_back(failed_request(*query.snapshot, pressure));
  }
  bool any_held = false;
  for (const PoolPressure& pool : pressure.pools) {
    if (pool.reserved == 0) continue;
    any_held = true;
    const AdviceRule& rule = rule_of(RuleId::held_memory);
    const auto share = static_cast<double>(pool.free) / static_cast<double>(pool.reserved);
    const bool scattered = share > rule.threshold && pool.free >= kLeastBytes;
    if (!scattered && pool.empty_bytes < kLeastBytes) continue;
    Finding found = memory_finding(RuleId::held_memory, pool.name);
    found.device = usage->pools[pool.pool].device;
    found.count = std::max<std::uint64_t>(1, pool.empty_segments);
    if (scattered) {
      found.headline =
          fmt::format("{}: {} of {} reserved are free at the peak, {} together at most", pool.name,
                      format_bytes(pool.free), format_bytes(pool.reserved), format_bytes(pool.largest_free));
    }
    if (pool.empty_segments > 0) {
      found.headline += fmt::format(
          "{}{} of {} stay{} empty in the end", found.headline.empty() ? pool.name + ": " : "; ",
          counted(pool.empty_segments, "segment"), format_bytes(pool.empty_bytes), pool.empty_segments == 1 ? "s" : "");
    }
    found.tab = pool.name + " held and free";
    found.evidence = pool.holders.empty() ? "" : "at the peak held by " + holders_text(pool.holders, pool.held);
    set_places(found, {{{pool.peak.ns, pool.peak.ns + 1}, ""}});
    advice.findings.push_back(std::move(found));
  }
  if (any_held) advice.judged.push_back(&rule_of(RuleId::held_memory));
  return {};
}

}  // namespace accelscope::analysis
