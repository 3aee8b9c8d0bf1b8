// The rules about chips whose many cores run a program together, run after run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/analysis/advice/judgement.h"
#include "core/base/format.h"

namespace accelscope {
namespace {

std::string time_of(double ns) { return format_duration(ns); }

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
    places.push_back({{run.begin_ns, run.end_ns}, fmt::format("longest core {} over the mean", time_of(over))});
    if (worst == nullptr || over > static_cast<double>(worst->longest_ns) - worst->mean_ns) worst = &run;
  }
  if (!any || !judgement.judges(RuleId::unbalanced_cores) || worst == nullptr) return;
  Finding found = judgement.finding(RuleId::unbalanced_cores, device, lost);
  const auto most = std::max_element(slowest.begin(), slowest.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const TrackSnapshot* track = judgement.snapshot().find_track(most->first);
  std::string core = track == nullptr ? "" : track->track->name;
  core = core.substr(0, core.rfind(' '));
  found.count = places.size();
  found.first = worst->event;
  found.headline = fmt::format("{} of {} runs wait for their slowest core, most for {}", format_count(places.size()),
                               format_count(device.runs.size()), core);
  found.tab = fmt::format("waits for {}", core);
  set_places(found, std::move(places));
  judgement.tell(std::move(found));
}

void judge_dispatch(const Judgement& judgement, const DeviceSum& device) {
  if (device.runs.size() < 2 || !judgement.judges(RuleId::dispatch_gaps)) return;
  const auto least = static_cast<std::int64_t>(rule_of(RuleId::dispatch_gaps).threshold);
  std::int64_t reached = device.runs.front().end_ns, lost = 0;
  std::vector<FindingPlace> places;
  for (const ProgramRun& run : device.runs) {
    if (run.begin_ns - reached > least) {
      lost += run.begin_ns - reached;
      places.push_back({{reached, run.begin_ns}, ""});
    }
    reached = std::max(reached, run.end_ns);
  }
  if (places.empty()) return;
  Finding found = judgement.finding(RuleId::dispatch_gaps, device, static_cast<double>(lost));
  found.count = places.size();
  found.headline = fmt::format("{} idle {} in {} between runs", device.device, time_of(static_cast<double>(lost)),
                               count_text(places.size(), "gap"));
  found.tab = "no run dispatched";
  set_places(found, std::move(places));
  judgement.tell(std::move(found));
}

}  // namespace

void judge_cores(const Judgement& judgement, const DeviceSum& device) {
  if (device.runs.empty()) return;
  judge_balance(judgement, device);
  judge_dispatch(judgement, device);
}

}  // namespace accelscope
