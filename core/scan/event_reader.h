// Reads single events by id or time: what Details, hover and hit tests show. Keeps the last few chunks decoded.
// One reader per thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/scan/chunk_cache.h"

namespace accelscope {

using FieldValue = std::variant<std::monostate, std::int64_t, std::uint64_t, double, bool, std::string>;

struct EventRecord {
  EventId id = kNoEvent;
  const LaneSnapshot* lane = nullptr;  // lives as long as the reader's snapshot
  std::int64_t begin_ticks = 0, end_ticks = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  StringId name = 0;  // session-wide
  std::string name_text;
  bool waits = false;              // its name is one of the schema's wait names
  std::vector<FieldValue> fields;  // one per schema column; monostate: no value
};

// The event's value in a column, which its name or its role tells; null where it has none of the type.
template <typename T, typename Key>
[[nodiscard]] const T* value_in(const EventRecord& record, const Key& column) {
  const auto place = record.lane->schema ? record.lane->schema->find(column) : std::nullopt;
  return place && *place < record.fields.size() ? std::get_if<T>(&record.fields[*place]) : nullptr;
}

class EventReader {
 public:
  EventReader(const Store& store, std::shared_ptr<const Snapshot> snapshot);

  [[nodiscard]] const Snapshot& snapshot() const noexcept { return *snapshot_; }
  [[nodiscard]] Result<EventRecord> read(EventId id);
  // The event of the lane that covers the time, else nothing. slack_ns widens the search on both sides (a pixel).
  [[nodiscard]] Result<std::optional<EventId>> event_at(const LaneSnapshot& lane, std::int64_t ns,
                                                        std::int64_t slack_ns);
  // First event of the lane that begins at or after / last that begins before the time.
  [[nodiscard]] Result<std::optional<EventId>> first_from(const LaneSnapshot& lane, std::int64_t ns);
  [[nodiscard]] Result<std::optional<EventId>> last_before(const LaneSnapshot& lane, std::int64_t ns);
  // The event after (before) it in its lane; the nearest of its name, if that is asked for. Nothing if there is none.
  [[nodiscard]] Result<std::optional<EventId>> neighbour(EventId from, bool after, bool same_name,
                                                         const TaskControl& control);
  [[nodiscard]] Result<std::shared_ptr<const LoadedChunk>> chunk(const LaneSnapshot& lane, std::uint32_t chunk_index) {
    return chunks_->load(store_, lane, chunk_index);
  }

 private:
  const Store& store_;
  std::shared_ptr<const Snapshot> snapshot_;
  std::unique_ptr<ChunkCache> chunks_;
};

// A field as the user reads it: "1,234 B", "0x2000000", "–" for no value.
[[nodiscard]] std::string field_text(const Column& column, const FieldValue& value);

}  // namespace accelscope
