#include "capture/sources/tracks/track_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "capture/sources/tracks/held_events.h"
#include "core/model/time_range.h"
#include "core/model/track_kinds.h"

namespace accelscope::capture::sources::tracks {
namespace {

constexpr std::size_t kSortBatchBytes = 16U << 20;
// Unpacked events of all tracks together. More tracks get more, so that their chunks do not become tiny.
constexpr std::size_t kBufferBytes = 32U << 20;
constexpr std::size_t kBufferBytesPerTrack = 16U << 10;
constexpr std::size_t kMostLanesOfTrack = 1024;
constexpr std::size_t kMostLanes = kMaxLocalNumber - 64;  // a writer has no more numbers

}  // namespace

// No session has room for more; whatever the file says, such a time is told of as one that cannot be true.
static void bound_times(std::int64_t& start, std::int64_t& duration) noexcept {
  start = std::clamp(start, -kFarthestTime, kFarthestTime);
  duration = std::min(duration, kFarthestTime - start);
}

bool is_in_order(std::string_view kind, std::string_view table) noexcept {
  constexpr std::string_view kOrderedTables[] = {"kernel", "memcpy", "memset", "op"};
  return (kind == "stream" || kind == "dma_queue") &&
         std::find(std::begin(kOrderedTables), std::end(kOrderedTables), table) != std::end(kOrderedTables);
}

Track doubtful_track(const Track& of, TrackNumber number, std::int64_t order) {
  Track aside = of;
  aside.number = number;
  aside.name += " (impossible times)";
  aside.kind = kDoubtfulTrack;
  aside.order = order;
  return aside;
}

void TrackEvents::report_losses(ImportReport& report) const {
  report.note("impossible_times", std::string(kDoubtfulTimesAreSetAside), doubtful_count_);
  report.note(
      "too_many_overlaps",
      "events were left out because more than 1024 of one track, or more than 16,000 of all, lie over each other",
      without_lane_);
}

std::uint32_t TrackEvents::add_track(SchemaNumber number, const Schema& schema) {
  TrackState track;
  track.schema_number = number;
  track.schema = &schema;
  track.number = writer_.add_track({.schema = number});
  tracks_.push_back(track);
  return static_cast<std::uint32_t>(tracks_.size() - 1);
}

EventId TrackEvents::write(std::uint32_t track, std::int64_t start, std::int64_t duration, StringId name,
                           std::span<const BoundValue> values, std::string_view text) {
  TrackState& state = tracks_[track];
  bound_times(start, duration);
  const bool late =
      state.any && (start < state.last_start || (start == state.last_start && duration > state.last_duration));
  if (late && !state.unordered) take_back(track);
  state.any = true;
  state.times.add(start, duration);
  if (state.unordered) {
    add_to_sorter(track, start, duration, name, values, text);
    return kNoEvent;
  }
  state.last_start = start;
  state.last_duration = duration;
  const std::optional<std::uint32_t> lane = free_lane(state, start, duration);
  return lane ? add_to_lane(state, *lane, start, duration, name, values, text) : kNoEvent;
}

EventId TrackEvents::write_at(std::uint32_t track, std::uint32_t depth, std::int64_t start, std::int64_t duration,
                              StringId name, std::span<const BoundValue> values, std::string_view text) {
  TrackState& state = tracks_[track];
  bound_times(start, duration);
  state.times.add(start, duration);
  if (state.unordered) {
    add_to_sorter(track, start, duration, name, values, text);
    return kNoEvent;
  }
  // Those that come without a depth have to be later than all of these.
  if (!state.any || start > state.last_start) {
    state.last_start = start;
    state.last_duration = duration;
  }
  state.any = true;
  const std::optional<std::uint32_t> lane = free_lane_from(state, depth, start, duration);
  return lane ? add_to_lane(state, *lane, start, duration, name, values, text) : kNoEvent;
}

EventId TrackEvents::add_to_lane(TrackState& track, std::uint32_t lane, std::int64_t start, std::int64_t duration,
                                 StringId name, std::span<const BoundValue> values, std::string_view text) {
  const std::vector<Column>& columns = track.schema->columns;
  if (!fit(values, *track.schema)) return kNoEvent;
  Row row = writer_.begin_event_at(track.number, lane, start, duration, name);
  put_values(row, columns, values, text);
  if (amending_ != nullptr) (*amending_)(start, name, row);
  const EventId id = track.taken ? kNoEvent : row.id();
  bound_buffers(3 + values.size());
  return id;
}

void TrackEvents::add_to_sorter(std::uint32_t track, std::int64_t start, std::int64_t duration, StringId name,
                                std::span<const BoundValue> values, std::string_view text) {
  const std::vector<Column>& columns = tracks_[track].schema->columns;
  if (!fit(values, *tracks_[track].schema)) return;
  EventSorter& sorter = sorter_of(tracks_[track]);
  sorter.begin();
  put_values(sorter, columns, values, text);
  sorter.commit(track, start, duration, name);
}

std::optional<std::uint32_t> TrackEvents::free_lane(TrackState& track, std::int64_t start, std::int64_t duration) {
  return free_lane_from(track, 0, start, duration);
}

std::optional<std::uint32_t> TrackEvents::free_lane_from(TrackState& track, std::size_t depth, std::int64_t start,
                                                         std::int64_t duration) {
  for (; depth < track.lane_ends.size(); ++depth) {
    if (track.lane_ends[depth] > start) continue;
    track.lane_ends[depth] = start + duration;
    return static_cast<std::uint32_t>(depth);
  }
  const std::size_t added = depth + 1 - track.lane_ends.size();
  if (depth >= kMostLanesOfTrack || lane_count_ + added > kMostLanes) {
    ++without_lane_;
    return std::nullopt;
  }
  lane_count_ += added;
  track.lane_ends.resize(depth + 1, std::numeric_limits<std::int64_t>::min());
  track.lane_ends[depth] = start + duration;
  return static_cast<std::uint32_t>(depth);
}

void TrackEvents::bound_buffers(std::size_t added_words) {
  buffered_words_ += added_words;
  if (buffered_words_ * sizeof(std::uint64_t) < kBufferBytes + tracks_.size() * kBufferBytesPerTrack) return;
  writer_.release_buffers();
  buffered_words_ = 0;
}

EventSorter& TrackEvents::sorter_of(const TrackState& track) {
  auto& sorter = sorters_[track.schema_number];
  if (sorter == nullptr) {
    sorter = std::make_unique<EventSorter>(*track.schema, held_.spill(), EventSorter::Options{kSortBatchBytes});
  }
  return *sorter;
}

void TrackEvents::take_back(std::uint32_t track) {
  TrackState& state = tracks_[track];
  state.unordered = true;
  writer_.flush(state.number);
  EventSorter& sorter = sorter_of(state);
  for (std::size_t lane = 0; lane < held_.lanes().size(); ++lane) {
    const HeldSink::HeldLane& held = held_.lanes()[lane];
    if (held.lane.track != state.number || held.dropped) continue;
    for (const std::size_t index : held.chunks) {
      const Result<Bytes> bytes = held_.spill().take(index);
      if (!bytes) return fail(bytes.error());
      const Result<ChunkView> chunk = ChunkView::parse(bytes.value());
      if (!chunk) return fail(chunk.error());
      for (std::uint32_t row = 0; row < chunk.value().count(); ++row) {
        add_to_sorter(track, sorter, chunk.value(), row);
      }
    }
    held_.drop_lane(held.lane.number);
  }
}

namespace {

// The events of one lane, one after another.
class LaneReader {
 public:
  LaneReader(ChunkSpill& spill, std::vector<std::size_t> chunks) : spill_(spill), chunks_(std::move(chunks)) {}

