#include "core/analysis/advice/idle_causes.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/capped.h"
#include "core/scan/group_by.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

// What each name of a snapshot means, found when it is first met.
class CallKinds {
 public:
  struct Call {
    HostCallKind kind = HostCallKind::other;
    bool copies = false;
    bool known = false;
  };
  explicit CallKinds(const StringPool& strings) : strings_(&strings), known_(strings.size()) {}
  [[nodiscard]] Call of(StringId name) {
    if (name >= known_.size()) return found(name);
    if (!known_[name].known) known_[name] = found(name);
    return known_[name];
  }

 private:
  [[nodiscard]] Call found(StringId name) const {
    const std::string_view text = strings_->text(name);
    return {host_call_kind(text), text.find("Memcpy") != std::string_view::npos, true};
  }
  const StringPool* strings_;
  std::vector<Call> known_;
};

// Of one thread that reads.
struct SpanGatherer {
  CallKinds kinds;
  static std::vector<HostSpan>& list_of(HostSpans& spans, HostCallKind kind) {
    if (kind == HostCallKind::loads_data) return spans.loading;
    return kind == HostCallKind::frees ? spans.freeing : spans.synchronising;
  }
  std::map<HostProcess, HostSpans> by_process;
  auto measures() { return std::tie(by_process); }

  void add(const ScannedChunk& chunk, const StringPool& strings, const HostProcess& process) {
    HostSpans& spans = by_process[process];
    const WaitNames waits(chunk.lane.schema.get(), strings);
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      const StringId name = block.name(i);
      const CallKinds::Call call = kinds.of(name);
      HostCallKind kind = call.kind;
      if (kind == HostCallKind::other && waits.contains(name)) kind = HostCallKind::synchronises;
      const auto keep = [&](std::vector<HostSpan>& list) {
        if (list.size() < HostSpans::kMost)
          list.push_back({block.begin_ns(i), block.end_ns(i), name, block.id(i), call.copies});
      };
      if (call.copies) keep(spans.copying);
      if (kind != HostCallKind::other) keep(list_of(spans, kind));
    });
  }
};

bool begins_before(const HostSpan& a, const HostSpan& b) {
  if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
  return a.end_ns != b.end_ns ? a.end_ns > b.end_ns : a.event < b.event;
}

// Calls within calls tell no more than the outermost.
void keep_outermost(std::vector<HostSpan>& spans) {
  std::int64_t reached = INT64_MIN;
  std::erase_if(spans, [&](const HostSpan& span) {
    if (span.end_ns <= reached) return true;
    reached = span.end_ns;
    return false;
  });
}

LaneIndices lanes_of_hosts(const Snapshot& snapshot) {
  const WorkKinds kinds(snapshot);
  LaneIndices lanes;
  for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    if (kinds.of_lane(lane) == WorkKind::host && snapshot.lanes[lane].event_count > 0) lanes.push_back(lane);
  }
  return lanes;
}

// By lane; nothing of those that are no host's.
std::vector<std::optional<HostProcess>> processes_of_lanes(const Snapshot& snapshot, const TrackDevices& devices) {
  std::vector<std::optional<HostProcess>> processes(snapshot.lanes.size());
  for (const std::uint32_t lane : lanes_of_hosts(snapshot))
    processes[lane] = HostProcess{scope_of(snapshot.lanes[lane].number()), devices.of_lane(lane)};
  return processes;
}

void find_launching(const Snapshot& snapshot, const TrackDevices& devices, const Dependencies& dependencies,
                    HostsByProcess& calls) {
  const std::vector<std::optional<HostProcess>> hosts = processes_of_lanes(snapshot, devices);
  const WorkKinds kinds(snapshot);
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;  // indices of lanes, of which there are few
  std::unordered_map<LaneNumber, std::uint32_t> index_of;
  for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane)
    index_of.emplace(snapshot.lanes[lane].number(), lane);
  std::pair<LaneNumber, LaneNumber> last{kNone, kNone};
  for (const Dependency& each : dependencies.all()) {
    const std::pair<LaneNumber, LaneNumber> lanes{lane_of(each.source), lane_of(each.target)};
    if (lanes == last) continue;
    last = lanes;
    const auto source = index_of.find(lanes.first), target = index_of.find(lanes.second);
    if (source == index_of.end() || target == index_of.end()) continue;
    if (hosts[source->second] && is_device_work(kinds.of_lane(target->second)))
      pairs.emplace(source->second, target->second);
  }
  for (const auto& [source, target] : pairs) {
    const std::string& device = devices.label(devices.of_lane(target));
    calls.launching[device].insert(*hosts[source]);
    if (kinds.of_lane(target) == WorkKind::compute)
      calls.launching_threads[device].insert(snapshot.lanes[source].track);
  }
}

// The only gap that ends no earlier than the call and begins no later than the call ends; null where there is none.
IdleGap* gap_at_end(std::vector<IdleGap>& gaps, const HostSpan& span) {
  const auto at = std::lower_bound(gaps.begin(), gaps.end(), span.end_ns,
                                   [](const IdleGap& each, std::int64_t ns) { return each.gap.end_ns < ns; });
  return at == gaps.end() || at->gap.begin_ns > span.end_ns ? nullptr : &*at;
}

// Whether a call that ends within a gap is its cause; of several of a kind the one that began last.
bool is_cause(const IdleGap& each, const HostSpan& span, IdleCause cause, std::int64_t both) {
  if (each.cause == cause && begins_before(span, each.call)) return false;
  if (cause == IdleCause::synchronising) return span.begin_ns <= each.gap.begin_ns;
  return capped_product<std::int64_t>(2, both) >= each.gap.length_ns();
}

