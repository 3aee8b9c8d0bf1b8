// The rules about devices that a host feeds through streams, and about the host.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/advice/words.h"
#include "core/analysis/time/stretches.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/format.h"
#include "core/names/name_forms.h"

namespace accelscope::analysis {
namespace {

// The gaps of one cause.
struct CauseSum {
  std::int64_t length_ns = 0;
  std::vector<FindingPlace> places;
  std::map<StringId, std::int64_t> calls;  // the gaps' time by the call that caused them
  HostSpan longest_call;
  std::int64_t longest_ns = 0;
};

CauseSum sum_cause(const Judgement& judgement, const std::vector<IdleGap>& gaps, IdleCause cause) {
  CauseSum sum;
  for (const IdleGap& each : gaps) {
    if (each.cause != cause) continue;
    sum.length_ns += each.gap.length_ns();
    FindingPlace place{{each.gap.begin_ns, each.gap.end_ns}, ""};
    if (cause != IdleCause::launching) {
      sum.calls[each.call.name] += each.gap.length_ns();
      if (each.gap.length_ns() > sum.longest_ns) {
        sum.longest_ns = each.gap.length_ns();
        sum.longest_call = each.call;
      }
      const std::string call = usual_name(judgement.snapshot().strings->text(each.call.name));
      place.note = cause == IdleCause::synchronising
                       ? fmt::format("after {}", call)
                       : fmt::format("host in {} {}", call, format_duration(each.shared_ns));
    }
    sum.places.push_back(std::move(place));
  }
  return sum;
}

std::string main_call(const Judgement& judgement, const CauseSum& sum) {
  const auto most = std::ranges::max_element(sum.calls, {}, [](const auto& each) { return each.second; });
  return most == sum.calls.end() ? "" : usual_name(judgement.snapshot().strings->text(most->first));
}

// What a device would be spared without one of its host's delays: by a replay, or else at most.
struct DelaySaving {
  std::int64_t ns = 0;
  bool is_replayed = false;
};
DelaySaving saving_without(const Judgement& judgement, const DeviceSum& device, HostDelay delay,
                           std::int64_t at_most_ns) {
  const auto replayed = judgement.saving_without(device, delay);
  return {replayed.value_or(at_most_ns), replayed.has_value()};
}

Finding gap_finding(const Judgement& judgement, RuleId rule, const DeviceSum& device, CauseSum& sum,
                    const DelaySaving& saving) {
  Finding found = judgement.finding(rule, device, static_cast<double>(saving.ns));
  found.is_replayed = saving.is_replayed;
  found.tracks.insert(found.tracks.end(), device.transfer_tracks.begin(), device.transfer_tracks.end());
  found.events.tracks = found.tracks;
  found.count = sum.places.size();
  found.first = sum.longest_call.event;
  set_places(found, std::move(sum.places));
  return found;
}

// Where the host was in the longest gaps.
void name_host_calls(const Judgement& judgement, const std::vector<HostProcess>& processes, Finding& finding) {
  constexpr std::size_t kNamedGaps = 24;
  if (processes.empty()) return;
  std::vector<FindingPlace*> longest;
  for (FindingPlace& each : finding.places) longest.push_back(&each);
  const std::size_t named = std::min(kNamedGaps, longest.size());
  std::partial_sort(
      longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(named), longest.end(),
      [](const FindingPlace* a, const FindingPlace* b) { return a->range.length_ns() > b->range.length_ns(); });
  HostWatch watch(judgement.query, processes);
  for (std::size_t i = 0; i < named; ++i) {
    const std::optional<HostSpan> call = watch.at(longest[i]->range);
    if (!call) continue;
    longest[i]->note = "host in " + usual_name(judgement.snapshot().strings->text(call->name));
    if (i == 0) finding.first = call->event;
  }
}

std::vector<const HostSpans*> hosts_of(const Judgement& judgement, const DeviceSum& device) {
  std::vector<const HostSpans*> hosts;
  for (const HostProcess& process : judgement.host.processes_of(device))
    hosts.push_back(&judgement.host.by_process.at(process));
  return hosts;
}

// Most kernels are, and the device waits before them: else their launches only cost a host that has time.
bool has_tiny(const DeviceSum& device) {
  const double share = share_of(device.tiny_pauses_ns, device.stretch.length_ns());
  return 2 * device.tiny_kernels > device.kernels && share >= rule_of(RuleId::tiny_kernels).least_share;
}

// The host is late because what it launches is small: told once, as tiny kernels.
bool is_late_by_size(const Judgement& judgement, const DeviceSum& device) {
  constexpr double kMost = 0.9;
  if (!has_tiny(device)) return false;
  const auto own = judgement.saving_without(device, HostDelay::own);
  const auto tiny = judgement.saving_without(device, HostDelay::tiny_launches);
  return own && tiny && static_cast<double>(*tiny) >= kMost * static_cast<double>(*own);
}

// How much of a device's work graphs of kernels launched that were captured before.
double graph_share(const Judgement& judgement, const DeviceSum& device) {
  const Snapshot& snapshot = judgement.snapshot();
  EventReader reader(judgement.query.store, judgement.query.snapshot);
  if (judgement.dependencies == nullptr) return 0;
  constexpr std::size_t kLooked = 2'000;
  const std::vector<Dependency>& all = judgement.dependencies->all();
  const std::size_t step = std::max<std::size_t>(1, all.size() / kLooked);
  std::int64_t launched = 0, by_graph = 0;
  for (std::size_t i = 0; i < all.size(); i += step) {
    const LaneSnapshot* const lane = snapshot.find_lane(lane_of(all[i].target));
    if (lane == nullptr || std::find(device.tracks.begin(), device.tracks.end(), lane->track) == device.tracks.end())
      continue;
    const auto call = reader.read(all[i].source);
    if (!call) continue;
    ++launched;
    if (replays_graph(snapshot.strings->text(call->name))) ++by_graph;
  }
  return share_of(by_graph, launched);
}

// Whether they launched most of it: looked at once, where it is told.
class GraphLaunches {
 public:
  GraphLaunches(const Judgement& judgement, const DeviceSum& device) : judgement_(judgement), device_(device) {}
  [[nodiscard]] bool are_most() {
    constexpr double kMost = 0.5;
    if (!share_) share_ = graph_share(judgement_, device_);
    return *share_ > kMost;
  }