  // False at the end, or where a chunk cannot be read: see status().
  [[nodiscard]] bool next() {
    ++row_;
    while (!view_ || row_ >= view_->count()) {
      if (next_ == chunks_.size()) return false;
      Result<Bytes> bytes = spill_.take(chunks_[next_++]);
      if (!bytes) return fail(bytes.error());
      bytes_ = std::move(bytes).value();
      const Result<ChunkView> parsed = ChunkView::parse(bytes_);
      if (!parsed) return fail(parsed.error());
      view_ = parsed.value();
      row_ = 0;
    }
    view_->event_times(row_, begin, end);
    return true;
  }
  [[nodiscard]] const Result<void>& status() const noexcept { return status_; }

  void values(const std::vector<Column>& columns, EventValues& values) const {
    values.clear();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!view_->has_value(i, row_)) continue;
      switch (columns[i].type) {
        case ColumnType::text:
          values.text(i, view_->text(i, row_));
          break;
        case ColumnType::float64:
          values.real(i, view_->float64(i, row_));
          break;
        case ColumnType::int64:
          values.integer(i, view_->int64(i, row_));
          break;
        default:
          values.unsigned_integer(i, view_->stored(i, row_));
      }
    }
  }
  [[nodiscard]] StringId name() const { return view_->name(row_); }

