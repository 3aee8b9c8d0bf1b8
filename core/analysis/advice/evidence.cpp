#include "core/analysis/advice/evidence.h"

#include <algorithm>

#include "core/search/filter_mask.h"

namespace accelscope {
namespace {

// The longest events so far, the shortest of them first in the heap.
class LongestEvents {
 public:
  static bool is_longer(const EvidenceEvent& a, const EvidenceEvent& b) noexcept {
    const std::int64_t of_a = a.end_ns - a.begin_ns, of_b = b.end_ns - b.begin_ns;
    return of_a != of_b ? of_a > of_b : a.id < b.id;
  }
  void add(const EvidenceEvent& event, std::size_t most) {
    if (events.size() == most && !is_longer(event, events.front())) return;
    if (events.size() == most) {
      std::pop_heap(events.begin(), events.end(), is_longer);
      events.pop_back();
    }
    events.push_back(event);
    std::push_heap(events.begin(), events.end(), is_longer);
  }
  std::vector<EvidenceEvent> events;
  std::uint64_t total = 0;
};

}  // namespace

Result<Evidence> finding_evidence(const QueryContext& query, const Finding& finding, std::size_t most) {
  Evidence out;
  if (finding.first == kNoEvent || most == 0) return out;
  EventFilter filter = finding.events;
  const TimeRange range = filter.range.value_or(TimeRange{});
  QueryContext masked = query;
  const auto mask = filter_mask(query, filter);
  if (!mask) return mask.error();
  masked.mask = *mask;
  std::vector<LongestEvents> found(query.pool.concurrency());
  const Result<void> scanned =
      scan_chunks(masked, all_lanes(*query.snapshot), range, [&](const ScannedChunk& chunk, std::size_t worker) {
        if (chunk.lane.data->kind != EventKind::slice) return;
        chunk.for_each_block([&](const ScannedBlock& block) {
          found[worker].total += block.last - block.first;
          for (std::uint32_t i = block.first; i < block.last; ++i)
            found[worker].add({block.id(i), chunk.lane.track, block.name(i), block.begin_ns(i), block.end_ns(i)}, most);
        });
      });
  if (!scanned) return scanned.error();
  LongestEvents all;
  for (const LongestEvents& each : found) {
    out.total += each.total;
    for (const EvidenceEvent& event : each.events) all.add(event, most);
  }
  out.events = std::move(all.events);
  std::sort(out.events.begin(), out.events.end(), [](const EvidenceEvent& a, const EvidenceEvent& b) {
    return std::pair(a.begin_ns, a.id) < std::pair(b.begin_ns, b.id);
  });
  return out;
}

}  // namespace accelscope
