#include "core/scan/window_scan.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/scan/chunk_cache.h"

namespace accelscope {
namespace {

using ScopeStrings = std::map<std::uint32_t, StringMap>;

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
                         const ScopeStrings& strings, const WindowBody& body, BlockReader& reader, std::size_t worker) {
  for (const std::uint32_t index : lanes) {
    const LaneSnapshot& lane = query.snapshot->lanes[index];
    const TickRange ticks = tick_range(lane, window.range);
    const ChunkSpan span = chunks_in(lane, ticks);
    for (std::uint32_t c = span.first; c < span.last; ++c) {
      if (query.control.cancelled()) return cancelled_error();
      const Result<LoadedChunk> loaded = load_chunk(query.store, lane, c);
      if (!loaded) return loaded.error();
      const ChunkPlace& place = lane.chunk(c);
      const StringMap& of_scope = strings.find(scope_of(lane.number()))->second;
      reader.open(lane, of_scope, place, loaded->view);
      const ScannedChunk chunk{lane,
                               index,
                               c,
                               place,
                               loaded->view,
                               reader,
                               ticks,
                               0,
                               of_scope,
                               mean_ns_per_tick(*lane.clock, place.begin_ticks, place.end_ticks),
                               query.mask.get()};
      body.chunk(chunk, window, worker);
    }
  }
  if (body.end) body.end(window, worker);
  return {};
}

}  // namespace

Result<void> scan_windows(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                          const WindowBody& body, std::uint64_t window_events) {
  if (range.empty() || lanes.empty()) return {};
  const Snapshot& snapshot = *query.snapshot;
  ScopeStrings strings;
  for (const std::uint32_t lane : lanes) {
    const std::uint32_t scope = scope_of(snapshot.lanes[lane].number());
    if (!strings.contains(scope)) strings.emplace(scope, StringMap(snapshot.strings->scope_map(scope)));
  }
  const std::vector<ScanWindow> windows = cut_windows(snapshot, lanes, range, window_events);
  query.control.add_total(windows.size());
  std::mutex failure_mutex;
  std::optional<Error> failure;
  std::atomic<bool> failed{false};
  std::vector<BlockReader> readers(query.pool.concurrency());
  query.pool.for_each(windows.size(), query.control, [&](std::size_t index, std::size_t worker) {
    if (failed.load(std::memory_order_relaxed)) return;
    const Result<void> scanned = scan_window(query, lanes, windows[index], strings, body, readers[worker], worker);
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
