// The rules about devices of engines that run programs of their own.
#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/dependencies/wait_causes.h"
#include "core/analysis/figures/metrics.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/format.h"

namespace accelscope::analysis {
namespace {

// Engines pause between kernels for less.
constexpr std::int64_t kLeastEngineGapNs = 5'000;
constexpr std::string_view kEngineGapsReported =
    "gaps of 5 µs and more in which no device does anything, for 5 % of the time and more";
constexpr double kLeastWaitShare = 0.1;  // of the active time: less explains little

std::string track_name(const Judgement& judgement, TrackNumber number) {
  const TrackSnapshot* track = judgement.snapshot().find_track(number);
  return track == nullptr ? std::string() : track->track->name;
}

const EngineSum* busiest_engine(const DeviceSum& device) {
  const auto busiest = std::ranges::max_element(device.engines, {}, &EngineSum::busy_ns);
  return busiest == device.engines.end() ? nullptr : &*busiest;
}

void judge_starved(const Judgement& judgement, const DeviceSum& device) {
  if (device.transfer_tracks.empty() || !judgement.judges(RuleId::starved)) return;
  const std::int64_t alone = device.alone_ns(WorkUnit::transfer);
  if (share_of(alone, device.active_ns()) <= rule_of(RuleId::starved).threshold) return;
  const std::int64_t hidden = std::min(alone, device.alone_ns(WorkUnit::compute));
  Finding found = judgement.finding(RuleId::starved, device, static_cast<double>(hidden));
  found.headline =
      fmt::format("{} loads with nothing else under way for {} of {}: loading ahead would hide {}", device.device,
                  format_duration(alone), format_duration(device.active_ns()), format_duration(hidden));
  found.repairs = device.transfers_alone;
  found.tab = fmt::format("DMA alone {}", format_share(share_of(alone, device.active_ns())));
  found.count = 1;
  judgement.tell(std::move(found));
}

void judge_throttling(const Judgement& judgement, const DeviceSum& device) {
  if (!device.has_limits) return;
  judgement.judged(RuleId::throttling);
  if (device.throttled.count == 0 || device.throttled_ns <= rule_of(RuleId::throttling).threshold) return;
  Finding found = judgement.finding(RuleId::throttling, device, device.throttled_ns, device.throttled, {});
  found.headline = throttled_text(device);
  found.evidence = throttled_kinds(judgement.snapshot(), device);
  found.tab = throttled_tab(device);
  judgement.tell(std::move(found));
}

void judge_matrix(const Judgement& judgement, const DeviceSum& device) {
  if (!device.has_matrix) return;
  judgement.judged(RuleId::transposes);
  const std::int64_t transposing = device.transposes.time.length_ns();
  const std::int64_t multiplying = device.multiplications.time.length_ns();
  if (share_of(transposing, transposing + multiplying) > rule_of(RuleId::transposes).threshold) {
    Finding found = judgement.finding(RuleId::transposes, device, static_cast<double>(transposing), device.transposes,
                                      {std::string(vendors().front().transpose_term)});
    found.headline = fmt::format("{} of the matrix engine's time goes to transposes, {} of them",
                                 format_share(share_of(transposing, transposing + multiplying)),
                                 format_count(device.transposes.count));
    found.tab = fmt::format("transposes {}", format_duration(transposing));
    judgement.tell(std::move(found));
  }
  const DevicePeaks peaks = device_peaks(judgement.snapshot(), device.device);
  if (peaks.flops <= 0 || multiplying <= 0) return;
  judgement.judged(RuleId::low_utilisation);
  const double ideal_ns = device.flops / peaks.flops * 1e9;
  const double used = ideal_ns / static_cast<double>(multiplying);
  if (used >= rule_of(RuleId::low_utilisation).threshold || device.flops <= 0) return;
  Finding found = judgement.finding(RuleId::low_utilisation, device, static_cast<double>(multiplying) - ideal_ns,
                                    device.multiplications, {std::string(vendors().front().multiply_term)});
  found.headline =
      fmt::format("Multiplications use {} of the array in {}", format_share(used), format_duration(multiplying));
  found.tab = fmt::format("array {} used", format_share(used));
  judgement.tell(std::move(found));
}

void judge_serial(const Judgement& judgement, const DeviceSum& device, const EngineSum& busiest) {
  if (device.engines.size() < 2 || !judgement.judges(RuleId::serial_engines)) return;
  const std::int64_t saved = device.compute_ns - busiest.busy_ns;
  if (share_of(saved, device.compute_ns) <= rule_of(RuleId::serial_engines).threshold) return;
  Finding found = judgement.finding(RuleId::serial_engines, device, static_cast<double>(saved));
  found.headline = fmt::format("Engines work {}, the busiest ({}) only {} of it", format_duration(device.compute_ns),
                               track_name(judgement, busiest.track), format_duration(busiest.busy_ns));
  found.tab = fmt::format("engines one after another {}", format_duration(saved));
  found.count = device.engines.size();
  judgement.tell(std::move(found));
}

}  // namespace

std::string throttled_text(const DeviceSum& device) {
  const bool warms_up = 2 * device.warm_up_ns > device.throttled_ns;
  const std::int64_t work_ns = device.multiplications.time.length_ns() + device.transposes.time.length_ns();
  const double share = share_of(device.limited_work_ns, work_ns);
  const std::string part = share > 0 && share <= 1 ? fmt::format(" ({})", format_share(share)) : std::string();
  return fmt::format("{} {} for {} of its multiplications{}, {} of it lost", device.device,
                     warms_up ? "warms up" : "throttled", format_duration(device.limited_work_ns), part,
                     format_duration(device.throttled_ns));
}
std::string throttled_kinds(const Snapshot& snapshot, const DeviceSum& device) {
  std::vector<std::pair<std::int64_t, std::string_view>> kinds;
  for (const auto& [name, length_ns] : device.limits_ns) kinds.emplace_back(length_ns, snapshot.strings->text(name));
  std::ranges::sort(kinds, std::ranges::greater{});
  std::string text;
  for (const auto& [length_ns, name] : kinds)
    text += fmt::format("{}{} for {}", text.empty() ? "limits in force: " : ", ", name, format_duration(length_ns));
  return text;
}
std::string throttled_tab(const DeviceSum& device) {
  return fmt::format("{} {}", 2 * device.warm_up_ns > device.throttled_ns ? "warms up" : "throttled",
                     format_duration(device.limited_work_ns));
}

// What all devices stand idle at once: one alone may wait for another rank.
void judge_engine_gaps(const Judgement& judgement, const std::vector<DeviceSum>& devices) {
  const DeviceSum* first = nullptr;
  Stretches shared;
  for (const DeviceSum& each : devices) {
    if (!each.is_of_engines()) continue;
    shared = first == nullptr ? each.gap_stretches() : shared_parts(each.gap_stretches(), shared);
    if (first == nullptr) first = &each;
  }
  if (first == nullptr || !judges_gaps(judgement)) return;
  const DeviceSum& device = *first;
  std::vector<FindingPlace> places;
  std::int64_t idle = 0;
  for (const auto& [begin, end] : shared) {
    if (end - begin < kLeastEngineGapNs) continue;
    idle += end - begin;
    places.push_back({{begin, end}, ""});
  }
  Finding found = judgement.finding(RuleId::launch_gaps, device, static_cast<double>(idle));
  found.least_ns = found.saving_ns;  // nothing of any device is under way meanwhile
  found.reported = kEngineGapsReported;
  found.headline =
      fmt::format("{} idle {} in {}, {} of {}", device.device, format_duration(idle), counted(places.size(), "gap"),
                  format_share(found.share), format_duration(device.stretch.length_ns()));
  found.tab = "idle, nothing launched";
  found.count = places.size();
  set_places(found, std::move(places));
  judgement.tell(std::move(found));
}

Result<void> judge_engines(const Judgement& judgement, const DeviceSum& device) {
  judge_throttling(judgement, device);
  const EngineSum* const busiest = busiest_engine(device);
  if (!device.is_of_engines() || busiest == nullptr) return {};
  judge_starved(judgement, device);
  judge_matrix(judgement, device);
  judge_serial(judgement, device, *busiest);
  return {};
}

// What keeps an engine waiting is one of the causes that are told of its device.
Result<void> add_waits(const Judgement& judgement, const DeviceSum& device) {
  const EngineSum* const busiest = busiest_engine(device);
  if (!device.is_of_engines() || !device.has_waits || busiest == nullptr || judgement.filtered) return {};
  std::vector<Finding*> explained;
  constexpr RuleId kOfWaits[] = {RuleId::reloaded_tensor, RuleId::spills,          RuleId::starved,
                                 RuleId::serial_engines,  RuleId::single_buffer,   RuleId::reread_inputs,
                                 RuleId::late_collective, RuleId::transfers_alone, RuleId::small_transfers};
  for (Finding& each : judgement.advice.findings) {
    const bool of_waits = std::find(std::begin(kOfWaits), std::end(kOfWaits), each.rule->id) != std::end(kOfWaits);
    if (of_waits && each.device == device.device && each.evidence.empty()) explained.push_back(&each);
  }
  if (explained.empty()) return {};
  EventFilter engine;
  engine.range = device.stretch;
  engine.tracks = {busiest->track};
  const auto waits = TRY(range_waits(judgement.query, engine, judgement.dependencies));
  const std::int64_t idle = std::max<std::int64_t>(0, device.active_ns() - busiest->busy_ns);
  const std::int64_t waited = std::min(waits.wait_ns, idle);
  if (share_of(waited, device.active_ns()) <= kLeastWaitShare) return {};
  std::string text = fmt::format("{}, the busiest engine, waits {} of {}", track_name(judgement, busiest->track),
                                 format_duration(waited), format_duration(device.active_ns()));
  if (!waits.causes.empty()) {
    const WaitCause& most = waits.causes.front();
    text += fmt::format(", {} for {}", format_share(share_of(most.wait_ns, waits.wait_ns)), most.name);
  }
  for (Finding* each : explained) each->evidence = text;
  return {};
}

}  // namespace accelscope::analysis
