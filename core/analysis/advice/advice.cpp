#include "core/analysis/advice/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/time/session_activity.h"
#include "core/analysis/time/session_parts.h"
#include "core/base/format.h"
#include "core/scan/event_mask.h"

namespace accelscope {
namespace {

bool by_length(const FindingPlace& a, const FindingPlace& b) { return a.range.length_ns() > b.range.length_ns(); }

constexpr std::string_view kHeldBack = "needs all events of the range, of which the filter leaves some out";

// Why those rules were not judged of which nothing was said yet.
void tell_unjudged(Advice& advice, bool filtered) {
  for (const AdviceRule& rule : advice_rules()) {
    const bool is_judged = std::find(advice.judged.begin(), advice.judged.end(), &rule) != advice.judged.end();
    const bool is_told = std::any_of(advice.unjudged.begin(), advice.unjudged.end(),
                                     [&rule](const UnjudgedRule& each) { return each.rule == &rule; });
    if (is_judged || is_told) continue;
    advice.unjudged.push_back(
        {&rule, fmt::format("needs {}{}", rule.needs, filtered ? ", of which the filter leaves none" : "")});
  }
  std::stable_sort(advice.unjudged.begin(), advice.unjudged.end(),
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
  const bool is_told = std::any_of(advice.unjudged.begin(), advice.unjudged.end(),
                                   [&](const UnjudgedRule& each) { return each.rule == row && each.why == why; });
  if (!is_told) advice.unjudged.push_back({row, std::move(why)});
}

Finding Judgement::finding(RuleId rule, const DeviceSum& device, double saving_ns, const std::string& subject) const {
  Finding made;
  made.rule = &rule_of(rule);
  made.key = std::string(made.rule->name) + " " + device.device + (subject.empty() ? "" : " " + subject);
  made.device = device.device;
  made.saving_ns = static_cast<std::int64_t>(saving_ns);
  const std::int64_t base = made.rule->base == CostBase::stretch ? device.stretch.length_ns() : device.active_ns();
  made.share = base > 0 ? saving_ns / static_cast<double>(base) : 0;
  made.tracks = device.tracks;
  made.events.range = device.stretch;
  made.events.tracks = device.tracks;
  made.places = {{device.stretch, ""}};
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

std::string count_text(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
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
  if (places.size() > Finding::kMostPlaces) {
    std::nth_element(places.begin(), places.begin() + Finding::kMostPlaces, places.end(), by_length);
    places.resize(Finding::kMostPlaces);
  }
  std::sort(places.begin(), places.end(),
            [](const FindingPlace& a, const FindingPlace& b) { return a.range.begin_ns < b.range.begin_ns; });
  finding.places = std::move(places);
  const auto longest = std::max_element(finding.places.begin(), finding.places.end(),
                                        [](const auto& a, const auto& b) { return by_length(b, a); });
  finding.events.range = longest->range;
}

namespace {

// Adds what is found in a session of one host, or of hosts that work together, and its devices to `all_devices`.
Result<void> judge_part(const QueryContext& query, const EventFilter& filter, const Dependencies& dependencies,
                        Advice& advice, std::vector<DeviceSum>& all_devices) {
  const bool filtered = leaves_out(query, filter);
  QueryContext whole = query;
  whole.mask = nullptr;
  const auto active = find_active_stretch(whole);
  if (!active) return active.error();
  if (!*active) return {};
  EventFilter working = filter;
  const TimeRange wanted = filter.range.value_or(TimeRange{});
  working.range = TimeRange{std::max(wanted.begin_ns, (*active)->begin_ns), std::min(wanted.end_ns, (*active)->end_ns)};
  if (working.range->empty()) return {};
  const auto devices = device_sums(query, working);
  if (!devices) return devices.error();
  const auto host = hosts_by_process(query, *working.range, &dependencies);
  if (!host) return host.error();
  const auto compiling = compile_events(query);
  if (!compiling) return compiling.error();
  const Judgement judgement{query, *working.range, &dependencies, *host, compiling->list, filtered, advice};
  std::unique_ptr<WorkReplay> replay;
  if (!filtered) {
    auto made = WorkReplay::build(query, dependencies, *working.range);
    if (!made) return made.error();
    replay = std::move(made).value();
  }
  judge_engine_gaps(judgement, *devices);
  if (replay) {
    if (const Result<void> judged = judge_replayed(judgement, *devices, *replay); !judged) return judged.error();
    for (const RuleId rule : {RuleId::starved, RuleId::stalls}) {
      judgement.not_judged(rule, "the dependencies of the work say more: what each wait is for is judged");
    }
  }
  for (const DeviceSum& device : *devices) {
    if (!replay) {
      judge_transfers(judgement, device);
      if (const Result<void> judged = judge_engines(judgement, device); !judged) return judged.error();
    }
    if (const Result<void> judged = judge_streams(judgement, device); !judged) return judged.error();
    judge_cores(judgement, device);
  }
  if (!filter.range) {
    if (const Result<void> judged = judge_inputs(judgement, *devices); !judged) return judged.error();
  }
  if (const Result<void> judged = judge_ranks(judgement, *devices); !judged) return judged.error();
  judge_host(judgement);
  judge_setup(judgement, *devices);
  all_devices.insert(all_devices.end(), devices->begin(), devices->end());
  return {};
}

// What is told already, of a host or of what belongs to none, stays as it is.
void take_over(Advice& advice, Advice more) {
  for (const AdviceRule* rule : more.judged) {
    if (std::find(advice.judged.begin(), advice.judged.end(), rule) == advice.judged.end())
      advice.judged.push_back(rule);
  }
  for (UnjudgedRule& rule : more.unjudged) {
    const bool known = std::any_of(advice.unjudged.begin(), advice.unjudged.end(), [&](const UnjudgedRule& each) {
      return each.rule == rule.rule && each.why == rule.why;
    });
    if (!known) advice.unjudged.push_back(std::move(rule));
  }
  const auto told = static_cast<std::ptrdiff_t>(advice.findings.size());
  for (Finding& finding : more.findings) {
    const bool known = std::any_of(advice.findings.begin(), advice.findings.begin() + told,
                                   [&](const Finding& each) { return each.key == finding.key; });
    if (!known) advice.findings.push_back(std::move(finding));
  }
}

// What is of no device is told apart by the host; what is of no host either is in every part, and told once.
void name_host(const SessionPart& part, const Advice& told, Advice& found) {
  if (part.host.empty()) return;
  std::erase_if(found.findings, [&](const Finding& finding) {
    return finding.device.empty() && std::any_of(told.findings.begin(), told.findings.end(), [&](const Finding& each) {
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
  const HostsByProcess no_host;
  const std::vector<CompileEvent> no_compiling;
  Advice between;
  between.filter = filter;
  const Judgement judgement{query,        filter.range.value_or(TimeRange{}), &dependencies, no_host,
                            no_compiling, leaves_out(query, filter),          between};
  if (const Result<void> judged = judge_ranks(judgement, devices); !judged) return judged.error();
  take_over(advice, std::move(between));
  return {};
}

}  // namespace

Result<std::shared_ptr<const Advice>> find_advice(const QueryContext& query, const EventFilter& filter,
                                                  const Dependencies* dependencies) {
  auto advice = std::make_shared<Advice>();
  advice->snapshot_version = query.snapshot->version;
  advice->filter = filter;
  std::shared_ptr<const Dependencies> built;
  if (dependencies == nullptr) {
    QueryContext whole = query;
    whole.mask = nullptr;
    auto own = Dependencies::build(whole);
    if (!own) return own.error();
    built = std::move(*own);
    dependencies = built.get();
  }
  const std::vector<SessionPart> parts = session_parts(query.snapshot);
  std::vector<DeviceSum> devices;
  for (const SessionPart& part : parts) {
    Advice found;
    found.filter = filter;
    const Result<void> judged = judge_part(part_of(query, part), filter, *dependencies, found, devices);
    if (!judged) return judged.error();
    name_host(part, *advice, found);
    take_over(*advice, std::move(found));
  }
  if (parts.size() > 1) {
    const Result<void> judged = judge_between(query, filter, *dependencies, *advice, devices);
    if (!judged) return judged.error();
  }
  tell_unjudged(*advice, leaves_out(query, filter));
  std::stable_sort(advice->findings.begin(), advice->findings.end(),
                   [](const Finding& a, const Finding& b) { return a.saving_ns > b.saving_ns; });
  return std::shared_ptr<const Advice>(std::move(advice));
}

std::string advice_text(const Advice& advice) {
  if (advice.findings.empty()) return "";
  const Finding& top = advice.findings.front();
  return fmt::format("{}, {} {}", top.headline, top.is_replayed ? "saves" : "up to",
                     format_duration(static_cast<double>(top.saving_ns)));
}

std::string judged_text(const Advice& advice) {
  return fmt::format("{} of {} rules could be judged", advice.judged.size(), kRuleCount);
}

std::string unjudged_text(const Advice& advice) {
  std::vector<std::pair<std::string, std::string>> by_reason;  // reason, titles
  for (const UnjudgedRule& each : advice.unjudged) {
    const auto known = std::find_if(by_reason.begin(), by_reason.end(),
                                    [&each](const auto& entry) { return entry.first == each.why; });
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

}  // namespace accelscope
