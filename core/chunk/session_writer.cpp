#include "core/chunk/session_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace accelscope {

struct SessionWriter::LaneState {
  LaneState(const Schema& schema, LaneNumber lane) : builder(schema, lane) {
    for (std::size_t i = 0; i < schema.columns.size(); ++i) {
      const Column& column = schema.columns[i];
      if (column.required && column.type != ColumnType::text) required.push_back({i, column.type == ColumnType::int64});
    }
  }
  struct RequiredColumn {
    std::size_t index;
    bool is_signed;
  };
  ChunkBuilder builder;
  std::vector<RequiredColumn> required;
};

struct SessionWriter::TrackState {
  const Schema* schema = nullptr;
  std::vector<LaneState*> lanes;  // by depth
};

namespace {

constexpr const char* kOverflowString = "(more names than can be kept apart)";

}  // namespace

SessionWriter::SessionWriter(EventSink& sink) : sink_(sink) {}
SessionWriter::~SessionWriter() = default;

SchemaNumber SessionWriter::add_schema(Schema schema) {
  schema.number = static_cast<SchemaNumber>(schemas_.size());
  assert(schema.number < kMaxLocalNumber);
  constexpr std::size_t kMostColumns = kMaxChunkColumns - 3;
  if (schema.columns.size() > kMostColumns) {
    add_quality({"columns_left_out", schema.columns.size() - kMostColumns,
                 fmt::format("columns beyond the first {} of a table were left out", kMostColumns)});
  }
  Schema retained = schema;
  retained.columns.resize(std::min(retained.columns.size(), kMostColumns));
  define(retained);
  schemas_.push_back(std::make_unique<Schema>(std::move(schema)));
  return schemas_.back()->number;
}

ClockNumber SessionWriter::add_clock(Clock clock) {
  clock.number = clock_count_++;
  define(clock);
  return clock.number;
}

void SessionWriter::update_clock(const Clock& clock) { define(clock); }

TrackNumber SessionWriter::add_track(Track track) {
  track.number = static_cast<TrackNumber>(tracks_.size());
  if (track.number >= kMaxLocalNumber) {
    // All of one schema share a number then: their rows are written, and go nowhere.
    fail(Error{fmt::format("more than {} tracks; import fewer cores or ranks into one session", kMaxLocalNumber)});
    const auto [spare, added] = spare_tracks_.try_emplace(track.schema, track.number);
    if (!added) return spare->second;
  }
  auto state = std::make_unique<TrackState>();
  if (track.schema != kNone) state->schema = schemas_[track.schema].get();
  define(track);
  tracks_.push_back(std::move(state));
  return track.number;
}

StringId SessionWriter::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto found = strings_.find(text); found != strings_.end()) return found->second;
  if (strings_.size() >= kMaxStrings) {
    ++overflowing_strings_;
    text = kOverflowString;
    if (const auto found = strings_.find(text); found != strings_.end()) return found->second;
  }
  const auto id = static_cast<StringId>(strings_.size() + 1);
  strings_.emplace(text, id);
  if (pending_strings_.strings.empty()) pending_strings_.first_id = id;
  pending_strings_.strings.emplace_back(text);
  if (pending_strings_.strings.size() >= 65536) flush_strings();
  return id;
}

SessionWriter::LaneState& SessionWriter::lane_at(TrackNumber track, std::size_t depth) {
  const TrackState& state = *tracks_[track];
  return depth < state.lanes.size() ? *state.lanes[depth] : new_lane(track, depth);
}

SessionWriter::LaneState& SessionWriter::new_lane(TrackNumber track, std::size_t depth) {
  TrackState& state = *tracks_[track];
  assert(state.schema != nullptr);
  while (state.lanes.size() <= depth) {
    if (lanes_.size() >= kMaxLocalNumber) {
      fail(Error{fmt::format("more than {} lanes; import fewer tracks into one session", kMaxLocalNumber)});
      std::unique_ptr<LaneState>& spare = spare_lanes_[state.schema];
      if (spare == nullptr) spare = std::make_unique<LaneState>(*state.schema, kMaxLocalNumber - 1);
      return *spare;
    }
    const auto number = static_cast<LaneNumber>(lanes_.size());
    define(Lane{number, track, static_cast<std::uint32_t>(state.lanes.size())});
    lanes_.push_back(std::make_unique<LaneState>(*state.schema, number));
    state.lanes.push_back(lanes_.back().get());
  }
  return *state.lanes[depth];
}

