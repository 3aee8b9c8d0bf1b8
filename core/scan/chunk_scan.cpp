#include "core/scan/chunk_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <ranges>
#include <utility>

#include "core/base/format.h"
#include "core/scan/chunk_cache.h"
#include "core/scan/event_mask.h"

namespace accelscope {

void ScanReport::skip(std::uint64_t events, const std::string& why) {
  const std::scoped_lock lock(mutex_);
  ++chunks_;
  events_ += events;
  if (why_.empty()) why_ = why;
}

void ScanReport::clear() {
  const std::scoped_lock lock(mutex_);
  chunks_ = 0;
  events_ = 0;
  why_.clear();
}

std::uint64_t ScanReport::skipped_events() const {
  const std::scoped_lock lock(mutex_);
  return events_;
}

std::string ScanReport::sentence() const {
  const std::scoped_lock lock(mutex_);
  if (chunks_ == 0) return {};
  return fmt::format("{} events in {} could not be read and are left out: {}", format_count(events_),
                     counted(chunks_, "chunk"), why_);
}

namespace {

template <typename Accept>
LaneIndices select_lanes(const Snapshot& snapshot, Accept accept) {
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (accept(snapshot.lanes[i])) lanes.push_back(i);
  }
  return lanes;
}

double ticks_between(std::int64_t begin, std::int64_t end) noexcept {
  return static_cast<double>(static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin));
}

}  // namespace

LaneIndices all_lanes(const Snapshot& snapshot) {
  return select_lanes(snapshot, [](const LaneSnapshot&) { return true; });
}

LaneIndices lanes_of_kind(const Snapshot& snapshot, EventKind kind) {
  return select_lanes(snapshot, [kind](const LaneSnapshot& lane) { return lane.data->kind == kind; });
}

LaneIndices lanes_of_track(const Snapshot& snapshot, TrackNumber track) {
  const TrackSnapshot* found = snapshot.find_track(track);
  return found == nullptr ? LaneIndices{} : found->lanes;
}

LaneIndices lanes_with_role(const Snapshot& snapshot, Role role) {
  return select_lanes(snapshot,
                      [role](const LaneSnapshot& lane) { return lane.schema && lane.schema->find(role).has_value(); });
}

TickRange tick_range(const LaneSnapshot& lane, const TimeRange& range) noexcept {
  constexpr TimeRange kAll;
  TickRange ticks;
  if (range.begin_ns != kAll.begin_ns) ticks.begin = lane.clock->to_ticks(range.begin_ns);
  if (range.end_ns != kAll.end_ns) ticks.end = lane.clock->to_ticks(range.end_ns);
  return ticks;
}

double mean_ns_per_tick(const ClockMap& clock, std::int64_t begin_ticks, std::int64_t end_ticks) noexcept {
  if (clock.is_affine()) return clock.ns_per_tick();
  // A stretch of a few ticks says nothing about the rate once it is rounded to ns: widen it.
  constexpr std::int64_t kWide = 1'000'000;
  if (ticks_between(begin_ticks, end_ticks) < static_cast<double>(kWide)) {
    begin_ticks -= kWide / 2;
    end_ticks += kWide / 2;
  }
  return ticks_between(clock.to_ns(begin_ticks), clock.to_ns(end_ticks)) / ticks_between(begin_ticks, end_ticks);
}

ChunkSpan chunks_in(const LaneSnapshot& lane, const TickRange& range) noexcept {
  if (range.empty() || lane.chunk_count == 0) return {};
  ChunkSpan span;
  span.first = lane.first_chunk_ending_after(range.begin);
  span.last = std::max(span.first, chunks_before(lane, range.end));
  return span;
}

