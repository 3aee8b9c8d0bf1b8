#include "core/export/base/event_pieces.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "core/scan/event_mask.h"

namespace accelscope::exporting {
namespace {

// The times of a lane, one event after the other, a chunk in memory at a time.
class LaneTimes {
 public:
  LaneTimes(const Store& store, const LaneSnapshot& lane) : store_(store), lane_(lane) {}

  // False at the end, or where a chunk cannot be read.
  bool next() {
    while (row_ == rows_) {
      if (!next_block()) return false;
    }
    begin = times_.begins[row_];
    end = times_.ends[row_];
    ++row_;
    return true;
  }
  [[nodiscard]] const Result<void>& status() const noexcept { return status_; }

  std::int64_t begin = 0, end = 0;

 private:
  bool next_block() {
    while (!loaded_ || block_ == loaded_->view.block_count()) {
      if (chunk_ == lane_.chunk_count) return false;
      Result<LoadedChunk> loaded = load_chunk(store_, lane_, chunk_++);
      if (!loaded) {
        status_ = loaded.error();
        return false;
      }
      loaded_.emplace(std::move(*loaded));
      block_ = 0;
    }
    loaded_->view.times(block_, times_);
    rows_ = loaded_->view.block_size(block_++);
    row_ = 0;
    return true;
  }

  const Store& store_;
  const LaneSnapshot& lane_;
  std::optional<LoadedChunk> loaded_;
  Result<void> status_;
  BlockTimes times_;
  std::uint32_t chunk_ = 0, block_ = 0, row_ = 0, rows_ = 0;
};

// Whether every event of the lower lane lies within one of the upper.
Result<bool> lies_within(const Store& store, const LaneSnapshot& upper, const LaneSnapshot& lower,
                         const TaskControl& control) {
  LaneTimes above(store, upper);
  LaneTimes below(store, lower);
  bool any = above.next();
  std::uint32_t count = 0;
  while (below.next()) {
    if ((++count & 0xFFFF) == 0 && control.cancelled()) return cancelled_error();
    while (any && above.end < below.end) any = above.next();
    if (!any || above.begin > below.begin) return above.status() ? Result<bool>(false) : above.status().error();
  }
  if (!below.status()) return below.status().error();
  return true;
}

// A pair of neighbouring lanes of a track.
struct LanePair {
  std::size_t track = 0;  // in the plan
  std::uint32_t upper = 0, lower = 0;
};

Result<void> find_nested(const ExportRequest& request, ExportPlan& plan) {
  const Snapshot& snapshot = *request.query.snapshot;
  std::vector<LanePair> pairs;
  for (std::size_t i = 0; i < plan.tracks.size(); ++i) {
    const TrackSnapshot& track = *plan.tracks[i].snapshot;
    plan.tracks[i].nested = track.lanes.size() > 1;
    for (std::size_t d = 1; d < track.lanes.size(); ++d) pairs.push_back({i, track.lanes[d - 1], track.lanes[d]});
  }
  std::vector<Result<bool>> within(pairs.size(), Result<bool>(false));
  std::vector<std::atomic<bool>> broken(plan.tracks.size());  // the other pairs of the track need no look
  request.query.pool.for_each(pairs.size(), request.query.control, [&](std::size_t index, std::size_t) {
    const LanePair& pair = pairs[index];
    if (broken[pair.track].load(std::memory_order_relaxed)) return;
    within[index] =
        lies_within(request.query.store, snapshot.lanes[pair.upper], snapshot.lanes[pair.lower], request.query.control);
    if (within[index] && !*within[index]) broken[pair.track].store(true, std::memory_order_relaxed);
  });
  if (request.query.control.cancelled()) return cancelled_error();
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    if (!within[index]) return within[index].error();
    if (!*within[index]) plan.tracks[pairs[index].track].nested = false;
  }
  return {};
}

class PiecePlanner {
 public:
  PiecePlanner(const ExportRequest& request, std::uint64_t piece_events, ExportPlan& plan)
      : request_(request), snapshot_(*request.query.snapshot), piece_events_(piece_events), plan_(plan) {}

  void add(std::uint32_t track) {
    if (plan_.tracks[track].nested) {
      add_nested(track);
    } else {
      for (const std::uint32_t lane : plan_.tracks[track].snapshot->lanes) add_lane(track, lane);
    }
  }

