// Writes events in any order to tracks that end up sorted. As long as a track's events come sorted by start, the longer
// of two first, they go straight to its chunks. The first one that comes too late makes the track unordered: what it
// has is taken back and everything is sorted, with bounded memory, before it is written again.
//
// At the end events whose times cannot be true (doubtful_times.h) are set aside: they get a track of their own beside
// the one that they were written to, which tells nothing to summaries, and does not lengthen the session.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "capture/sources/base/import_report.h"
#include "capture/sources/tracks/doubtful_times.h"
#include "capture/sources/tracks/event_values.h"
#include "capture/sources/tracks/held_events.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::tracks {

// Whether the events of such a row come one after another. Those of engines may hold others.
[[nodiscard]] bool is_in_order(std::string_view kind, std::string_view table) noexcept;

// The track of events whose times cannot be true, beside that which they belong to.
[[nodiscard]] Track doubtful_track(const Track& of, TrackNumber number, std::int64_t order);
// A sentence for the report, with their number.
inline constexpr std::string_view kDoubtfulTimesAreSetAside =
    "events have times that their launch, their stream or all other events belie by orders of magnitude, such as a "
    "stamp of 0 or an end taken late; they are kept on rows of their own (\"impossible times\") and in the tables, and "
    "count in no view, share or verdict";

class TrackEvents {
 public:
  TrackEvents(SessionWriter& writer, HeldSink& held) : writer_(writer), held_(held) {}

  // The schema's number comes from the writer; the schema must outlive this object.
  [[nodiscard]] std::uint32_t add_track(SchemaNumber number, const Schema& schema);
  // Texts among the values lie in `text`. The event's id; kNoEvent: it is known only once everything is sorted.
  EventId write(std::uint32_t track, std::int64_t start, std::int64_t duration, StringId name,
                std::span<const BoundValue> values, std::string_view text);
  // For formats that know how deep an event lies among nested ones: events of one depth do not overlap and come in
  // their order, whatever those of other depths do. One that does not fit there goes to the next deeper place where it
  // does.
  EventId write_at(std::uint32_t track, std::uint32_t depth, std::int64_t start, std::int64_t duration, StringId name,
                   std::span<const BoundValue> values, std::string_view text);
  // Takes back what was written to a track, for whoever finds that it was not as it had seemed: every event in the
  // order of begins, those that hold others first. The track is as good as new then. False, and nothing is done, for a
  // track that has to be sorted anyway.
  struct TakenEvent {
    std::int64_t start = 0;
    std::int64_t duration = 0;
    StringId name = 0;
    EventValues values;
  };
  bool take(std::uint32_t track, const std::function<void(TakenEvent&)>& visit);
  // Whether every id that write() gave for the track's events is still theirs: none of them was taken back.
  [[nodiscard]] bool ids_hold(std::uint32_t track) const noexcept {
    return !tracks_[track].unordered && !tracks_[track].taken;
  }
  // Values that only the whole file tells: `amend` adds them to the events of a track as finish() gives those their
  // places, or sets others in the place of those that were written.
  using Amend = std::function<void(std::int64_t start, StringId name, Row& row)>;
  void amend(std::uint32_t track, Amend amend) { amends_[track] = std::move(amend); }
  // What the times of a track can be held against.
  struct TimeUse {
    bool timed = true;  // false: a row without times
    std::uint32_t clock = kNone;
    double ticks_per_ns = 1;
    bool on_host = false;
    bool in_order = false;  // one event at a time: a stream, a queue
  };
  // Sorts what has to be sorted, and sets aside what cannot be true; every track then has its number in the session.
  Result<void> finish(const std::function<TimeUse(std::uint32_t track)>& use);

  [[nodiscard]] TrackNumber number(std::uint32_t track) const noexcept { return tracks_[track].number; }
  // The track of those of its events whose times cannot be true, "doubtful" by its kind; kNone: there are none.
  [[nodiscard]] TrackNumber doubtful(std::uint32_t track) const noexcept { return tracks_[track].doubtful; }
  [[nodiscard]] std::uint64_t doubtful_count() const noexcept { return doubtful_count_; }
  // Of the events of a track that are not doubtful; the greatest number: it has none.
  [[nodiscard]] std::int64_t first_start(std::uint32_t track) const noexcept {
    return tracks_[track].times.first_start();
  }
  [[nodiscard]] const Schema& schema(std::uint32_t track) const noexcept { return *tracks_[track].schema; }
  [[nodiscard]] std::size_t size() const noexcept { return tracks_.size(); }
  // Events with doubtful times, and those for which a session has no more sub-lanes.
  void report_losses(ImportReport& report) const;

 private:
  struct TrackState {
    SchemaNumber schema_number = 0;
    const Schema* schema = nullptr;
    TrackNumber number = 0;
    TrackNumber doubtful = kNone;
    TimeSketch times;
    std::int64_t last_start = 0;
    std::int64_t last_duration = 0;
    bool any = false;
    bool unordered = false;
    bool taken = false;
    std::vector<std::int64_t> lane_ends;  // of the last event in each sub-lane
  };
  // The topmost sub-lane that is free at that time; nothing if there is none and can be no further one.
  [[nodiscard]] std::optional<std::uint32_t> free_lane(TrackState& track, std::int64_t start, std::int64_t duration);
  [[nodiscard]] std::optional<std::uint32_t> free_lane_from(TrackState& track, std::size_t depth, std::int64_t start,
                                                            std::int64_t duration);
  EventId add_to_lane(TrackState& track, std::uint32_t lane, std::int64_t start, std::int64_t duration, StringId name,
                      std::span<const BoundValue> values, std::string_view text);
  void add_to_sorter(std::uint32_t track, std::int64_t start, std::int64_t duration, StringId name,
                     std::span<const BoundValue> values, std::string_view text);
  void take_back(std::uint32_t track);
  void amend_ordered();
  Result<void> sort_unordered();
  struct HeldTime {
    std::int64_t start = 0;
    std::int64_t duration = 0;
    StringId name = 0;
  };
  void rewrite(std::uint32_t track, const std::function<void(TakenEvent&)>& visit);
  void place(std::uint32_t track, const TakenEvent& event);
  Result<void> set_aside(std::uint32_t track, const TimeBounds& bounds, bool in_order);
  Result<void> visit_times(TrackNumber track, const std::function<void(const HeldTime&)>& visit);
  void bound_buffers(std::size_t added_words);
  void add_to_sorter(std::uint32_t track, EventSorter& sorter, const ChunkView& chunk, std::uint32_t row);
  [[nodiscard]] EventSorter& sorter_of(const TrackState& track);
  [[nodiscard]] bool fit(std::span<const BoundValue> values, const Schema& schema);
  void fail(const Error& error);

  SessionWriter& writer_;
  HeldSink& held_;
  std::deque<TrackState> tracks_;  // in their places while others are added
  std::map<SchemaNumber, std::unique_ptr<EventSorter>> sorters_;
  std::map<std::uint32_t, Amend> amends_;
  const Amend* amending_ = nullptr;
  std::size_t lane_count_ = 0;
  std::uint64_t without_lane_ = 0;
  std::uint64_t doubtful_count_ = 0;
  std::size_t buffered_words_ = 0;  // in chunks that are not sealed yet, about
  Result<void> status_;
};

}  // namespace accelscope::capture::sources::tracks
