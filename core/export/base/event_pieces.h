// A session's events in pieces of some ten thousand, each of which is read by itself: the unit that exports work on, so
// that they need memory for a few pieces, whatever the session's size, and all threads have work.
//
// A track whose lanes are the levels of a stack (every event lies within one of the lane above) is cut by time: a piece
// holds what begins in its window on any level, and knows what was open when the window began. Its events can be opened
// and closed like a stack, over all pieces. Of any other track a piece holds chunks of one lane.
//
//   Result<ExportPlan> plan = plan_export(request);
//   PieceReader reader(request.query, plan->range);
//   reader.open(plan->tracks[piece.track], piece);
//   reader.walk([](const PieceEvent& event) { ... begins ... }, [](const PieceEvent& event) { ... ends ... });
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/export/base/export_format.h"
#include "core/scan/block_reader.h"
#include "core/scan/chunk_cache.h"

namespace accelscope::exporting {

struct ExportTrack {
  const TrackSnapshot* snapshot = nullptr;
  bool nested = false;       // its lanes are levels of one stack
  std::uint64_t events = 0;  // that pass the mask; the range is not regarded
};

struct EventPiece {
  std::uint32_t track = 0;  // index into the plan's tracks
  std::uint32_t lane = 0;   // index into Snapshot::lanes; of a nested track its first
  std::vector<ChunkRequest> chunks;
  TickRange window;    // of a nested track: what begins in it; else everything
  bool first = false;  // of its track, or of its lane where the track is not nested
};

struct ExportPlan {
  std::vector<ExportTrack> tracks;  // those that have a schema, in the order of the session
  std::vector<EventPiece> pieces;   // track by track, lane by lane, in the order of time
  std::uint64_t events = 0;         // of the tracks that pass the mask
};

// How lanes are cut. As stacks: tracks whose lanes are levels of one are cut by time, which takes reading the times of
// tracks of several lanes. As rows: all lanes come one after the other.
enum class PieceOrder : std::uint8_t { stacks, rows };
inline constexpr std::uint64_t kPieceEvents = 32U << 10;

// Tracks of the kinds that `wanted` says.
[[nodiscard]] Result<ExportPlan> plan_export(const ExportRequest& request,
                                             const std::function<bool(const TrackSnapshot&)>& wanted,
                                             PieceOrder order = PieceOrder::stacks,
                                             std::uint64_t piece_events = kPieceEvents);

// An event of the piece at hand. What else it has is asked of the reader.
struct PieceEvent {
  std::int64_t begin = 0, end = 0;  // ticks
  std::uint32_t chunk = 0;          // index into the piece's chunks
  std::uint32_t row = 0;            // in the chunk
  std::uint32_t depth = 0;          // of its lane
};

// One per thread.
class PieceReader {
 public:
  PieceReader(const QueryContext& query, const TimeRange& range) : query_(query), range_(range) {}
  PieceReader(PieceReader&&) = default;

  [[nodiscard]] Result<void> open(const ExportTrack& track, const EventPiece& piece);

  // What begins in the piece, by time, what lies above first; and what was open before, by level.
  [[nodiscard]] std::span<const PieceEvent> events() const noexcept { return events_; }
  [[nodiscard]] std::span<const PieceEvent> open_before() const noexcept { return open_; }

  // Calls begin(event) and end(event) in the order of time, and for nested tracks of a stack: what begins later ends
  // first. What is still open when the window ends is left open; the next piece knows it.
  template <typename Begin, typename End>
  void walk(Begin&& begin, End&& end);

  [[nodiscard]] const LaneSnapshot& lane() const noexcept { return *lane_; }
  [[nodiscard]] const Schema& schema() const noexcept { return *lane_->schema; }
  [[nodiscard]] std::int64_t ns(std::int64_t ticks) const noexcept {
    return exact_ ? ticks : lane_->clock->to_ns(ticks);
  }
  // The reader of the event's chunk, at the event's block.
  [[nodiscard]] BlockReader& at(const PieceEvent& event) {
    BlockReader& reader = *chunks_[event.chunk].reader;
    reader.seek(event.row / kBlockEvents);
    return reader;
  }
  [[nodiscard]] EventId id(const PieceEvent& event) const noexcept {
    const Chunk& chunk = chunks_[event.chunk];
    return make_event_id(chunk.lane->number(), chunk.lane->chunk(chunk.index).first_ordinal + event.row);
  }
  [[nodiscard]] StringId name(const PieceEvent& event) {
    return static_cast<StringId>(at(event).names()[event.row % kBlockEvents]);
  }
  // What a sample of a counter has beside its value: its name, and values of further columns.
  [[nodiscard]] std::uint64_t beside(const PieceEvent& event, std::size_t value_column);
  // Of a column of type text.
  [[nodiscard]] std::string_view text(const PieceEvent& event, std::size_t column) const noexcept {
    return chunks_[event.chunk].loaded->view.text(column, event.row);
  }
  struct Chunk {
    const LaneSnapshot* lane = nullptr;
    std::uint32_t index = 0;  // of the chunk in its lane
    std::shared_ptr<const LoadedChunk> loaded;
    std::unique_ptr<BlockReader> reader;
  };
  [[nodiscard]] std::span<const Chunk> chunks() const noexcept { return std::span(chunks_).first(chunk_count_); }

 private:
  [[nodiscard]] Result<void> load(const ChunkRequest& request);
  void collect(std::uint32_t chunk, const ChunkRequest& request, const TickRange& window, std::uint32_t depth);
  [[nodiscard]] const StringMap& strings_of(const LaneSnapshot& lane);

  QueryContext query_;
  TimeRange range_;
  std::map<std::uint32_t, std::unique_ptr<StringMap>> strings_;  // by scope
  const LaneSnapshot* lane_ = nullptr;
  bool exact_ = false;
  bool nested_ = false;
  TickRange window_;
  std::vector<Chunk> chunks_;  // readers are kept for the next piece
  std::size_t chunk_count_ = 0;
  std::vector<PieceEvent> events_;
  std::vector<PieceEvent> open_;
  std::vector<PieceEvent> stack_;
};

template <typename Begin, typename End>
void PieceReader::walk(Begin&& begin, End&& end) {
  if (!nested_) {
    for (const PieceEvent& event : events_) {
      begin(event);
      end(event);
    }
    return;
  }
  stack_.assign(open_.begin(), open_.end());
  for (const PieceEvent& event : events_) {
    while (!stack_.empty() && (stack_.back().depth >= event.depth || stack_.back().end < event.end)) {
      end(stack_.back());
      stack_.pop_back();
    }
    begin(event);
    stack_.push_back(event);
  }
  while (!stack_.empty() && stack_.back().end <= window_.end) {
    end(stack_.back());
    stack_.pop_back();
  }
}

// Text that many pieces of a session are turned into at the same time, handed on in the order of the pieces. No more
// than a few pieces are held at once.

// Appends the bytes of one piece; `worker` is below the pool's concurrency and may index per-thread state.
using MakePiece = std::function<Result<void>(std::size_t piece, std::size_t worker, std::string& out)>;
// Takes the bytes of one piece, in order.
using TakePiece = std::function<Result<void>(std::size_t piece, std::string_view bytes)>;

// Fails with the first piece that fails, with what `take` returns, or when cancelled.
[[nodiscard]] Result<void> write_pieces(const QueryContext& query, std::size_t pieces, const MakePiece& make,
                                        const TakePiece& take);

}  // namespace accelscope::exporting
