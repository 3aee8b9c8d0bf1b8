// The one loop over event values: every chunk of some lanes that overlaps a range, read once, spread over the
// pool, cancellable, with progress (in chunks). Statistics, search, source lines, memory and dependencies are
// bodies of this loop. It decodes nothing by itself except the edges of the range.
//
//   scan_chunks(query, lanes, range, [&](const ScannedChunk& chunk, std::size_t worker) {
//     chunk.for_each_block([&](const ScannedBlock& block) { ... block.begin_ns(i) ... });
//   });
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/chunk/chunk_view.h"
#include "core/model/time_range.h"
#include "core/scan/block_reader.h"
#include "core/store/store.h"

namespace accelscope {

// What a query had to leave out. An unreadable chunk (a damaged file) does not fail a query that has a ScanReport: the
// chunk is skipped, counted here, and whoever shows the answer shows sentence() with it. Any number of threads.

class ScanReport {
 public:
  // events: of the chunk, wanted or not.
  void skip(std::uint64_t events, const std::string& why);
  void clear();
  [[nodiscard]] std::uint64_t skipped_events() const;
  [[nodiscard]] std::string sentence() const;  // "" if nothing was skipped

 private:
  mutable std::mutex mutex_;
  std::uint64_t chunks_ = 0;
  std::uint64_t events_ = 0;
  std::string why_;  // the first one
};

class EventMask;  // core/scan/event_mask.h

// What a query runs on. Copies are cheap; the store and the pool must outlive it.
struct QueryContext {
  const Store& store;
  std::shared_ptr<const Snapshot> snapshot;
  WorkerPool& pool;
  TaskControl& control;
  ScanReport* report = nullptr;  // given: unreadable chunks are skipped and counted there, else they fail the query
  // Given: only events that pass it are met. Its lanes are those of the snapshot or of an earlier one of the store.
  std::shared_ptr<const EventMask> mask = nullptr;

  [[nodiscard]] QueryContext unmasked() const { return {store, snapshot, pool, control, report}; }
};

using LaneIndices = std::vector<std::uint32_t>;  // indices into Snapshot::lanes

[[nodiscard]] LaneIndices all_lanes(const Snapshot& snapshot);
[[nodiscard]] LaneIndices lanes_of_kind(const Snapshot& snapshot, EventKind kind);
[[nodiscard]] LaneIndices lanes_of_track(const Snapshot& snapshot, TrackNumber track);
[[nodiscard]] LaneIndices lanes_with_role(const Snapshot& snapshot, Role role);

// Ticks of the lane that lie in the range.
[[nodiscard]] TickRange tick_range(const LaneSnapshot& lane, const TimeRange& range) noexcept;

// Mean rate over a stretch; exact for a clock of one rate.
[[nodiscard]] double mean_ns_per_tick(const ClockMap& clock, std::int64_t begin_ticks, std::int64_t end_ticks) noexcept;
// Chunks of the lane that hold an event of the range: [first, last).
struct ChunkSpan {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
[[nodiscard]] ChunkSpan chunks_in(const LaneSnapshot& lane, const TickRange& range) noexcept;

// How many chunks of the lane, and events of a chunk, begin before the tick.
[[nodiscard]] std::uint32_t chunks_before(const LaneSnapshot& lane, std::int64_t ticks) noexcept;
[[nodiscard]] std::uint32_t rows_before(const ChunkView& view, std::int64_t ticks) noexcept;

// Events [first, last) of a block, each read when it is first asked for; columns come from the reader.
struct ScannedBlock {
  BlockReader& reader;
  std::uint32_t block = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  [[nodiscard]] std::uint32_t row(std::uint32_t i) const noexcept { return reader.first_row() + i; }  // in the chunk
  [[nodiscard]] EventId id(std::uint32_t i) const noexcept { return reader.id(i); }
  [[nodiscard]] StringId name(std::uint32_t i) const { return static_cast<StringId>(reader.names()[i]); }
  [[nodiscard]] std::int64_t begin_ns(std::uint32_t i) const { return reader.begins_ns()[i]; }
  [[nodiscard]] std::int64_t end_ns(std::uint32_t i) const { return reader.ends_ns()[i]; }
  [[nodiscard]] const BlockTimes& ticks() const { return reader.ticks(); }
};

struct ScannedChunk {
  const LaneSnapshot& lane;
  std::uint32_t lane_index;
  std::uint32_t chunk_index;
  const ChunkPlace& place;
  const ChunkView& view;
  BlockReader& reader;  // of the worker, opened on the chunk
  TickRange range;
  std::size_t request;  // index of the ChunkRequest that it answers
  const StringMap& strings;
  double ns_per_tick;     // mean over the chunk
  const EventMask* mask;  // null: every event passes