Row SessionWriter::begin_event(TrackNumber track, std::int64_t start_ticks, std::int64_t duration_ticks,
                               StringId name) {
  return begin_event_at(track, 0, start_ticks, duration_ticks, name);
}

Row SessionWriter::begin_event_at(TrackNumber track, std::uint32_t depth, std::int64_t start_ticks,
                                  std::int64_t duration_ticks, StringId name) {
  std::size_t at = depth;
  LaneState* lane = &lane_at(track, at);
  // First fit: the topmost sub-lane whose last event has ended. An instant fits at the very end of an event.
  while (lane->builder.has_events() && start_ticks < lane->builder.end_ticks() && !failed_)
    lane = &lane_at(track, ++at);
  return append(*lane, start_ticks, std::max<std::int64_t>(duration_ticks, 0), name);
}

Row SessionWriter::append(LaneState& lane, std::int64_t start_ticks, std::int64_t duration_ticks, StringId name) {
  if (lane.builder.full()) seal(lane);
  ChunkBuilder& builder = lane.builder;
  // After a failure the events go nowhere; the row only has to take its columns.
  if (failed_ && builder.has_events()) start_ticks = std::max(start_ticks, builder.end_ticks());
  const EventId id = make_event_id(builder.lane(), builder.next_ordinal());
  const std::uint32_t row = builder.append(start_ticks, duration_ticks, name);
  for (const LaneState::RequiredColumn& column : lane.required) {
    if (column.is_signed) {
      builder.set_int64(column.index, row, 0);
    } else {
      builder.set_uint64(column.index, row, 0);
    }
  }
  ++event_count_;
  return {builder, row, id};
}

void SessionWriter::sample(TrackNumber track, std::int64_t ticks, double value) {
  begin_event(track, ticks, 0, 0).real(0, value);
}

void SessionWriter::sample(TrackNumber track, std::int64_t ticks, std::int64_t value) {
  begin_event(track, ticks, 0, 0).integer(0, value);
}

void SessionWriter::add_source_file(std::string path, std::string content) {
  define(SourceFile{std::move(path), std::move(content)});
}

void SessionWriter::set_meta(std::string key, std::string value) {
  define(MetaEntry{std::move(key), std::move(value)});
}

void SessionWriter::add_quality(QualityEntry entry) { define(std::move(entry)); }

void SessionWriter::add_metric(Metric metric) { define(std::move(metric)); }

void SessionWriter::flush() {
  flush_strings();
  for (const auto& lane : lanes_) {
    if (!lane->builder.empty()) seal(*lane);
  }
}

void SessionWriter::flush(TrackNumber track) {
  for (LaneState* lane : tracks_[track]->lanes) {
    if (!lane->builder.empty()) seal(*lane);
    lane->builder.release_buffers();
  }
}

void SessionWriter::release_buffers() {
  flush();
  for (const auto& lane : lanes_) lane->builder.release_buffers();
}

Result<void> SessionWriter::finish() {
  flush();
  if (overflowing_strings_ > 0) {
    add_quality({"names_over_limit", overflowing_strings_,
                 fmt::format("more than {} different strings; the later ones are shown as \"{}\"", kMaxStrings,
                             kOverflowString)});
    overflowing_strings_ = 0;
  }
  return status();
}

Result<void> SessionWriter::status() const {
  if (failed_) return failure_;
  return {};
}

void SessionWriter::seal(LaneState& lane) {
  flush_strings();
  SealedChunk chunk = lane.builder.seal();
  if (failed_) return;
  if (Result<void> result = sink_.append(std::move(chunk)); !result) fail(result.error());
}

void SessionWriter::flush_strings() {
  if (pending_strings_.strings.empty()) return;
  define(pending_strings_);
  pending_strings_.strings.clear();
}

void SessionWriter::define(const Definition& definition) {
  if (failed_) return;
  if (Result<void> result = sink_.define(definition); !result) fail(result.error());
}

void SessionWriter::fail(const Error& error) {
  if (failed_) return;
  failed_ = true;
  failure_ = error;
}

}  // namespace accelscope
