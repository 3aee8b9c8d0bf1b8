#include "core/analysis/advice/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/analysis/advice/evidence.h"
#include "core/analysis/advice/judgement.h"
#include "core/analysis/time/session_activity.h"
#include "core/base/capped.h"
#include "core/base/format.h"
#include "core/scan/event_mask.h"

namespace accelscope::analysis {
namespace {

bool by_length(const FindingPlace& a, const FindingPlace& b) { return a.range.length_ns() > b.range.length_ns(); }

constexpr std::string_view kHeldBack = "needs all events of the range, of which the filter leaves some out";

// Why those rules were not judged of which nothing was said yet.
void tell_unjudged(Advice& advice, bool filtered) {
  for (const AdviceRule& rule : advice_rules()) {
    const bool is_judged = std::find(advice.judged.begin(), advice.judged.end(), &rule) != advice.judged.end();
    const bool is_reported =
        std::ranges::any_of(advice.unjudged, [&rule](const UnjudgedRule& each) { return each.rule == &rule; });
    if (is_judged || is_reported || rule.reported) continue;
    advice.unjudged.push_back(
        {&rule, fmt::format("needs {}{}", rule.needs, filtered ? ", of which the filter leaves none" : "")});
  }
  std::ranges::stable_sort(advice.unjudged,
                           [](const UnjudgedRule& a, const UnjudgedRule& b) { return a.rule->id < b.rule->id; });
}

// Whether work inside the range is not looked at. A mask of a range alone leaves out nothing inside it.
bool leaves_out(const QueryContext& query, const EventFilter& filter) {
  if (!filter.tracks.empty()) return true;
  if (!query.mask) return false;
  const EventFilter& mask = query.mask->filter();
  return mask.needs_mask() || !mask.range;
}

}  // namespace

void Judgement::judged(RuleId rule) const {
  const AdviceRule* const row = &rule_of(rule);
  if (std::find(advice.judged.begin(), advice.judged.end(), row) == advice.judged.end()) advice.judged.push_back(row);
}

bool Judgement::judges(RuleId rule) const {
  if (filtered && rule_of(rule).needs_all) {
    not_judged(rule, std::string(kHeldBack));
    return false;
  }
  judged(rule);
  return true;
}

void Judgement::not_judged(RuleId rule, std::string why) const {
  const AdviceRule* const row = &rule_of(rule);
  const bool is_reported = std::ranges::any_of(
      advice.unjudged, [&](const UnjudgedRule& each) { return each.rule == row && each.why == why; });
  if (!is_reported) advice.unjudged.push_back({row, std::move(why)});
}

Finding Judgement::finding(RuleId rule, const DeviceSum& device, double saving_ns, const std::string& subject) const {
  Finding made;
  made.rule = &rule_of(rule);
  made.key = std::string(made.rule->name) + " " + device.device + (subject.empty() ? "" : " " + subject);
  made.device = device.device;
  made.saving_ns = capped_integer(saving_ns);
  const std::int64_t base = made.rule->base == CostBase::stretch ? device.stretch.length_ns() : device.active_ns();
  made.share = base > 0 ? saving_ns / static_cast<double>(base) : 0;
  made.tracks = device.tracks;
  made.events.range = device.stretch;
  made.events.tracks = device.tracks;
  made.places = {{device.stretch, ""}};
  made.remedy = made.rule->remedy;
  made.reported = made.rule->condition;
  return made;
}

Finding Judgement::finding(RuleId rule, const DeviceSum& device, double saving_ns, const EvidenceSum& evidence,
                           std::vector<std::string> terms, const std::string& subject) const {
  Finding made = finding(rule, device, saving_ns, subject);
  made.count = evidence.count;
  made.first = evidence.first;
  made.source = snapshot().strings->text(evidence.costliest_line());
  made.tracks.clear();
  for (const auto& [track, events] : evidence.tracks) made.tracks.push_back(track);
  made.events.tracks = made.tracks;
  made.events.range = evidence.stretch;
  for (std::string& term : terms) made.events.terms.push_back({std::move(term)});
  made.places = {{evidence.stretch, ""}};
  return made;
}

void Judgement::tell(Finding finding) const {
  if (finding.saving_ns <= 0 || finding.share < finding.rule->least_share) return;
  if (!finding.device.empty() && !finding.tracks.empty()) finding.share = std::min(1.0, finding.share);
  advice.findings.push_back(std::move(finding));
}

std::string times_text(double times) {
  return fmt::format("{}×",
                     times >= 9.95 ? format_number(std::round(times)) : format_number(std::round(times * 10) / 10));
}

std::string quoted_term(std::string_view column, std::string_view value) {
  return fmt::format("{}=\"{}\"", column, value);
}

void set_places(Finding& finding, std::vector<FindingPlace> places) {
  if (places.empty()) return;
  if (finding.repairs.empty()) {
    for (const FindingPlace& each : places) finding.repairs.emplace_back(each.range.begin_ns, each.range.end_ns);
    settle(finding.repairs);
  }
  if (places.size() > Finding::kMostPlaces) {
    std::nth_element(places.begin(), places.begin() + Finding::kMostPlaces, places.end(), by_length);
    places.resize(Finding::kMostPlaces);
  }
  std::ranges::sort(places,
                    [](const FindingPlace& a, const FindingPlace& b) { return a.range.begin_ns < b.range.begin_ns; });
  finding.places = std::move(places);
  const auto longest = std::max_element(finding.places.begin(), finding.places.end(),
                                        [](const auto& a, const auto& b) { return by_length(b, a); });
  finding.events.range = longest->range;
}

namespace {

// How far work before a time reaches back from it, or after it on: pieces of work are taken as long as they are longer
// than the idle time that they add.
std::int64_t reach_of(const DeviceSum& side, std::int64_t from_ns, bool before) {
  std::vector<DeviceGap> gaps = side.gaps;
  if (before) std::reverse(gaps.begin(), gaps.end());
  std::int64_t reached = from_ns, near = before ? side.stretch.end_ns : side.stretch.begin_ns, worked = 0;
  for (std::size_t i = 0; i <= gaps.size(); ++i) {
    std::int64_t far = before ? side.stretch.begin_ns : side.stretch.end_ns;
    if (i < gaps.size()) far = before ? gaps[i].end_ns : gaps[i].begin_ns;
    const std::int64_t idle = std::abs(reached - near);
    worked += std::abs(near - far);
    if (idle > worked) return reached;
    reached = far;
    if (i < gaps.size()) near = before ? gaps[i].begin_ns : gaps[i].end_ns;
  }
  return reached;
}

// Kernels say where streams work; copies directly before and after them, one after another, belong to it.
Result<TimeRange> with_copies(const QueryContext& query, TimeRange active) {
  const Snapshot& snapshot = *query.snapshot;
  const bool has_streams =
      std::ranges::any_of(snapshot.tracks, [](const TrackSnapshot& each) { return each.track->kind == "stream"; });
  if (!has_streams) return active;
  const TimeRange before{snapshot.begin_ns, active.begin_ns}, after{active.end_ns, snapshot.end_ns};
  for (const TimeRange& side : {before, after}) {
    if (side.empty()) continue;
    EventFilter filter;
    filter.range = side;
    const auto sums = TRY(device_sums(query, filter));
    for (const DeviceSum& each : sums) {
      if (!each.has_streams || each.stretch.empty()) continue;
      if (side.begin_ns == active.end_ns) {
        active.end_ns = std::max(active.end_ns, reach_of(each, after.begin_ns, false));
      } else {
        active.begin_ns = std::min(active.begin_ns, reach_of(each, before.end_ns, true));
      }
    }
  }
  return active;
}

// What the devices would be spared without what their hosts do; null where no host feeds any.
Result<std::unique_ptr<HostReplay>> replay_hosts(const QueryContext& query, const std::vector<DeviceSum>& devices,
                                                 const HostsByProcess& hosts) {
  LaunchedWork work;
  work.tiny_ns = kTinyKernelNs;
  for (const DeviceSum& device : devices) {
    if (!device.has_streams) continue;
    work.devices.push_back({device.device, device.tracks, device.stretch});
    std::vector<TrackNumber>& tracks = work.devices.back().tracks;
    tracks.insert(tracks.end(), device.transfer_tracks.begin(), device.transfer_tracks.end());
  }
  if (work.devices.empty() || !hosts.has_host()) return std::unique_ptr<HostReplay>();
  for (const auto& [process, host] : hosts.by_process) {
    if (host.loading.empty()) continue;
    Stretches& loading = work.loading[process];
    for (const HostSpan& each : host.loading) add_stretch(loading, each.begin_ns, each.end_ns);
    settle(loading);
  }
  return HostReplay::build(query, work);
}

// Adds what is found in a session of one host, or of hosts that work together, and its devices to `all_devices`.
Result<void> judge_part(const QueryContext& query, const EventFilter& filter, const Dependencies& dependencies,
                        Advice& advice, std::vector<DeviceSum>& all_devices) {
  const bool filtered = leaves_out(query, filter);
  const QueryContext whole = query.unmasked();
  const auto kernels = TRY(find_active_stretch(whole));
  if (!kernels) return {};
  const auto active = TRY(with_copies(whole, *kernels));
  EventFilter working = filter;
  const TimeRange wanted = filter.range.value_or(TimeRange{});
  working.range = TimeRange{std::max(wanted.begin_ns, active.begin_ns), std::min(wanted.end_ns, active.end_ns)};
  if (working.range->empty()) return {};
  const auto devices = TRY(device_sums(query, working));
  const auto host = TRY(hosts_by_process(query, *working.range, &dependencies));
  const auto compiling = TRY(compile_events(query));
  std::unique_ptr<HostReplay> without_host;
  if (!filtered) {
    auto made = TRY(replay_hosts(query, devices, host));
    without_host = std::move(made);
  }
  const Judgement judgement{query,          *working.range,     &dependencies, host,
                            compiling.list, without_host.get(), filtered,      advice};
  std::unique_ptr<WorkReplay> replay;
  if (!filtered) {
    auto made = TRY(WorkReplay::build(query, dependencies, *working.range));
    replay = std::move(made);
  }
  judge_engine_gaps(judgement, devices);
  if (replay) {
    TRY(judge_replayed(judgement, devices, *replay));
    judgement.not_judged(RuleId::starved, "the dependencies of the work say more: what each wait is for is judged");
  }
  for (const DeviceSum& device : devices) {
    if (!replay) {
      judge_transfers(judgement, device);
      TRY(judge_engines(judgement, device));
    }
    TRY(judge_streams(judgement, device));
    judge_cores(judgement, device);
  }
  if (!filter.range) {
    TRY(judge_inputs(judgement, devices));
  }
  if (std::ranges::any_of(devices, [](const DeviceSum& each) { return each.has_streams; })) {
    const auto hotspots = TRY(find_hotspots(query, *working.range));
    judge_products(judgement, devices, hotspots);
    TRY(judge_kernels(judgement, devices, hotspots));
    TRY(judge_memory_bound(judgement, devices, hotspots));
  }
  TRY(judge_operations(judgement, devices));
  TRY(judge_links(judgement, devices));
  const auto collectives = TRY(find_collectives(query));
  TRY(judge_moves(judgement, devices, *collectives, replay != nullptr));
  TRY(judge_ranks(judgement, devices, *collectives));
  judge_host(judgement);
  judge_setup(judgement, devices);
  for (const DeviceSum& device : devices) {
    TRY(add_waits(judgement, device));
  }
  all_devices.insert(all_devices.end(), devices.begin(), devices.end());
  return {};
}

// What is told already, of a host or of what belongs to none, stays as it is.
void take_over(Advice& advice, Advice more) {
  for (const AdviceRule* rule : more.judged) {
    if (std::find(advice.judged.begin(), advice.judged.end(), rule) == advice.judged.end())
      advice.judged.push_back(rule);
  }
  for (UnjudgedRule& rule : more.unjudged) {
    const bool known = std::ranges::any_of(
        advice.unjudged, [&](const UnjudgedRule& each) { return each.rule == rule.rule && each.why == rule.why; });
    if (!known) advice.unjudged.push_back(std::move(rule));
  }
  const auto reported = static_cast<std::ptrdiff_t>(advice.findings.size());
  for (Finding& finding : more.findings) {
    const bool known = std::any_of(advice.findings.begin(), advice.findings.begin() + reported,
                                   [&](const Finding& each) { return each.key == finding.key; });
    if (!known) advice.findings.push_back(std::move(finding));
  }
}

// What is of no device is told apart by the host; what is of no host either is in every part, and told once.
void name_host(const SessionPart& part, const Advice& reported, Advice& found) {
  if (part.host.empty()) return;
  std::erase_if(found.findings, [&](const Finding& finding) {
    return finding.device.empty() && std::ranges::any_of(reported.findings, [&](const Finding& each) {
             return each.rule == finding.rule && each.device.empty() && each.first == finding.first;
           });
  });
  for (Finding& finding : found.findings) {
    if (finding.device.empty()) finding.key += " " + part.host;
  }
}

// What shows only between hosts: who comes last to the collectives of all. What a host alone tells stays as it is.
Result<void> judge_between(const QueryContext& query, const EventFilter& filter, const Dependencies& dependencies,
                           Advice& advice, const std::vector<DeviceSum>& devices) {
  const auto collectives = TRY(find_collectives(query));
  const HostsByProcess no_host;
  const std::vector<CompileEvent> no_compiling;
  Advice between;
  between.filter = filter;
  const Judgement judgement{query,   filter.range.value_or(TimeRange{}), &dependencies, no_host, no_compiling,
                            nullptr, leaves_out(query, filter),          between};
  TRY(judge_ranks(judgement, devices, *collectives));
  take_over(advice, std::move(between));
  return {};
}

// The first error of a device, which the others of it follow.
Finding error_finding(const Snapshot& snapshot, const std::vector<const ReportedError*>& errors, std::uint64_t count) {
  const ReportedError& first = *errors.front();
  Finding found;
  found.rule = &rule_of(RuleId::hardware_error);
  found.key = std::string(found.rule->name) + (first.device.empty() ? "" : " " + first.device);
  found.device = first.device;
  found.is_error = true;
  found.remedy = found.rule->remedy;
  found.reported = found.rule->condition;
  found.count = count;
  found.first = first.incident.event;
  found.source = first.source;
  found.headline = first.name + (first.details.empty() ? "" : ": " + first.details) + " at " +
                   format_duration(first.incident.begin_ns) +
                   (count > 1 ? fmt::format(", the first of {}", counted(count, "error")) : "");
  found.tab = first.name;
  for (const RanAround& each : first.around) {
    if (found.source.empty()) found.source = each.source;
    if (each.under_way && found.evidence.empty()) found.evidence = each.name + " was under way";
  }
  if (const LaneSnapshot* lane = snapshot.find_lane(lane_of(found.first))) found.tracks = {lane->track};
  std::vector<FindingPlace> places;
  for (const ReportedError* each : errors)
    places.push_back(
        {{each->incident.begin_ns, std::max(each->incident.begin_ns + 1, each->incident.end_ns)}, each->name});
  found.events.tracks = found.tracks;
  set_places(found, std::move(places));
  return found;
}

// A program that ran into an error did not do its work: what its time is spent on says nothing.
Result<void> tell_errors(const QueryContext& query, const EventFilter& filter, Advice& advice) {
  const auto report = TRY(report_errors(query, filter));
  const bool any_reported =
      std::ranges::any_of(advice.findings, [](const Finding& each) { return each.rule->id == RuleId::out_of_memory; });
  if (report->errors.empty() || any_reported) return {};  // an allocator's errors are told by what it held
  std::vector<std::pair<std::string, std::vector<const ReportedError*>>> devices;  // in the order of their first errors
  for (const ReportedError& error : report->errors) {
    const auto known = std::ranges::find_if(devices, [&](const auto& each) { return each.first == error.device; });
    if (known == devices.end())
      devices.push_back({error.device, {&error}});
    else
      known->second.push_back(&error);
  }
  advice.judged.push_back(&rule_of(RuleId::hardware_error));
  std::uint64_t left_out = report->left_out;
  for (const auto& [device, errors] : devices) {
    advice.findings.push_back(error_finding(*query.snapshot, errors, errors.size() + std::exchange(left_out, 0)));
  }
  return {};
}

// Whether little is left for the lower one to save once the upper one is mended: by the stretches that they mend, or
// because the device has no time for both.
bool repair_same_time(const Finding& upper, const Finding& lower) {
  const std::int64_t half = lower.saving_ns / 2;
  if (half <= 0 || upper.is_error || upper.rule->once != lower.rule->once) return false;
  if (!upper.repairs.empty() && !lower.repairs.empty()) {
    const std::int64_t left = length_of(lower.repairs) - length_of(shared_parts(upper.repairs, lower.repairs));
    return capped_product<std::int64_t>(2, upper.saving_ns) >= length_of(upper.repairs) && left < half;
  }
  if (upper.device != lower.device || upper.share <= 0 || lower.share <= 0 || upper.rule->base != lower.rule->base)
    return false;
  const double whole = static_cast<double>(upper.saving_ns) / upper.share;
  return static_cast<double>(capped_sum(upper.saving_ns, half)) > whole;
}

// Each says which of those above it mend the same time.
void name_shared_time(std::vector<Finding>& findings) {
  constexpr std::size_t kMostNamed = 2, kMostCompared = 200;
  for (std::size_t i = 1; i < std::min(findings.size(), kMostCompared); ++i) {
    for (std::size_t above = 0; above < i && findings[i].same_as.size() < kMostNamed; ++above) {
      if (repair_same_time(findings[above], findings[i])) findings[i].same_as.push_back(findings[above].headline);
    }
  }
}

}  // namespace

Result<std::shared_ptr<const Advice>> find_advice(const QueryContext& query, const EventFilter& filter,
                                                  const Dependencies* dependencies) {
  auto advice = std::make_shared<Advice>();
  advice->snapshot_version = query.snapshot->version;
  advice->filter = filter;
  std::shared_ptr<const Dependencies> built;
  if (dependencies == nullptr) {
    auto own = TRY(session_dependencies(query));
    built = std::move(own);
    dependencies = built.get();
  }
  const std::vector<SessionPart> parts = session_parts(query.snapshot);
  std::vector<DeviceSum> devices;
  for (const SessionPart& part : parts) {
    Advice found;
    found.filter = filter;
    TRY(judge_part(part_of(query, part), filter, *dependencies, found, devices));
    name_host(part, *advice, found);
    take_over(*advice, std::move(found));
  }
  if (parts.size() > 1) {
    TRY(judge_between(query, filter, *dependencies, *advice, devices));
  }
  TRY(judge_memory(query, *advice));
  tell_unjudged(*advice, leaves_out(query, filter));
  TRY(tell_errors(query, filter, *advice));
  for (Finding& finding : advice->findings) {
    if (finding.is_replayed) finding.least_ns = finding.saving_ns;
  }
  std::ranges::stable_sort(advice->findings, [](const Finding& a, const Finding& b) {
    return std::tuple(a.rank(), b.expected_ns(), b.saving_ns) < std::tuple(b.rank(), a.expected_ns(), a.saving_ns);
  });
  name_shared_time(advice->findings);
  return std::shared_ptr<const Advice>(std::move(advice));
}

std::string advice_text(const Advice& advice) {
  const Finding* const top = costliest_finding(advice);
  return top == nullptr ? "" : top->headline + ", " + saving_text(*top);
}

const Finding* reported_error(const Advice& advice) noexcept {
  return advice.findings.empty() || !advice.findings.front().is_error ? nullptr : &advice.findings.front();
}

const Finding* costliest_finding(const Advice& advice) noexcept {
  const auto first = std::ranges::find_if(advice.findings, [](const Finding& each) { return !each.is_error; });
  return first == advice.findings.end() ? nullptr : &*first;
}

std::string saving_text(const Finding& finding) {
  if (finding.is_error) return "";
  if (finding.saving_ns <= 0) return "no time, but memory";
  const std::string most = format_duration(finding.saving_ns);
  if (finding.is_replayed) return "saves " + most;
  const std::string least = format_duration(finding.least_ns);
  if (finding.least_ns <= 0) return "up to " + most;
  return least == most ? "saves " + most : fmt::format("saves {} to {}", least, most);
}

std::string judged_text(const Advice& advice) {
  const auto judged = std::ranges::count_if(advice.judged, [](const AdviceRule* rule) { return !rule->reported; });
  const auto all = std::ranges::count_if(advice_rules(), [](const AdviceRule& rule) { return !rule.reported; });
  return fmt::format("{} of {} rules could be judged", judged, all);
}

std::string unjudged_text(const Advice& advice) {
  std::vector<std::pair<std::string, std::string>> by_reason;  // reason, titles
  for (const UnjudgedRule& each : advice.unjudged) {
    const auto known = std::ranges::find_if(by_reason, [&each](const auto& entry) { return entry.first == each.why; });
    if (known == by_reason.end()) {
      by_reason.emplace_back(each.why, each.rule->title);
    } else {
      known->second += fmt::format(", {}", each.rule->title);
    }
  }
  std::string text;
  for (const auto& [why, titles] : by_reason) text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", titles, why);
  return text.empty() ? "" : "not judged: " + text;
}

}  // namespace accelscope::analysis
