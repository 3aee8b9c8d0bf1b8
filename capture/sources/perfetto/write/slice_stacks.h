// Joins begins and ends of slices, which lie within each other on every track. Marks of a track that come in order are
// joined as they come. The first one that comes too late, or more open slices than a program has, make the track wait:
// its marks are sorted by time, with bounded memory, and joined at the end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/event_sorter.h"
#include "capture/sources/perfetto/write/track_book.h"
#include "capture/sources/tracks/unordered_session.h"

namespace accelscope::capture::sources::perfetto {

// Flows of a trace: each event says which flows pass through it, and the order of their times makes chains of them. At
// the end every step of a chain becomes a flow of its own from one event to the next.
enum class FlowRole : std::uint8_t {
  pass,       // begins the flow, or goes on with it
  terminate,  // the last one of the flow, whose id may come again
  begin,      // of old events: begins it anew
  step,       // goes on with it, if it has begun
  end,        // is reached by it and leads nowhere; others may be reached as well
  submits,    // no chain: the call that started the GPU's work of that event id
  waits,      // the call that waited for it
};

struct FlowPoint {
  std::uint64_t key = 0;
  std::uint64_t id = 0;
  std::int64_t ns = 0;
  FlowRole role = FlowRole::pass;
};

// Keys of flows between calls and a GPU's work.
[[nodiscard]] constexpr std::uint64_t submission_key(std::uint64_t event_id) noexcept {
  return tracks::flow_key(1, event_id);
}
[[nodiscard]] constexpr std::uint64_t wait_key(std::uint64_t event_id) noexcept {
  return tracks::flow_key(2, event_id);
}

class FlowChains {
 public:
  explicit FlowChains(tracks::UnorderedSession& session) : session_(session) {}

  void add(const FlowPoint& point, const tracks::WrittenEvent& event);
  // Hands every step to the session. Ends the object.
  void join();
  [[nodiscard]] std::uint64_t without_begin() const noexcept { return without_begin_; }

 private:
  struct Point {
    FlowPoint flow;
    std::uint64_t serial = 0;  // those of one time are in the order of the file
    tracks::WrittenEvent event;
  };
  tracks::UnorderedSession& session_;
  std::vector<Point> points_;
  std::uint64_t without_begin_ = 0;
};

struct SliceMark {
  enum class Kind : std::uint8_t { begin, end, complete, instant, state };
  Kind kind = Kind::begin;
  EventTableKind table = EventTableKind::event;
  std::int64_t ns = 0;
  std::int64_t duration = 0;  // of a complete one
  StringId name = 0;          // of an end: 0 is any
  StringId category = 0;
  std::optional<std::int64_t> thread_ns;
  std::optional<std::int64_t> instructions;
  bool flows_to_enclosing = false;  // an instant that is only there for its flows: they are of the slice it lies in
  bool flows_to_next = false;       // or of the one that begins next
  tracks::EventValues values;
  std::string rest;  // members of a JSON object that have no columns
  std::vector<FlowPoint> flows;

  void clear();
  // What the other holds; it gets this one's memory, and is to be cleared.
  void take(SliceMark& from) noexcept;
};

class SliceStacks {
 public:
  SliceStacks(tracks::UnorderedSession& session, TrackBook& book, EventTables& tables, FlowChains& flows);
  ~SliceStacks();

  // Takes what the mark holds; the mark is as good as new afterwards.
  void add(PerfettoTrack& track, SliceMark& mark);
  // Joins what was put aside; what has no end lasts until `end_ns`.
  Result<void> finish(std::int64_t end_ns);

  // Of the innermost slice that is open on the track; nothing if that is not known yet.
  [[nodiscard]] std::optional<EventTableKind> open_table(const PerfettoTrack& track) const;

  struct Counts {
    std::uint64_t ends_without_begin = 0;
    std::uint64_t unfinished = 0;
    std::uint64_t resorted_tracks = 0;
    std::uint64_t flows_without_slice = 0;
    std::uint64_t arguments_lost = 0;  // of ends that turned out to be of another table
    std::uint64_t too_large = 0;       // to be sorted with all that they carry
  };
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  struct OpenSlice {
    SliceMark mark;
    std::uint32_t row = kNone;
    std::uint32_t depth = 0;  // among the slices of its row
    std::int64_t end_ns = 0;  // of a complete one
    bool pending = false;
    std::optional<tracks::WrittenEvent> written;
  };
  struct Stack {
    PerfettoTrack* track = nullptr;
    std::vector<OpenSlice> slots;  // those beyond `depth` are kept for their memory
    std::size_t depth = 0;
    std::int64_t last_ns = INT64_MIN;
    std::int64_t written_until = INT64_MIN;
    std::vector<FlowPoint> for_next;
    std::vector<SliceMark> unmatched;  // ends that may find their begins yet
    bool any_complete = false;
    bool last_pass = false;  // its marks come sorted
    EventTableKind last_table = EventTableKind::event;
    bool waits = false;  // its marks go to the sorter
    bool mixed = false;  // what is written now may begin before what was written
  };
  [[nodiscard]] Stack& stack_of(PerfettoTrack& track);
  void take(Stack& stack, SliceMark& mark);
  void begin(Stack& stack, SliceMark& mark);
  void end(Stack& stack, SliceMark& mark);
  void instant(Stack& stack, SliceMark& mark);
  void close_ended(Stack& stack, std::int64_t ns);
  void close(Stack& stack, std::size_t slot, std::int64_t ns, bool finished);
  void drop_top(Stack& stack);
  void complete(SliceMark& mark);  // with what the row has beside its own columns
  tracks::WrittenEvent write(Stack& stack, OpenSlice& slice, std::int64_t duration);
  void put_aside(Stack& stack, std::int64_t ns);
  void take_back(Stack& stack);
  void keep(const Stack& stack, const SliceMark& mark);
  void close_all(Stack& stack, std::int64_t end_ns);

  tracks::UnorderedSession& session_;
  TrackBook& book_;
  EventTables& tables_;
  FlowChains& flows_;
  std::vector<std::unique_ptr<Stack>> stacks_;
  ChunkSpill spill_;
  std::unique_ptr<EventSorter> sorter_;
  SliceMark read_;
  std::string packed_;
  Counts counts_;
};

}  // namespace accelscope::capture::sources::perfetto
