#include "core/analysis/active_time.h"

#include <algorithm>
#include <vector>

#include "core/analysis/busy_time.h"
#include "core/analysis/selection_summary.h"
#include "core/query/event_mask.h"

namespace accelscope {
namespace {

LaneIndices lanes_of(const QueryContext& query, const EventFilter& filter) {
  LaneIndices lanes = working_lanes(*query.snapshot, filter);
  std::erase_if(lanes, [&](std::uint32_t lane) {
    const bool nothing = query.mask != nullptr && query.mask->count(lane) == 0;
    return nothing || query.snapshot->lanes[lane].data->kind != EventKind::slice;
  });
  return lanes;
}

}  // namespace

Result<std::shared_ptr<const ActiveTime>> active_time(const QueryContext& query, const EventFilter& filter) {
  const Snapshot& snapshot = *query.snapshot;
  const TimeRange wanted = filter.range.value_or(TimeRange{});
  const TimeRange range{std::max(wanted.begin_ns, snapshot.begin_ns), std::min(wanted.end_ns, snapshot.end_ns)};
  auto answer = std::make_shared<ActiveTime>();
  answer->filter = filter;
  answer->snapshot_version = snapshot.version;
  const LaneIndices lanes = lanes_of(query, filter);
  if (range.empty() || lanes.empty()) return std::shared_ptr<const ActiveTime>(std::move(answer));
  std::vector<CoveredTime> busy(query.pool.concurrency());
  const auto chunk = [&](const ScannedChunk& scanned, const ScanWindow& window, std::size_t worker) {
    add_busy(scanned, window, *snapshot.strings, busy[worker]);
  };
  const auto end = [&](const ScanWindow&, std::size_t worker) { busy[worker].close_window(); };
  const Result<void> scanned = scan_windows(query, lanes, range, {.chunk = chunk, .end = end});
  if (!scanned) return scanned.error();
  for (const CoveredTime& each : busy) answer->active_ns += each.length_ns();
  return std::shared_ptr<const ActiveTime>(std::move(answer));
}

}  // namespace accelscope