 private:
  // Chunks of a lane, together as many as make a piece.
  void add_lane(std::uint32_t track, std::uint32_t lane_index) {
    const LaneSnapshot& lane = snapshot_.lanes[lane_index];
    const TickRange ticks = range_of(lane);
    const ChunkSpan span = chunks_in(lane, ticks);
    EventPiece piece;
    std::uint64_t events = 0;
    bool first = true;
    const auto flush = [&] {
      if (piece.chunks.empty()) return;
      piece.track = track;
      piece.lane = lane_index;
      piece.first = first;
      first = false;
      plan_.pieces.push_back(std::move(piece));
      piece = {};
      events = 0;
    };
    for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) {
      if (!passes(lane_index, lane, chunk)) continue;
      piece.chunks.push_back({lane_index, chunk, ticks});
      events += lane.chunk(chunk).count;
      if (events >= piece_events_) flush();
    }
    flush();
  }

  // Windows that hold about as many events each, by where chunks begin.
  void add_nested(std::uint32_t track) {
    const TrackSnapshot& of = *plan_.tracks[track].snapshot;
    std::vector<std::pair<std::int64_t, std::uint64_t>> begins;  // ticks, events
    for (const std::uint32_t lane_index : of.lanes) {
      const LaneSnapshot& lane = snapshot_.lanes[lane_index];
      const ChunkSpan span = chunks_in(lane, range_of(lane));
      for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) {
        begins.emplace_back(lane.chunk(chunk).begin_ticks, lane.chunk(chunk).count);
      }
    }
    if (begins.empty()) return;
    std::ranges::sort(begins);
    std::int64_t from = std::numeric_limits<std::int64_t>::min();
    std::uint64_t events = 0;
    bool first = true;
    for (const auto& [ticks, count] : begins) {
      if (events >= piece_events_ && ticks > from) {
        add_window(track, of, {from, ticks}, first);
        from = ticks;
        events = 0;
      }
      events += count;
    }
    add_window(track, of, {from, std::numeric_limits<std::int64_t>::max()}, first);
  }

  void add_window(std::uint32_t track, const TrackSnapshot& of, const TickRange& window, bool& first) {
    EventPiece piece{track, of.lanes.front(), {}, window, first};
    for (const std::uint32_t lane_index : of.lanes) {
      const LaneSnapshot& lane = snapshot_.lanes[lane_index];
      const TickRange ticks = range_of(lane);
      // One tick more: an event that ends where the window begins may lie in the chunk that does.
      TickRange reach = window;
      if (reach.begin > std::numeric_limits<std::int64_t>::min()) --reach.begin;
      const ChunkSpan inside = chunks_in(lane, ticks);
      const ChunkSpan there = chunks_in(lane, reach);
      for (std::uint32_t chunk = std::max(inside.first, there.first); chunk < std::min(inside.last, there.last);
           ++chunk) {
        if (passes(lane_index, lane, chunk)) piece.chunks.push_back({lane_index, chunk, ticks});
      }
    }
    if (piece.chunks.empty()) return;
    first = false;
    plan_.pieces.push_back(std::move(piece));
  }

  [[nodiscard]] TickRange range_of(const LaneSnapshot& lane) const {
    return lane.schema->kind == EventKind::table ? TickRange{} : tick_range(lane, request_.range);
  }
  [[nodiscard]] bool passes(std::uint32_t lane_index, const LaneSnapshot& lane, std::uint32_t chunk) const {
    const EventMask* mask = lane.schema->kind == EventKind::table ? nullptr : request_.query.mask.get();
    return mask == nullptr || mask->passing_in(lane_index, lane.chunk(chunk)) != 0;
  }

  const ExportRequest& request_;
  const Snapshot& snapshot_;
  const std::uint64_t piece_events_;
  ExportPlan& plan_;
};

}  // namespace

Result<ExportPlan> plan_export(const ExportRequest& request, const std::function<bool(const TrackSnapshot&)>& wanted,
                               PieceOrder order, std::uint64_t piece_events) {
  const Snapshot& snapshot = *request.query.snapshot;
  ExportPlan plan;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.schema == nullptr || track.lanes.empty() || !wanted(track)) continue;
    ExportTrack one{&track, false, 0};
    const EventMask* mask = track.schema->kind == EventKind::table ? nullptr : request.query.mask.get();
    for (const std::uint32_t lane : track.lanes) {
      one.events += mask != nullptr ? mask->count(lane) : snapshot.lanes[lane].event_count;
    }
    if (one.events == 0) continue;
    plan.events += one.events;
    plan.tracks.push_back(one);
  }
  if (order == PieceOrder::stacks) {
    TRY(find_nested(request, plan));
  }
  PiecePlanner planner(request, piece_events, plan);
  for (std::uint32_t track = 0; track < plan.tracks.size(); ++track) planner.add(track);
  return plan;
}

const StringMap& PieceReader::strings_of(const LaneSnapshot& lane) {
  const std::uint32_t scope = scope_of(lane.number());
  std::unique_ptr<StringMap>& strings = strings_[scope];
  if (!strings) strings = std::make_unique<StringMap>(query_.snapshot->strings->scope_map(scope));
  return *strings;
}