std::uint32_t rows_before(const ChunkView& view, std::int64_t ticks) noexcept {
  BlockTimes times;
  std::uint32_t low = 0;
  std::uint32_t high = view.block_count();
  while (low < high) {  // blocks that begin before the tick
    const std::uint32_t middle = low + (high - low) / 2;
    view.times(middle, times);
    if (times.begins[0] < ticks) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  const std::uint32_t block = low - 1;
  view.times(block, times);
  const auto* begin = times.begins.data();
  const auto* end = begin + view.block_size(block);
  return block * kBlockEvents + static_cast<std::uint32_t>(std::lower_bound(begin, end, ticks) - begin);
}

std::uint32_t chunks_before(const LaneSnapshot& lane, std::int64_t ticks) noexcept {
  std::uint32_t low = 0;
  std::uint32_t high = lane.chunk_count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (lane.chunk(middle).begin_ticks < ticks) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::uint32_t ScannedChunk::first_block() const noexcept {
  // The event before the first one that begins in the range may reach into it.
  const std::uint32_t rows = rows_before(view, range.begin);
  return rows == 0 ? 0 : (rows - 1) / kBlockEvents;
}

std::uint64_t ScannedChunk::passing(const ScannedBlock& block) const noexcept {
  return mask->bits(lane_index, place.first_leaf + block.block) & bits_between(block.first, block.last);
}

bool ScannedChunk::narrow(ScannedBlock& block) const noexcept {
  const BlockTimes& times = block.ticks();
  if (times.begins[0] >= range.end) return false;
  while (block.first < block.last && !range.holds(times.begins[block.first], times.ends[block.first])) ++block.first;
  while (block.last > block.first && !range.holds(times.begins[block.last - 1], times.ends[block.last - 1])) {
    --block.last;
  }
  return true;
}

std::vector<ChunkRequest> requests_in(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range) {
  std::vector<ChunkRequest> requests;
  for (const std::uint32_t lane_index : lanes) {
    if (query.mask && query.mask->count(lane_index) == 0) continue;
    const LaneSnapshot& lane = query.snapshot->lanes[lane_index];
    const TickRange ticks = tick_range(lane, range);
    const ChunkSpan span = chunks_in(lane, ticks);
    for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) requests.push_back({lane_index, chunk, ticks});
  }
  return requests;
}

Result<void> scan_chunks(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                         const ChunkBody& body) {
  return scan_chunks(query, requests_in(query, lanes, range), body);
}

void ChunkOpener::add_strings(std::uint32_t lane) {
  const std::uint32_t scope = scope_of(query_.snapshot->lanes[lane].number());
  if (!strings_.contains(scope)) strings_.emplace(scope, StringMap(query_.snapshot->strings->scope_map(scope)));
}

Result<void> ChunkOpener::open(const ChunkRequest& request, std::size_t request_index, std::size_t worker,
                               const std::function<void(const ScannedChunk&)>& body) {
  const LaneSnapshot& lane = query_.snapshot->lanes[request.lane];
  const LoadedChunk loaded = TRY(load_chunk(query_.store, lane, request.chunk));
  const ChunkPlace& place = lane.chunk(request.chunk);
  const StringMap& strings = strings_.find(scope_of(lane.number()))->second;
  BlockReader& reader = readers_[worker];
  reader.open(lane, strings, place, loaded.view);
  body({lane, request.lane, request.chunk, place, loaded.view, reader, request.range, request_index, strings,
        mean_ns_per_tick(*lane.clock, place.begin_ticks, place.end_ticks), query_.mask.get()});
  return {};
}

Result<void> scan_chunks(const QueryContext& query, const std::vector<ChunkRequest>& requests, const ChunkBody& body) {
  ChunkOpener chunks(query, requests | std::views::transform(&ChunkRequest::lane));
  query.control.add_total(requests.size());
  std::mutex failure_mutex;
  std::optional<Error> failure;
  std::atomic<bool> failed{false};
  query.pool.for_each(requests.size(), query.control, [&](std::size_t index, std::size_t worker) {
    if (failed.load(std::memory_order_relaxed)) return;
    const ChunkRequest& request = requests[index];
    const Result<void> opened =
        chunks.open(request, index, worker, [&](const ScannedChunk& chunk) { body(chunk, worker); });
    if (!opened && query.report == nullptr) {
      const std::scoped_lock lock(failure_mutex);
      if (!failure) failure = opened.error();
      failed.store(true, std::memory_order_relaxed);
      return;
    }
    if (!opened) query.report->skip(query.snapshot->lanes[request.lane].chunk(request.chunk).count, opened.message());
    query.control.add_done(1);
  });
  if (failure) return *failure;
  if (query.control.cancelled()) return cancelled_error();
  return {};
}

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
  std::ranges::sort(begins);
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