  std::int64_t begin = 0;
  std::int64_t end = 0;

 private:
  bool fail(const Error& error) {
    status_ = error;
    next_ = chunks_.size();
    return false;
  }

  ChunkSpill& spill_;
  std::vector<std::size_t> chunks_;
  std::size_t next_ = 0;
  Bytes bytes_;
  std::optional<ChunkView> view_;
  std::uint32_t row_ = 0;
  Result<void> status_;
};

}  // namespace

bool TrackEvents::take(std::uint32_t track, const std::function<void(TakenEvent&)>& visit) {
  if (tracks_[track].unordered) return false;
  rewrite(track, visit);
  return true;
}

// Goes through the events that lie in the track's lanes; what `visit` writes anew goes to a new track.
void TrackEvents::rewrite(std::uint32_t track, const std::function<void(TakenEvent&)>& visit) {
  const TrackNumber number = tracks_[track].number;
  writer_.flush(number);
  std::map<std::uint32_t, LaneReader> lanes;  // by depth
  for (std::size_t lane = 0; lane < held_.lanes().size(); ++lane) {
    const HeldSink::HeldLane& held = held_.lanes()[lane];
    if (held.lane.track != number || held.dropped) continue;
    lanes.emplace(held.lane.depth, LaneReader(held_.spill(), held.chunks));
    held_.drop_lane(held.lane.number);
  }
  TrackState& state = tracks_[track];
  lane_count_ -= std::min(lane_count_, state.lane_ends.size());
  const SchemaNumber schema_number = state.schema_number;
  const Schema* const schema = state.schema;
  state = {};
  state.schema_number = schema_number;
  state.schema = schema;
  state.taken = true;
  state.number = writer_.add_track({.schema = schema_number});
  for (auto lane = lanes.begin(); lane != lanes.end();) {
    const bool any = lane->second.next();
    if (!lane->second.status()) fail(lane->second.status().error());
    lane = any ? std::next(lane) : lanes.erase(lane);
  }
  TakenEvent event;
  while (!lanes.empty()) {
    const auto first = std::min_element(lanes.begin(), lanes.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.begin, a.first) < std::pair(b.second.begin, b.first);
    });
    event.start = first->second.begin;
    event.duration = first->second.end - first->second.begin;
    event.name = first->second.name();
    first->second.values(schema->columns, event.values);
    visit(event);
    if (!first->second.next()) {
      if (!first->second.status()) fail(first->second.status().error());
      lanes.erase(first);
    }
  }
}

void TrackEvents::add_to_sorter(std::uint32_t track, EventSorter& sorter, const ChunkView& chunk, std::uint32_t row) {
  const std::vector<Column>& columns = tracks_[track].schema->columns;
  sorter.begin();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!chunk.has_value(i, row)) continue;
    if (columns[i].type == ColumnType::text) {
      sorter.text(i, chunk.text(i, row));
    } else if (columns[i].type == ColumnType::float64) {
      sorter.real(i, chunk.float64(i, row));
    } else {
      sorter.unsigned_integer(i, chunk.stored(i, row));  // the stored form of integers is the sorter's own
    }
  }
  std::int64_t begin = 0;
  std::int64_t end = 0;
  chunk.event_times(row, begin, end);
  sorter.commit(track, begin, end - begin, chunk.name(row));
}

void TrackEvents::amend_ordered() {
  for (const auto& [track, amend] : amends_) {
    if (tracks_[track].unordered) continue;
    amending_ = &amend;
    rewrite(track, [&, number = track](TakenEvent& event) { place(number, event); });
    amending_ = nullptr;
  }
}

Result<void> TrackEvents::sort_unordered() {
  if (!status_) return status_;
  for (TrackState& track : tracks_) {
    if (!track.unordered) continue;
    track.number = writer_.add_track({.schema = track.schema_number});
    track.lane_ends.clear();
  }
  for (const auto& [schema, sorter] : sorters_) {
    const Result<void> done = sorter->merge([&](const SortedEvent& event) {
      TrackState& track = tracks_[event.track];
      const std::optional<std::uint32_t> lane = free_lane(track, event.start, event.duration);
      if (!lane) return !writer_.cancelled();
      Row row = writer_.begin_event_at(track.number, *lane, event.start, event.duration, event.name);
      copy_values(event, sorter->schema(), row);
      if (const auto amend = amends_.find(event.track); amend != amends_.end())
        amend->second(event.start, event.name, row);
      return !writer_.cancelled();
    });
    if (!done) return done;
  }
  writer_.flush();
  return writer_.status();
}

