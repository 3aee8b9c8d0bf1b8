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
        std::vector<HostSpan>& list = kind == HostCallKind::loads_data     ? spans.loading
                                      : kind == HostCallKind::synchronises ? spans.synchronising
                                                                           : spans.compiling;
        if (list.size() < HostSpans::kMost) list.push_back({block.begin_ns(i), block.end_ns(i), name, block.id(i)});
      }
    });
  }
};

void sort_spans(std::vector<HostSpan>& spans) {
  std::sort(spans.begin(), spans.end(), [](const HostSpan& a, const HostSpan& b) {
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    return a.end_ns != b.end_ns ? a.end_ns > b.end_ns : a.event < b.event;
  });
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

std::vector<IdleGap>::iterator first_after(std::vector<IdleGap>& gaps, std::int64_t ns) {
  return std::lower_bound(gaps.begin(), gaps.end(), ns,
                          [](const IdleGap& each, std::int64_t at) { return each.gap.end_ns <= at; });
}

}  // namespace

Result<HostSpans> host_spans(const QueryContext& query, const TimeRange& range) {
  const Snapshot& snapshot = *query.snapshot;
  const WorkKinds kinds(snapshot);
  LaneIndices lanes;
  for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    if (kinds.of_lane(lane) == WorkKind::host && snapshot.lanes[lane].event_count > 0) lanes.push_back(lane);
  }
  QueryContext unmasked = query;
  unmasked.mask = nullptr;
  std::vector<SpanGatherer> workers(query.pool.concurrency(), SpanGatherer{CallKinds(*snapshot.strings), {}});
  const auto scanned = scan_chunks(unmasked, lanes, range, [&](const ScannedChunk& chunk, std::size_t worker) {
    workers[worker].add(chunk, *snapshot.strings);
  });
  if (!scanned) return scanned.error();
  HostSpans all;
  all.has_host = !lanes.empty();
  for (const SpanGatherer& worker : workers) {
    for (auto list : {&HostSpans::loading, &HostSpans::synchronising, &HostSpans::compiling}) {
      (all.*list).insert((all.*list).end(), (worker.spans.*list).begin(), (worker.spans.*list).end());
    }
  }
  for (auto list : {&HostSpans::loading, &HostSpans::synchronising, &HostSpans::compiling}) sort_spans(all.*list);
  keep_outermost(all.loading);
  return all;
}

HostWatch::HostWatch(const QueryContext& query) : reader_(query.store, query.snapshot) {
  const WorkKinds kinds(*query.snapshot);
  for (std::uint32_t lane = 0; lane < query.snapshot->lanes.size() && lanes_.size() < kMostLanes; ++lane) {
    if (kinds.of_lane(lane) == WorkKind::host && query.snapshot->lanes[lane].event_count > 0) lanes_.push_back(lane);
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

std::vector<IdleGap> idle_causes(const std::vector<DeviceGap>& gaps, const HostSpans& host) {
  std::vector<IdleGap> causes;
  causes.reserve(gaps.size());
  for (const DeviceGap& gap : gaps) causes.push_back({gap, IdleCause::launching, {}, 0});
  const auto shared = [](const IdleGap& each, const HostSpan& span) {
    return std::min(each.gap.end_ns, span.end_ns) - std::max(each.gap.begin_ns, span.begin_ns);
  };
  for (const HostSpan& span : host.synchronising) {
    const auto at = first_after(causes, span.begin_ns);
    for (auto each = at; each != causes.end() && each->gap.begin_ns <= span.end_ns; ++each) {
      if (span.begin_ns > each->gap.begin_ns || span.end_ns > each->gap.end_ns) continue;
      *each = {each->gap, IdleCause::synchronising, span, std::max<std::int64_t>(0, shared(*each, span))};
    }
  }
  for (const HostSpan& span : host.loading) {
    for (auto each = first_after(causes, span.begin_ns); each != causes.end() && each->gap.begin_ns < span.end_ns;
         ++each) {
      const std::int64_t both = shared(*each, span);
      // A gap that is over before the loader is lies between kernels that were queued already.
      if (span.end_ns > each->gap.end_ns || 2 * both < each->gap.length_ns()) continue;
      *each = {each->gap, IdleCause::loading, span, both};
    }
  }
  return causes;
}

}  // namespace accelscope
