// The rules about chips whose many cores run a program together, run after run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/time/stretches.h"
#include "core/base/format.h"

namespace accelscope::analysis {
namespace {

void judge_balance(const Judgement& judgement, const DeviceSum& device) {
  if (device.zones_left_out > 0) {
    return judgement.not_judged(RuleId::unbalanced_cores,
                                fmt::format("needs a range of fewer kernels of cores: {} of {} could not be kept",
                                            format_count(device.zones_left_out), device.device));
  }
  double lost = 0;
  std::map<TrackNumber, double> slowest;
  std::vector<FindingPlace> places;
  const ProgramRun* worst = nullptr;
  bool any = false;
  for (const ProgramRun& run : device.runs) {
    any = any || run.cores > 1;
    const double over = static_cast<double>(run.longest_ns) - run.mean_ns;
    if (run.cores < 2 || over <= rule_of(RuleId::unbalanced_cores).threshold * run.mean_ns) continue;
    lost += over;
    slowest[run.longest_track] += over;
    places.push_back({{run.begin_ns, run.end_ns}, fmt::format("longest core {} over the mean", format_duration(over))});
    if (worst == nullptr || over > static_cast<double>(worst->longest_ns) - worst->mean_ns) worst = &run;
  }
  if (!any || !judgement.judges(RuleId::unbalanced_cores) || worst == nullptr) return;
  Finding found = judgement.finding(RuleId::unbalanced_cores, device, lost);
  found.least_ns = found.saving_ns;  // times of cores are known, and so is what an even split takes
  const auto most = std::ranges::max_element(slowest, {}, [](const auto& each) { return each.second; });
  const TrackSnapshot* track = judgement.snapshot().find_track(most->first);
  std::string core = track == nullptr ? "" : track->track->name;
  core = core.substr(0, core.rfind(' '));
  found.count = places.size();
  found.first = worst->event;
  found.headline = fmt::format("Cores have unequal work in {} of {} runs, the most on {}", format_count(places.size()),
                               format_count(device.runs.size()), core);
  found.tab = fmt::format("{} has most to do", core);
  set_places(found, std::move(places));
  judgement.tell(std::move(found));
}

struct CoreWaitRule {
  RuleId rule;
  std::int64_t ProgramRun::*waited_ns;
  std::int64_t ProgramRun::*without_ns;
  std::string_view what, cause;
};
constexpr CoreWaitRule kCoreWaitRules[] = {
    {RuleId::waits_for_data, &ProgramRun::data_wait_ns, &ProgramRun::without_data_wait_ns, "data",
     "Readers bring tiles later than computing needs them"},
    {RuleId::waits_for_room, &ProgramRun::room_wait_ns, &ProgramRun::without_room_wait_ns, "room for results",
     "Writers take results away later than computing has the next"},
};

void judge_core_waits(const Judgement& judgement, const DeviceSum& device, const CoreWaitRule& rule) {
  if (!device.has_core_waits || device.zones_left_out > 0 || !judgement.judges(rule.rule)) return;
  double lost = 0, waited = 0, all = 0;
  std::vector<FindingPlace> places;
  const ProgramRun* worst = nullptr;
  for (const ProgramRun& run : device.runs) {
    const auto over = static_cast<double>(run.longest_ns - run.*rule.without_ns);
    all += run.mean_ns * static_cast<double>(run.cores);
    if (over <= rule_of(rule.rule).threshold * static_cast<double>(run.longest_ns)) continue;
    lost += over;
    waited += static_cast<double>(run.*rule.waited_ns);
    places.push_back({{run.begin_ns, run.end_ns}, fmt::format("{} less without waiting", format_duration(over))});
    if (worst == nullptr || over > static_cast<double>(worst->longest_ns - worst->*rule.without_ns)) worst = &run;
  }
  if (worst == nullptr) return;
  Finding found = judgement.finding(rule.rule, device, lost);
  found.least_ns = found.saving_ns;
  found.count = places.size();
  found.first = worst->event;
  found.headline =
      fmt::format("{} in {} of {} runs", rule.cause, format_count(places.size()), format_count(device.runs.size()));
  found.evidence =
      fmt::format("cores wait for {}, {} of their time", rule.what, format_share(all > 0 ? waited / all : 0));
  found.tab = rule.cause;
  set_places(found, std::move(places));
  judgement.tell(std::move(found));
}

void judge_few(const Judgement& judgement, const DeviceSum& device) {
  if (device.zones_left_out > 0 || device.cores < 2 || !judgement.judges(RuleId::few_cores)) return;
  double lost = 0;
  std::size_t fewest = device.cores, of = device.cores;
  std::vector<FindingPlace> places;
  for (const ProgramRun& run : device.runs) {
    // A program that is confined to a part of the chip cannot use the rest.
    const std::size_t cores = device.parts > 1 ? run.part_cores : device.cores;
    const double used = static_cast<double>(run.cores) / static_cast<double>(std::max<std::size_t>(1, cores));
    if (run.cores == 0 || used > rule_of(RuleId::few_cores).threshold) continue;
    lost += static_cast<double>(run.longest_ns) * (1 - used);
    if (run.cores <= fewest) fewest = run.cores, of = cores;
    places.push_back({{run.begin_ns, run.end_ns}, fmt::format("{} cores", format_count(run.cores))});
  }
  if (places.empty()) return;
  Finding found = judgement.finding(RuleId::few_cores, device, lost);
  found.least_ns = found.saving_ns;
  found.count = places.size();
  found.headline =
      fmt::format("{} of {} runs use half of the cores or fewer, down to {} of {}", format_count(places.size()),
                  format_count(device.runs.size()), format_count(fewest), format_count(of));
  found.tab = "cores unused";
  set_places(found, std::move(places));
  judgement.tell(std::move(found));
}

void judge_parts(const Judgement& judgement, const DeviceSum& device) {
  if (device.parts < 2 || !judgement.judges(RuleId::serial_parts)) return;
  std::vector<std::int64_t> works(device.parts, 0);
  Stretches any;
  for (const ProgramRun& run : device.runs) {
    works[run.part] += run.end_ns - run.begin_ns;
    add_stretch(any, run.begin_ns, run.end_ns);
  }
  const std::int64_t all = settle(any), most = *std::max_element(works.begin(), works.end());
  const auto saved = static_cast<double>(std::max<std::int64_t>(0, all - most));
  if (saved <= rule_of(RuleId::serial_parts).threshold * static_cast<double>(all)) return;
  Finding found = judgement.finding(RuleId::serial_parts, device, saved);
  found.count = device.runs.size();
  found.first = device.runs.front().event;
  found.headline =
      fmt::format("{} sub-devices work one after another for {}, the busiest for {} of it", format_count(device.parts),
                  format_duration(static_cast<double>(all)), format_duration(static_cast<double>(most)));
  found.tab = "sub-devices one after another";
  judgement.tell(std::move(found));
}

void judge_dispatch(const Judgement& judgement, const DeviceSum& device) {
  if (device.runs.size() < 2 || !judgement.judges(RuleId::dispatch_gaps)) return;
  const auto least = static_cast<std::int64_t>(rule_of(RuleId::dispatch_gaps).threshold);
  std::int64_t reached = device.runs.front().end_ns, lost = 0;
  std::vector<std::int64_t> usual;
  std::vector<FindingPlace> places;
  for (const ProgramRun& run : device.runs) {
    const std::int64_t gap = run.begin_ns - reached;
    if (gap > least) {
      lost += gap;
      places.push_back({{reached, run.begin_ns}, ""});
    } else if (gap >= 0 && &run != device.runs.data()) {
      usual.push_back(gap);
    }
    reached = std::max(reached, run.end_ns);
  }
  if (places.empty()) return;
  // A run that is there in time begins a usual gap after the one before it.
  std::int64_t retained = 0;
  if (!usual.empty()) {
    const auto middle = usual.begin() + static_cast<std::ptrdiff_t>(usual.size() / 2);
    std::nth_element(usual.begin(), middle, usual.end());
    retained = *middle * static_cast<std::int64_t>(places.size());
  }
  Finding found = judgement.finding(RuleId::dispatch_gaps, device, static_cast<double>(lost - retained));
  found.least_ns = found.saving_ns;
  found.count = places.size();
  found.headline = fmt::format("{} idle {} in {} between runs", device.device,
                               format_duration(static_cast<double>(lost)), counted(places.size(), "gap"));
  found.tab = "no run dispatched";
  set_places(found, std::move(places));
  judgement.tell(std::move(found));
}

}  // namespace

void judge_cores(const Judgement& judgement, const DeviceSum& device) {
  if (device.runs.empty()) return;
  judge_balance(judgement, device);
  for (const CoreWaitRule& each : kCoreWaitRules) judge_core_waits(judgement, device, each);
  judge_few(judgement, device);
  judge_parts(judgement, device);
  judge_dispatch(judgement, device);
}

}  // namespace accelscope::analysis