Result<void> TrackEvents::finish(const std::function<TimeUse(std::uint32_t track)>& use) {
  if (!status_) return status_;
  amend_ordered();
  if (Result<void> done = sort_unordered(); !done) return done;
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_clock;
  std::map<std::uint32_t, std::vector<SketchedTrack>> sketches;
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    const EventKind kind = tracks_[track].schema->kind;
    const TimeUse of = use(track);
    if (!of.timed || (kind != EventKind::slice && kind != EventKind::instant)) continue;
    by_clock[of.clock].push_back(track);
    sketches[of.clock].push_back({&tracks_[track].times, of.on_host});
  }
  for (const auto& [clock, tracks] : by_clock) {
    const TimeBounds bounds = bounds_of(sketches[clock], use(tracks.front()).ticks_per_ns);
    for (const std::uint32_t track : tracks) {
      if (Result<void> done = set_aside(track, bounds, use(track).in_order); !done) return done;
    }
  }
  if (!status_) return status_;
  writer_.flush();
  return writer_.status();
}

Result<void> TrackEvents::visit_times(TrackNumber track, const std::function<void(const HeldTime&)>& visit) {
  for (const HeldSink::HeldLane& lane : held_.lanes()) {
    if (lane.lane.track != track || lane.dropped) continue;
    const Result<void> read = for_each_event(lane, held_.spill(), {}, [&](const HeldEvent& event) {
      visit({event.begin, event.end - event.begin, event.name});
    });
    if (!read) return read;
  }
  return {};
}

// Most tracks need no more than a look at their sketch.
Result<void> TrackEvents::set_aside(std::uint32_t track, const TimeBounds& bounds, bool in_order) {
  const TimeSketch& times = tracks_[track].times;
  if (times.count() == 0) return {};
  bool any = times.first_start() < bounds.first || times.last_start() > bounds.last || times.last_end() > bounds.end;
  LengthJudge lengths(times, bounds);
  if (in_order && lengths.suspects()) {
    const TrackNumber number = tracks_[track].number;
    const auto look = [&](const HeldTime& event) { lengths.look(event.start, event.duration, event.name); };
    if (Result<void> read = visit_times(number, look); !read) return read;
    if (lengths.any_candidate()) {
      const auto overlap = [&](const HeldTime& event) { lengths.overlap(event.start, event.duration); };
      if (Result<void> read = visit_times(number, overlap); !read) return read;
      any = any || lengths.any_belied();
    }
  }
  if (!any) return {};
  std::uint32_t aside = kNone;
  rewrite(track, [&](TakenEvent& event) {
    const bool doubtful =
        !bounds.hold(event.start, event.duration) || lengths.is_doubtful(event.start, event.duration, event.name);
    if (doubtful && aside == kNone) {
      aside = add_track(tracks_[track].schema_number, *tracks_[track].schema);
      tracks_[track].doubtful = tracks_[aside].number;
    }
    doubtful_count_ += doubtful ? 1 : 0;
    place(doubtful ? aside : track, event);
  });
  return status_;
}

// After all events are sorted: they come by their starts.
void TrackEvents::place(std::uint32_t track, const TakenEvent& event) {
  TrackState& state = tracks_[track];
  state.any = true;
  state.times.add(event.start, event.duration);
  const std::optional<std::uint32_t> lane = free_lane(state, event.start, event.duration);
  if (!lane) return;
  add_to_lane(state, *lane, event.start, event.duration, event.name, event.values.values(), event.values.texts());
}

// A source that writes one row of the file to the wrong table must not write beside that table's columns.
bool TrackEvents::fit(std::span<const BoundValue> values, const Schema& schema) {
  const bool all = std::all_of(values.begin(), values.end(),
                               [&](const BoundValue& value) { return value.column < schema.columns.size(); });
  if (!all)
    fail(Error{fmt::format("a row has more values than its table \"{}\" has columns; report this file", schema.name)});
  return all;
}

void TrackEvents::fail(const Error& error) {
  if (status_) status_ = error;
}

}  // namespace accelscope::capture::sources::tracks
