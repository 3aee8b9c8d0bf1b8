#include "core/analysis/advice/idle_causes.h"

#include <algorithm>

#include "core/scan/wait_names.h"

namespace accelscope {
namespace {

// The kind of each name of a snapshot, found when it is first met.
class CallKinds {
 public:
  explicit CallKinds(const StringPool& strings) : strings_(&strings), known_(strings.size(), kUnknownCall) {}
  [[nodiscard]] HostCallKind of(StringId name) {
    if (name >= known_.size()) return host_call_kind(strings_->text(name));
    if (known_[name] == kUnknownCall) known_[name] = static_cast<std::uint8_t>(host_call_kind(strings_->text(name)));
    return static_cast<HostCallKind>(known_[name]);
  }

 private:
  static constexpr std::uint8_t kUnknownCall = 255;
  const StringPool* strings_;
  std::vector<std::uint8_t> known_;
};

struct SpanGatherer {
  CallKinds kinds;
  HostSpans spans;

  void add(const ScannedChunk& chunk, const StringPool& strings) {
    const WaitNames waits(chunk.lane.schema.get(), strings);
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const StringId name = block.name(i);
        HostCallKind kind = kinds.of(name);
        if (kind == HostCallKind::other && waits.contains(name)) kind = HostCallKind::synchronises;
        if (kind == HostCallKind::other) continue;
        std::vector<HostSpan>& list = kind == HostCallKind::loads_data ? spans.loading : spans.synchronising;
        if (list.size() < HostSpans::kMost) list.push_back({block.begin_ns(i), block.end_ns(i), name, block.id(i)});
      }
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
  return 2 * both >= each.gap.length_ns();
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

std::vector<std::uint32_t> HostsBySource::scopes_of(const DeviceSum& device) const {
  std::vector<std::uint32_t> scopes;
  for (const auto& [scope, spans] : by_scope) {
    const auto is_its = [own = scope](TrackNumber track) { return scope_of(track) == own; };
    if (std::any_of(device.tracks.begin(), device.tracks.end(), is_its) ||
        std::any_of(device.transfer_tracks.begin(), device.transfer_tracks.end(), is_its)) {
      scopes.push_back(scope);
    }
  }
  if (!scopes.empty()) return scopes;
  for (const auto& [scope, spans] : by_scope) scopes.push_back(scope);
  return scopes;
}

Result<HostsBySource> hosts_by_source(const QueryContext& query, const TimeRange& range) {
  const Snapshot& snapshot = *query.snapshot;
  const LaneIndices lanes = lanes_of_hosts(snapshot);
  QueryContext unmasked = query;
  unmasked.mask = nullptr;
  std::vector<SpanGatherer> workers(query.pool.concurrency(), SpanGatherer{CallKinds(*snapshot.strings), {}});
  const auto scanned = scan_chunks(unmasked, lanes, range, [&](const ScannedChunk& chunk, std::size_t worker) {
    workers[worker].add(chunk, *snapshot.strings);
  });
  if (!scanned) return scanned.error();
  HostsBySource calls;
  for (const std::uint32_t lane : lanes) calls.by_scope.try_emplace(scope_of(snapshot.lanes[lane].number()));
  for (auto list : {&HostSpans::loading, &HostSpans::synchronising}) {
    for (const SpanGatherer& worker : workers) {
      for (const HostSpan& span : worker.spans.*list) {
        (calls.by_scope[scope_of(lane_of(span.event))].*list).push_back(span);
      }
    }
    for (auto& [scope, spans] : calls.by_scope) std::sort((spans.*list).begin(), (spans.*list).end(), begins_before);
  }
  for (auto& [scope, spans] : calls.by_scope) keep_outermost(spans.loading);
  return calls;
}

HostWatch::HostWatch(const QueryContext& query, const std::vector<std::uint32_t>& scopes)
    : reader_(query.store, query.snapshot) {
  for (const std::uint32_t lane : lanes_of_hosts(*query.snapshot)) {
    if (lanes_.size() >= kMostLanes) break;
    const std::uint32_t scope = scope_of(query.snapshot->lanes[lane].number());
    if (std::find(scopes.begin(), scopes.end(), scope) != scopes.end()) lanes_.push_back(lane);
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
    if (2 * both < gap.length_ns()) continue;
    if (best && best->end_ns - best->begin_ns <= record->end_ns - record->begin_ns) continue;
    best = HostSpan{record->begin_ns, record->end_ns, record->name, record->id};
  }
  return best;
}

Result<std::vector<IdleGap>> idle_causes(const std::vector<DeviceGap>& gaps, const std::vector<const HostSpans*>& hosts,
                                         const TaskControl& control) {
  std::vector<IdleGap> causes;
  causes.reserve(gaps.size());
  for (const DeviceGap& gap : gaps) causes.push_back({gap, IdleCause::launching, {}, 0});
  for (const HostSpans* host : hosts) {
    const auto done = put_down(causes, host->synchronising, IdleCause::synchronising, control);
    if (!done) return done.error();
  }
  for (const HostSpans* host : hosts) {
    const auto done = put_down(causes, host->loading, IdleCause::loading, control);
    if (!done) return done.error();
  }
  return causes;
}

}  // namespace accelscope