Result<void> PieceReader::load(const ChunkRequest& request) {
  const LaneSnapshot& lane = query_.snapshot->lanes[request.lane];
  LoadedChunk loaded = TRY(load_chunk(query_.store, lane, request.chunk));
  if (chunk_count_ == chunks_.size()) chunks_.push_back({nullptr, 0, nullptr, std::make_unique<BlockReader>()});
  Chunk& chunk = chunks_[chunk_count_++];
  chunk.lane = &lane;
  chunk.index = request.chunk;
  chunk.loaded = std::make_shared<const LoadedChunk>(std::move(loaded));
  chunk.reader->open(lane, strings_of(lane), lane.chunk(request.chunk), chunk.loaded->view);
  return {};
}

void PieceReader::collect(std::uint32_t index, const ChunkRequest& request, const TickRange& window,
                          std::uint32_t depth) {
  const Chunk& chunk = chunks_[index];
  const LaneSnapshot& lane = *chunk.lane;
  const bool timed = lane.schema->kind != EventKind::table;
  const EventMask* mask = timed ? query_.mask.get() : nullptr;
  const ChunkPlace& place = lane.chunk(request.chunk);
  const ChunkView& view = chunk.loaded->view;
  for (std::uint32_t block = 0; block < view.block_count(); ++block) {
    const std::uint64_t passing =
        mask != nullptr ? mask->bits(request.lane, place.first_leaf + block) : ~std::uint64_t{0};
    if (passing == 0) continue;
    chunk.reader->seek(block);
    const BlockTimes& times = chunk.reader->ticks();
    const std::uint32_t size = view.block_size(block);
    if (times.begins[0] >= window.end) break;
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::int64_t begin = times.begins[i];
      const std::int64_t end = times.ends[i];
      if ((passing >> i & 1) == 0 || (timed && !request.range.holds(begin, end))) continue;
      const PieceEvent event{begin, end, index, block * kBlockEvents + i, depth};
      if (begin >= window.begin && begin < window.end) {
        events_.push_back(event);
      } else if (begin < window.begin && end > window.begin) {
        open_.push_back(event);
      }
    }
  }
}

std::uint64_t PieceReader::beside(const PieceEvent& event, std::size_t value_column) {
  BlockReader& reader = at(event);
  std::uint64_t values = name(event) != 0 ? 1 : 0;
  for (std::size_t column = 0; column < schema().columns.size(); ++column) {
    if (column == value_column) continue;
    values += reader.column(column, schema().columns[column].type).has(event.row % kBlockEvents) ? 1 : 0;
  }
  return values;
}

Result<void> PieceReader::open(const ExportTrack& track, const EventPiece& piece) {
  chunk_count_ = 0;
  events_.clear();
  open_.clear();
  lane_ = &query_.snapshot->lanes[piece.lane];
  exact_ = lane_->clock->is_identity();
  nested_ = track.nested;
  window_ = piece.window;
  std::size_t before = 0;
  for (const ChunkRequest& request : piece.chunks) {
    if (Result<void> loaded = load(request); !loaded) return loaded;
    const auto index = static_cast<std::uint32_t>(chunk_count_ - 1);
    collect(index, request, window_, query_.snapshot->lanes[request.lane].data->lane.depth);
    before += track.nested && index > 0 ? 1 : 0;
  }
  if (track.nested && before > 0) {
    std::ranges::sort(events_, [](const PieceEvent& a, const PieceEvent& b) {
      if (a.begin != b.begin) return a.begin < b.begin;
      if (a.depth != b.depth) return a.depth < b.depth;
      return a.chunk != b.chunk ? a.chunk < b.chunk : a.row < b.row;
    });
  }
  std::ranges::sort(open_, {}, &PieceEvent::depth);
  return {};
}

Result<void> write_pieces(const QueryContext& query, std::size_t pieces, const MakePiece& make, const TakePiece& take) {
  struct Made {
    std::string bytes;
    Result<void> status;
  };
  const std::size_t at_once = 2 * std::max<std::size_t>(1, query.pool.concurrency());
  std::vector<Made> made(std::min(at_once, pieces));
  for (std::size_t first = 0; first < pieces; first += at_once) {
    const std::size_t count = std::min(at_once, pieces - first);
    query.pool.for_each(count, query.control, [&](std::size_t index, std::size_t worker) {
      Made& one = made[index];
      one.bytes.clear();
      one.status = make(first + index, worker, one.bytes);
    });
    if (query.control.cancelled()) return cancelled_error();
    for (std::size_t index = 0; index < count; ++index) {
      if (!made[index].status) return made[index].status;
      if (Result<void> taken = take(first + index, made[index].bytes); !taken) return taken;
    }
  }
  return {};
}

}  // namespace accelscope::exporting