// A gap that is over before the call is lies between kernels that were queued already: the call ends within its gap.
Result<void> put_down(std::vector<IdleGap>& gaps, const std::vector<HostSpan>& spans, IdleCause cause,
                      const TaskControl& control) {
  constexpr std::size_t kBetweenLooks = 4'096;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i % kBetweenLooks == 0 && control.cancelled()) return cancelled_error();
    const HostSpan& span = spans[i];
    IdleGap* const each = gap_at_end(gaps, span);
    if (each == nullptr) continue;
    const std::int64_t both = std::max<std::int64_t>(0, span.end_ns - std::max(each->gap.begin_ns, span.begin_ns));
    if (is_cause(*each, span, cause, both)) *each = {each->gap, cause, span, both};
  }
  return {};
}

}  // namespace

std::vector<HostProcess> HostsByProcess::processes_of(const DeviceSum& device) const {
  std::vector<HostProcess> processes;
  if (const auto known = launching.find(device.device); known != launching.end()) {
    for (const HostProcess& process : known->second) {
      if (by_process.contains(process)) processes.push_back(process);
    }
  }
  if (!processes.empty()) return processes;
  for (const auto& [process, spans] : by_process) {
    const auto is_its = [own = process.first](TrackNumber track) { return scope_of(track) == own; };
    if (std::ranges::any_of(device.tracks, is_its) || std::ranges::any_of(device.transfer_tracks, is_its)) {
      processes.push_back(process);
    }
  }
  if (!processes.empty()) return processes;
  for (const auto& [process, spans] : by_process) processes.push_back(process);
  return processes;
}

bool HostsByProcess::launches(const std::string& device, const Snapshot& snapshot, const HostSpan& call) const {
  const auto threads = launching_threads.find(device);
  if (threads == launching_threads.end()) return true;
  const LaneSnapshot* const lane = snapshot.find_lane(lane_of(call.event));
  return lane != nullptr && threads->second.contains(lane->track);
}

Result<HostsByProcess> hosts_by_process(const QueryContext& query, const TimeRange& range,
                                        const Dependencies* dependencies) {
  const Snapshot& snapshot = *query.snapshot;
  const LaneIndices lanes = lanes_of_hosts(snapshot);
  const TrackDevices devices(snapshot);
  const std::vector<std::optional<HostProcess>> of_lanes = processes_of_lanes(snapshot, devices);
  const QueryContext unmasked = query.unmasked();
  auto found = gather(unmasked, lanes, range, SpanGatherer{CallKinds(*snapshot.strings), {}},
                      [&](const ScannedChunk& chunk, SpanGatherer& part) {
                        part.add(chunk, *snapshot.strings, *of_lanes[chunk.lane_index]);
                      });
  if (!found) return found.error();
  HostsByProcess calls;
  calls.by_process = std::move(found->by_process);
  for (const std::uint32_t lane : lanes) {
    HostSpans& spans = calls.by_process.try_emplace(*of_lanes[lane]).first->second;
    spans.first_ns = std::min(spans.first_ns, snapshot.lanes[lane].clock->to_ns(snapshot.lanes[lane].begin_ticks));
  }
  for (auto& [process, spans] : calls.by_process) {
    for (auto list : {&HostSpans::loading, &HostSpans::synchronising, &HostSpans::freeing, &HostSpans::copying}) {
      std::ranges::sort((spans.*list), begins_before);
    }
    keep_outermost(spans.loading);
  }
  if (dependencies != nullptr) find_launching(snapshot, devices, *dependencies, calls);
  return calls;
}

HostWatch::HostWatch(const QueryContext& query, const std::vector<HostProcess>& processes)
    : reader_(query.store, query.snapshot) {
  const Snapshot& snapshot = *query.snapshot;
  const std::vector<std::optional<HostProcess>> of_lanes = processes_of_lanes(snapshot, TrackDevices(snapshot));
  for (std::uint32_t lane = 0; lane < of_lanes.size() && lanes_.size() < kMostLanes; ++lane) {
    if (of_lanes[lane] && std::find(processes.begin(), processes.end(), *of_lanes[lane]) != processes.end())
      lanes_.push_back(lane);
  }
}

std::optional<HostSpan> HostWatch::at(const TimeRange& gap) {
  std::optional<HostSpan> best;
  for (const std::uint32_t lane : lanes_) {
    const auto event = reader_.event_at(reader_.snapshot().lanes[lane], gap.begin_ns + gap.length_ns() / 2, 0);
    if (!event || !*event) continue;
    const auto record = reader_.read(**event);
    if (!record) continue;
    const std::int64_t both = std::min(gap.end_ns, record->end_ns) - std::max(gap.begin_ns, record->begin_ns);
    if (capped_product<std::int64_t>(2, both) < gap.length_ns()) continue;
    if (best && best->end_ns - best->begin_ns <= record->end_ns - record->begin_ns) continue;
    best = HostSpan{record->begin_ns, record->end_ns, record->name, record->id};
  }
  return best;
}

Result<std::vector<IdleGap>> idle_causes(const std::vector<DeviceGap>& gaps, const std::vector<const HostSpans*>& hosts,
                                         const TaskControl& control, IdleCause first) {
  std::vector<IdleGap> causes;
  causes.reserve(gaps.size());
  for (const DeviceGap& gap : gaps) causes.push_back({gap, IdleCause::launching, {}, 0});
  const IdleCause second = first == IdleCause::loading ? IdleCause::synchronising : IdleCause::loading;
  for (const IdleCause cause : {second, first, IdleCause::freeing}) {
    for (const HostSpans* host : hosts) {
      const auto& spans = cause == IdleCause::loading   ? host->loading
                          : cause == IdleCause::freeing ? host->freeing
                                                        : host->synchronising;
      TRY(put_down(causes, spans, cause, control));
    }
  }
  return causes;
}

}  // namespace accelscope::analysis