  [[nodiscard]] EventId event_id(std::uint32_t row) const noexcept {
    return make_event_id(lane.number(), place.first_ordinal + row);
  }
  [[nodiscard]] StringId session_string(std::uint64_t local) const noexcept { return strings[local]; }
  // Blocks that hold an event of the range, in order. With a mask a block comes once for each run of events that pass.
  template <typename Body>
  void for_each_block(Body&& body) const {
    const bool whole = range.covers(place.begin_ticks, place.end_ticks);
    for (std::uint32_t b = whole ? 0 : first_block(); b < view.block_count(); ++b) {
      reader.seek(b);
      ScannedBlock block{reader, b, 0, view.block_size(b)};
      if (!whole && !narrow(block)) break;
      if (block.first >= block.last) continue;
      if (mask == nullptr) {
        body(static_cast<const ScannedBlock&>(block));
        continue;
      }
      const std::uint32_t end = block.last;
      for (std::uint64_t left = passing(block); left != 0;) {
        block.first = static_cast<std::uint32_t>(std::countr_zero(left));
        block.last = block.first + static_cast<std::uint32_t>(std::countr_one(left >> block.first));
        body(static_cast<const ScannedBlock&>(block));
        left = block.last >= end ? 0 : left >> block.last << block.last;
      }
    }
  }

  // body(block, i) for each of those events.
  template <typename Body>
  void for_each_event(Body&& body) const {
    for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) body(block, i);
    });
  }

 private:
  [[nodiscard]] std::uint32_t first_block() const noexcept;
  [[nodiscard]] std::uint64_t passing(const ScannedBlock& block) const noexcept;
  [[nodiscard]] bool narrow(ScannedBlock& block) const noexcept;  // false: all further events begin after the range
};

using ChunkBody = std::function<void(const ScannedChunk& chunk, std::size_t worker)>;

// One chunk of a scan, by index into the snapshot's lanes and the lane's chunks, and what of it is wanted.
struct ChunkRequest {
  std::uint32_t lane = 0;
  std::uint32_t chunk = 0;
  TickRange range;
};

// The chunks of some lanes that hold an event of the range and, with a mask, may hold one that passes.
[[nodiscard]] std::vector<ChunkRequest> requests_in(const QueryContext& query, const LaneIndices& lanes,
                                                    const TimeRange& range);

// The body runs on several threads at once; `worker` is below pool.concurrency() (core/scan/group_by.h).
// Chunks of a lane come in no particular order. Fails with the first unreadable chunk, unless
// the query has a ScanReport, or when cancelled.
[[nodiscard]] Result<void> scan_chunks(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                                       const ChunkBody& body);
[[nodiscard]] Result<void> scan_chunks(const QueryContext& query, const std::vector<ChunkRequest>& requests,
                                       const ChunkBody& body);

// What the loops over chunks open them with: the strings of their sources and a reader for each worker. The query must
// outlive it.
class ChunkOpener {
 public:
  // `lanes`: a range of the lanes to come, as indices.
  template <typename Lanes>
  ChunkOpener(const QueryContext& query, const Lanes& lanes) : query_(query), readers_(query.pool.concurrency()) {
    for (const std::uint32_t lane : lanes) add_strings(lane);
  }
  // Reads the chunk and calls the body with it.
  [[nodiscard]] Result<void> open(const ChunkRequest& request, std::size_t request_index, std::size_t worker,
                                  const std::function<void(const ScannedChunk&)>& body);

 private:
  void add_strings(std::uint32_t lane);

  const QueryContext& query_;
  std::map<std::uint32_t, StringMap> strings_;  // by scope
  std::vector<BlockReader> readers_;            // by worker
};

// The loop of chunk_scan.h in windows: stretches of time, one after another, each with a bounded number of events over
// all lanes. For what must see the events of several lanes together, such as the time that at least one of them
// covers: it gathers a window, sums it up and forgets it, so that memory does not grow with the session.
//
//   scan_windows(query, lanes, range, {
//       .chunk = [&](const ScannedChunk& chunk, const ScanWindow& window, std::size_t worker) { ... },
//       .end = [&](const ScanWindow& window, std::size_t worker) { ... }});
struct ScanWindow {
  TimeRange range;     // windows follow each other without gap or overlap
  bool first = false;  // no window comes before it

  // An event that reaches over an edge is met in several windows; exactly one owns it: that in which it begins, or the
  // first for those that began before.
  [[nodiscard]] bool owns(const ScannedChunk& chunk, std::int64_t begin_ticks) const noexcept {
    return begin_ticks >= chunk.range.begin || first;
  }
};

// How much of an event lies in a range, from 0 to 1; an instant in it lies there as a whole.
[[nodiscard]] constexpr double share_inside(const TimeRange& range, std::int64_t begin_ns,
                                            std::int64_t end_ns) noexcept {
  if (end_ns <= begin_ns || (begin_ns >= range.begin_ns && end_ns <= range.end_ns)) return 1;
  const std::int64_t inside = std::min(end_ns, range.end_ns) - std::max(begin_ns, range.begin_ns);
  return inside <= 0 ? 0 : static_cast<double>(inside) / static_cast<double>(end_ns - begin_ns);
}

struct WindowBody {
  // The part of a chunk that lies in the window; chunk.range is the window in the lane's ticks. The chunks of a lane
  // come in order, all of one window on one worker.
  std::function<void(const ScannedChunk& chunk, const ScanWindow& window, std::size_t worker)> chunk;
  std::function<void(const ScanWindow& window, std::size_t worker)> end;  // after the last chunk of the window
};

inline constexpr std::uint64_t kWindowEvents = 1U << 18U;  // that begin in a window, about

// Several windows run at once, each on its own worker. Fails with the first unreadable chunk, or when cancelled.
[[nodiscard]] Result<void> scan_windows(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                                        const WindowBody& body, std::uint64_t window_events = kWindowEvents);

}  // namespace accelscope
