#include "core/scan/window_scan.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace accelscope {
namespace {

// Cuts where so many events have begun since the last cut. A chunk counts at its begin.
std::vector<ScanWindow> cut_windows(const Snapshot& snapshot, const LaneIndices& lanes, const TimeRange& range,
                                    std::uint64_t window_events) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> begins;  // of chunks, with their counts
  for (const std::uint32_t index : lanes) {
    const LaneSnapshot& lane = snapshot.lanes[index];
    const ChunkSpan span = chunks_in(lane, tick_range(lane, range));
    for (std::uint32_t c = span.first; c < span.last; ++c) {
      begins.emplace_back(lane.clock->to_ns(lane.chunk(c).begin_ticks), lane.chunk(c).count);
    }
  }
  std::sort(begins.begin(), begins.end());
  std::vector<ScanWindow> windows = {{range, true}};
  std::uint64_t events = 0;
  for (const auto& [begin_ns, count] : begins) {
    if (events >= window_events && begin_ns > windows.back().range.begin_ns && begin_ns < range.end_ns) {
      windows.back().range.end_ns = begin_ns;
      windows.push_back({{begin_ns, range.end_ns}, false});
      events = 0;
    }
    events += count;
  }
  return windows;
}

Result<void> scan_window(const QueryContext& query, const LaneIndices& lanes, const ScanWindow& window,
                         ChunkOpener& chunks, const WindowBody& body, std::size_t worker) {
  for (const std::uint32_t index : lanes) {
    const LaneSnapshot& lane = query.snapshot->lanes[index];
    const TickRange ticks = tick_range(lane, window.range);
    const ChunkSpan span = chunks_in(lane, ticks);
    for (std::uint32_t c = span.first; c < span.last; ++c) {
      if (query.control.cancelled()) return cancelled_error();
      const Result<void> opened = chunks.open({index, c, ticks}, 0, worker,
                                              [&](const ScannedChunk& chunk) { body.chunk(chunk, window, worker); });
      if (!opened) return opened;
    }
  }
  if (body.end) body.end(window, worker);
  return {};
}

}  // namespace

Result<void> scan_windows(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                          const WindowBody& body, std::uint64_t window_events) {
  if (range.empty() || lanes.empty()) return {};
  ChunkOpener chunks(query, lanes);
  const std::vector<ScanWindow> windows = cut_windows(*query.snapshot, lanes, range, window_events);
  query.control.add_total(windows.size());
  std::mutex failure_mutex;
  std::optional<Error> failure;
  std::atomic<bool> failed{false};
  query.pool.for_each(windows.size(), query.control, [&](std::size_t index, std::size_t worker) {
    if (failed.load(std::memory_order_relaxed)) return;
    const Result<void> scanned = scan_window(query, lanes, windows[index], chunks, body, worker);
    query.control.add_done(1);
    if (scanned) return;
    const std::scoped_lock lock(failure_mutex);
    if (!failure) failure = scanned.error();
    failed.store(true, std::memory_order_relaxed);
  });
  if (query.control.cancelled()) return cancelled_error();
  if (failure) return *failure;
  return {};
}

}  // namespace accelscope
