// The pen every source writes with. It numbers schemas, clocks, tracks and lanes of one scope, interns strings,
// keeps a chunk builder per lane, puts overlapping events on further sub-lanes and seals chunks into a sink.
//
//   SessionWriter writer(sink);
//   SchemaNumber schema = writer.add_schema({...});
//   TrackNumber track = writer.add_track({.name = "Tensor", .kind = "engine", .schema = schema});
//   Row row = writer.begin_event(track, start_ticks, duration_ticks, writer.intern("MATMUL"));
//   row.integer(0, 33); row.text(1, "operands");
//   ...
//   writer.finish();
//
// Events of a track should come sorted by start; one that begins before the end of the last event in every
// sub-lane opens a further one (never dropped). The first failure of the sink sticks: see status().
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "core/chunk/chunk_builder.h"
#include "core/chunk/event_sink.h"

namespace accelscope {

// Sets the columns of the event just begun. Valid until the next begin_event of the same writer.
class Row {
 public:
  Row(ChunkBuilder& builder, std::uint32_t row, EventId id) noexcept : builder_(&builder), row_(row), id_(id) {}

  void integer(std::size_t column, std::int64_t value) { builder_->set_int64(column, row_, value); }
  void unsigned_integer(std::size_t column, std::uint64_t value) { builder_->set_uint64(column, row_, value); }
  void real(std::size_t column, double value) { builder_->set_float64(column, row_, value); }
  void boolean(std::size_t column, bool value) { builder_->set_uint64(column, row_, value ? 1 : 0); }
  void string(std::size_t column, StringId local_id) { builder_->set_uint64(column, row_, local_id); }
  void text(std::size_t column, std::string_view value) { builder_->set_text(column, row_, value); }
  [[nodiscard]] EventId id() const noexcept { return id_; }  // with scope 0

 private:
  ChunkBuilder* builder_;
  std::uint32_t row_;
  EventId id_;
};

class SessionWriter {
 public:
  // At most this many distinct strings in a scope's dictionary; the next ones share one name and are counted in
  // the quality report.
  static constexpr StringId kMaxStrings = 8'000'000;

  explicit SessionWriter(EventSink& sink);
  ~SessionWriter();

  SchemaNumber add_schema(Schema schema);
  ClockNumber add_clock(Clock clock);
  void update_clock(const Clock& clock);  // same number, higher version
  TrackNumber add_track(Track track);
  [[nodiscard]] StringId intern(std::string_view text);

  Row begin_event(TrackNumber track, std::int64_t start_ticks, std::int64_t duration_ticks, StringId name);
  // For sources that know the depth of nested events: the sub-lane is given, not searched. An event that does
  // not fit there goes to the first deeper sub-lane where it does.
  Row begin_event_at(TrackNumber track, std::uint32_t depth, std::int64_t start_ticks, std::int64_t duration_ticks,
                     StringId name);
  void sample(TrackNumber track, std::int64_t ticks, double value);        // counters with a float64 column 0
  void sample(TrackNumber track, std::int64_t ticks, std::int64_t value);  // counters with an int64 column 0

  void add_source_file(std::string path, std::string content);
  void set_meta(std::string key, std::string value);
  void add_quality(QualityEntry entry);
  void add_metric(Metric metric);

  // Seals every open chunk and gives the buffers' memory back; for sources that write one table after another.
  void release_buffers();
  void flush();                               // seals every open chunk (live sources: every 100 ms)
  void flush(TrackNumber track);              // those of one track
  Result<void> finish();                      // flush, then the final state
  [[nodiscard]] Result<void> status() const;  // the sink's first failure
  [[nodiscard]] bool cancelled() const { return failed_ || sink_.cancelled(); }
  [[nodiscard]] std::uint64_t event_count() const noexcept { return event_count_; }

 private:
  struct LaneState;
  struct TrackState;
  LaneState& lane_at(TrackNumber track, std::size_t depth);
  LaneState& new_lane(TrackNumber track, std::size_t depth);
  Row append(LaneState& lane, std::int64_t start_ticks, std::int64_t duration_ticks, StringId name);
  void seal(LaneState& lane);
  void flush_strings();
  void define(const Definition& definition);
  void fail(const Error& error);

  EventSink& sink_;
  std::vector<std::unique_ptr<Schema>> schemas_;
  std::vector<std::unique_ptr<TrackState>> tracks_;
  std::vector<std::unique_ptr<LaneState>> lanes_;
  // Beyond what a session holds.
  std::unordered_map<SchemaNumber, TrackNumber> spare_tracks_;
  std::unordered_map<const Schema*, std::unique_ptr<LaneState>> spare_lanes_;
  std::uint32_t clock_count_ = 0;
  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, StringId, StringHash, std::equal_to<>> strings_;
  StringBatch pending_strings_;
  std::uint64_t overflowing_strings_ = 0;
  std::uint64_t event_count_ = 0;
  Error failure_;
  bool failed_ = false;
};

}  // namespace accelscope