 private:
  const Judgement& judgement_;
  const DeviceSum& device_;
  std::optional<double> share_;
};

constexpr std::string_view kGraphRemedy =
    "The work is replayed from graphs already: prepare the next launch while this one runs (inputs, sampling, checks "
    "on the host), launch it before this one ends, or put several steps into one graph.";

constexpr std::string_view kUnseenHostRemedy =
    "Record the host's calls too, so that these gaps have a cause (rocprofv3 --hip-trace, nsys -t cuda, activities of "
    "the CPU in torch.profiler).";

// Calls that free memory while the device idles; returns what of its gaps lies in them.
Stretches judge_freeing(const Judgement& judgement, const DeviceSum& device, const std::vector<IdleGap>& gaps) {
  if (!judgement.judges(RuleId::freeing)) return {};
  CauseSum freeing = sum_cause(judgement, gaps, IdleCause::freeing);
  if (static_cast<double>(freeing.places.size()) < rule_of(RuleId::freeing).threshold) return {};
  Stretches calls, idle;
  for (const HostSpans* host : hosts_of(judgement, device)) {
    for (const HostSpan& each : host->freeing) add_stretch(calls, each.begin_ns, each.end_ns);
  }
  settle(calls);
  for (const FindingPlace& each : freeing.places) idle.emplace_back(each.range.begin_ns, each.range.end_ns);
  Stretches repairs = shared_parts(idle, calls);
  const std::int64_t inside = settle(repairs);
  const std::string call = main_call(judgement, freeing);
  Finding found = gap_finding(judgement, RuleId::freeing, device, freeing, {inside, false});
  found.repairs = repairs;
  found.headline = fmt::format("{} idle {} in {} while the host is in {}", device.device, format_duration(inside),
                               counted(found.count, "gap"), call);
  found.tab = fmt::format("host in {}", call);
  judgement.tell(std::move(found));
  return repairs;
}

// Adds what of gaps in which memory is freed is not told as that: the host launches late in them too.
void add_rest(CauseSum& launching, const std::vector<IdleGap>& gaps, const Stretches& reported) {
  for (const IdleGap& each : gaps) {
    if (each.cause != IdleCause::freeing) continue;
    const std::int64_t left = each.gap.length_ns() - shared_ns(reported, each.gap.begin_ns, each.gap.end_ns);
    if (left < kLeastGapNs) continue;
    launching.length_ns += left;
    launching.places.push_back({{each.gap.begin_ns, each.gap.end_ns}, ""});
  }
}

// A gap that begins while the host waits goes on for what the host does then, where a replay without such waits leaves
// most of them.
void put_down_to_host(const Judgement& judgement, const DeviceSum& device, std::vector<IdleGap>& gaps) {
  for (const bool copies : {false, true}) {
    const auto saved = judgement.saving_without(device, copies ? HostDelay::copying : HostDelay::synchronising);
    const auto is_one = [&](const IdleGap& each) {
      return each.cause == IdleCause::synchronising && each.call.copies == copies;
    };
    std::int64_t length = 0;
    for (const IdleGap& each : gaps) length += is_one(each) ? each.gap.length_ns() : 0;
    if (!saved || 2 * *saved >= length) continue;
    for (IdleGap& each : gaps) {
      if (is_one(each)) each.cause = IdleCause::launching;
    }
  }
}

Result<void> judge_gaps(const Judgement& judgement, const DeviceSum& device, GraphLaunches& graphs) {
  if (!judges_gaps(judgement)) return {};
  const auto saved = [&](HostDelay delay) { return saving_without(judgement, device, delay, 0).ns; };
  const bool waits_most = saved(HostDelay::synchronising) > saved(HostDelay::loading);
  auto gaps = TRY(idle_causes(device.gaps, hosts_of(judgement, device), judgement.query.control,
                              waits_most ? IdleCause::synchronising : IdleCause::loading));
  put_down_to_host(judgement, device, gaps);
  const std::int64_t span = device.stretch.length_ns();
  const Stretches freeing = judgement.host.has_host() ? judge_freeing(judgement, device, gaps) : Stretches();
  CauseSum launching = sum_cause(judgement, gaps, IdleCause::launching);
  add_rest(launching, gaps, freeing);
  const std::int64_t late = launching.length_ns;
  DelaySaving saving = saving_without(judgement, device, HostDelay::own, late);
  const double most = rule_of(RuleId::launch_gaps).threshold;
  const bool idles = share_of(late, span) > most;
  // Where most of its gaps have another cause that one is told.
  const bool leads =
      saving.is_replayed && share_of(saving.ns, span) > most && 2 * late >= length_of(device.gap_stretches());
  if ((idles || leads) && !launching.places.empty() && !is_late_by_size(judgement, device)) {
    if (!freeing.empty()) saving = {std::min(saving.ns, late), false};  // the replay is without those calls too
    Finding found = gap_finding(judgement, RuleId::launch_gaps, device, launching, saving);
    found.headline =
        fmt::format("{} idle {} in {}, {} of {}", device.device, format_duration(late), counted(found.count, "gap"),
                    format_share(share_of(late, span)), format_duration(span));
    found.tab = "idle, nothing launched";
    if (!idles) {
      found.headline = fmt::format("The host's own work sets the pace of {}: idle {} of {}", device.device,
                                   format_duration(late), format_duration(span));
      found.tab = "led by its host";
    }
    const std::vector<HostProcess> processes = judgement.host.processes_of(device);
    name_host_calls(judgement, processes, found);
    if (processes.empty()) {
      found.is_unexplained = true;
      found.headline += ", no call of a host was recorded";
      found.remedy = kUnseenHostRemedy;
    }
    if (graphs.are_most()) found.remedy = kGraphRemedy;
    judgement.tell(std::move(found));
  }
  if (!judgement.host.has_host()) return {};
  if (!judgement.judges(RuleId::synchronising)) return {};
  // What calls cost that wait for their own copies is told of the copies, where a replay knows it.
  if (judgement.saving_without(device, HostDelay::copying))
    std::erase_if(gaps, [](const IdleGap& each) { return each.cause == IdleCause::synchronising && each.call.copies; });
  CauseSum synchronising = sum_cause(judgement, gaps, IdleCause::synchronising);
  if (synchronising.length_ns > 0) {
    const std::string call = main_call(judgement, synchronising);
    const std::int64_t idle = synchronising.length_ns;
    Finding drained = gap_finding(judgement, RuleId::synchronising, device, synchronising,
                                  saving_without(judgement, device, HostDelay::synchronising, idle));
    drained.headline = fmt::format("{} idle {} after {}, most after {}", device.device, format_duration(idle),
                                   counted(drained.count, "synchronising call"), call);
    drained.tab = fmt::format("idle after {}", call);
    judgement.tell(std::move(drained));
  }
  if (!judgement.judges(RuleId::loader_waits)) return {};
  CauseSum loading = sum_cause(judgement, gaps, IdleCause::loading);
  if (loading.length_ns == 0) return {};
  const std::string loader = main_call(judgement, loading);
  const std::int64_t idle = loading.length_ns;
  Finding waiting = gap_finding(judgement, RuleId::loader_waits, device, loading,
                                saving_without(judgement, device, HostDelay::loading, idle));
  waiting.headline = fmt::format("{} idle {} in {} while the host is in {}", device.device, format_duration(idle),
                                 counted(waiting.count, "gap"), loader);
  waiting.tab = fmt::format("host in {}", loader);
  judgement.tell(std::move(waiting));
  return {};
}

void judge_tiny(const Judgement& judgement, const DeviceSum& device, GraphLaunches& graphs) {
  if (pauses_are_of_profiler(judgement.snapshot()) || !judgement.judges(RuleId::tiny_kernels)) return;
  if (!has_tiny(device)) return;
  const DelaySaving saving = saving_without(judgement, device, HostDelay::tiny_launches, device.tiny_pauses_ns);
  Finding found = judgement.finding(RuleId::tiny_kernels, device, static_cast<double>(saving.ns), device.tiny,
                                    {fmt::format("duration<{}us", kTinyKernelNs / 1'000)});
  found.is_replayed = saving.is_replayed;
  found.headline = fmt::format("{} of {} kernels are shorter than 5 µs, with {} of pauses before them",
                               format_count(device.tiny_kernels), format_count(device.kernels),
                               format_duration(device.tiny_pauses_ns));
  found.tab = fmt::format("{} tiny kernels", format_count(device.tiny_kernels));
  if (graphs.are_most())
    found.remedy = "The work is replayed from graphs already: fuse kernels (torch.compile), or give each more to do.";
  judgement.tell(std::move(found));
}

void judge_one_stream(const Judgement& judgement, const DeviceSum& device) {
  const auto streams = std::ranges::count_if(device.engines, [](const EngineSum& each) { return each.is_stream; });
  if (device.transfer_tracks.empty() || streams != 1 || !judgement.judges(RuleId::one_stream)) return;
  const std::int64_t copies = device.alone_ns(WorkUnit::transfer);
  if (share_of(copies, device.active_ns()) <= rule_of(RuleId::one_stream).threshold) return;
  const std::int64_t hidden = std::min(copies, device.alone_ns(WorkUnit::compute));
  Finding found = judgement.finding(RuleId::one_stream, device, static_cast<double>(hidden));
  found.headline = fmt::format("Copies alone take {} while the only stream waits; overlap would hide {}",
                               format_duration(copies), format_duration(hidden));
  found.tab = fmt::format("copies alone {}", format_duration(copies));
  found.repairs = device.transfers_alone;
  found.tracks = device.transfer_tracks;
  found.events.tracks = device.transfer_tracks;
  found.count = 1;
  judgement.tell(std::move(found));
}

// Of one program, by begin.
Finding recompiled(const Judgement& judgement, const std::string& what, const std::vector<const CompileEvent*>& events,
                   std::int64_t length_ns) {
  const CompileEvent& first = *events.front();
  const bool is_call = first.basis == CompileBasis::name;
  Finding made;
  made.rule = &rule_of(RuleId::recompilation);
  made.key = std::string(made.rule->name);
  made.remedy = made.rule->remedy;
  made.reported = made.rule->condition;
  made.saving_ns = length_ns;
  made.share = share_of(length_ns, judgement.range.length_ns());
  made.count = events.size();
  made.first = first.event;
  made.headline = fmt::format("{} {} {} times, {} beyond the first", usual_name(what), is_call ? "called" : "compiled",
                              format_count(events.size()), format_duration(length_ns));
  made.tab = fmt::format("compiled {} times", format_count(events.size()));
  made.tracks = {first.track};
  made.events.tracks = made.tracks;
  if (is_call) made.events.terms.push_back({quoted_term("name", what)});
  std::vector<FindingPlace> places;
  for (std::size_t i = 1; i < events.size(); ++i) places.push_back({{events[i]->begin_ns, events[i]->end_ns}, ""});
  set_places(made, std::move(places));
  made.events.range.reset();
  return made;
}

}  // namespace

bool judges_gaps(const Judgement& judgement) {
  if (!pauses_are_of_profiler(judgement.snapshot())) return judgement.judges(RuleId::launch_gaps);
  judgement.not_judged(RuleId::launch_gaps,
                       "needs a run at its own pace: the profiler ran each launch several times, "
                       "and the pauses between are its own");
  return false;
}

Result<void> judge_streams(const Judgement& judgement, const DeviceSum& device) {
  if (!device.has_streams) return {};
  GraphLaunches graphs(judgement, device);
  if (Result<void> judged = judge_gaps(judgement, device, graphs); !judged) return judged;
  if (device.kernels > 0) judge_tiny(judgement, device, graphs);
  judge_one_stream(judgement, device);
  return {};
}

// Of the devices of one host's process that which works first speaks for all.
void judge_setup(const Judgement& judgement, const std::vector<DeviceSum>& devices) {
  constexpr std::int64_t kLeastSetupNs = 1'000'000;
  const DeviceSum* earliest = nullptr;
  for (const DeviceSum& each : devices) {
    if (!each.has_streams || !judgement.host.has_host()) continue;
    if (earliest == nullptr || each.stretch.begin_ns < earliest->stretch.begin_ns) earliest = &each;
  }
  // What is looked at may begin with the work.
  if (earliest == nullptr || judgement.advice.filter.range || !judgement.judges(RuleId::host_setup)) return;
  const std::vector<HostProcess> processes = judgement.host.processes_of(*earliest);
  std::int64_t first = INT64_MAX;
  for (const HostProcess& each : processes) first = std::min(first, judgement.host.by_process.at(each).first_ns);
  const TimeRange setup{first, earliest->stretch.begin_ns};
  if (first == INT64_MAX || setup.length_ns() < kLeastSetupNs) return;
  Finding found = judgement.finding(RuleId::host_setup, *earliest, static_cast<double>(setup.length_ns()));
  found.share = share_of(setup.length_ns(), judgement.range.end_ns - first);
  found.places = {{setup, ""}};
  found.events.range = setup;
  found.count = 1;
  name_host_calls(judgement, processes, found);
  found.headline = fmt::format("{} has nothing to do for {} before its first work{}{}", earliest->device,
                               format_duration(setup.length_ns()), found.places.front().note.empty() ? "" : ", ",
                               found.places.front().note);
  found.tab = "host sets up";
  judgement.tell(std::move(found));
}

// Every rank compiles once for itself.
void judge_host(const Judgement& judgement) {
  if (!judgement.host.has_host() && judgement.compiling.empty()) return;
  judgement.judged(RuleId::recompilation);
  const Snapshot& snapshot = judgement.snapshot();
  const TrackDevices devices(snapshot);
  std::unordered_map<TrackNumber, std::size_t> device_of;
  for (std::size_t track = 0; track < snapshot.tracks.size(); ++track)
    device_of.emplace(snapshot.tracks[track].track->number, devices.of_track(track));
  std::map<std::pair<HostProcess, std::string>, std::vector<const CompileEvent*>> programs;  // by process and program
  for (const CompileEvent& each : judgement.compiling) {
    if (each.what.empty()) continue;  // of which program is not known
    if (each.kind == CompileKind::cache_hit || !judgement.range.holds(each.begin_ns, each.end_ns)) continue;
    programs[{{scope_of(each.track), device_of[each.track]}, each.what}].push_back(&each);
  }
  Finding worst;
  for (const auto& [of, events] : programs) {
    if (static_cast<double>(events.size()) <= rule_of(RuleId::recompilation).threshold) continue;
    Stretches again;
    for (std::size_t i = 1; i < events.size(); ++i) add_stretch(again, events[i]->begin_ns, events[i]->end_ns);
    const std::int64_t length = settle(again);
    if (length > worst.saving_ns) worst = recompiled(judgement, of.second, events, length);
  }
  if (worst.rule != nullptr) judgement.tell(std::move(worst));
}

}  // namespace accelscope::analysis
