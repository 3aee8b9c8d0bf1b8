// The events of lines, read on a thread of their own while those before them are used.
//
//   EventsAhead ahead(bytes, lines);
//   while (const EventBatch* batch = ahead.next()) {
//     for (std::size_t i = 0; i < batch->events.size(); ++i) use(batch->lines[i], batch->events[i]);
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/batches_ahead.h"
#include "capture/sources/xplane/read/records.h"
#include "capture/sources/xplane/read/space_index.h"
#include "capture/sources/xplane/read/wire.h"

namespace accelscope::capture::sources::xplane {

// Events that were skipped.
struct SkippedEvents {
  std::uint64_t broken = 0;
  std::uint64_t first_broken = 0;  // where it lies
  std::uint64_t cut = 0;
  std::uint64_t too_long = 0;
};

struct EventBatch {
  std::vector<EventRecord> events;
  std::vector<std::uint32_t> lines;  // of each event, by the place among those that were asked for
  SkippedEvents skipped;
  std::uint64_t done = 0;  // of the file's bytes

 private:
  friend class EventsAhead;
  std::vector<std::size_t> first_stats;  // of each event
  std::vector<StatValue> stats;
  std::string texts;
};

class EventsAhead {
 public:
  EventsAhead(const SpaceBytes& bytes, std::vector<BytesPlace> lines);

  // Until the next call. Null at the end.
  [[nodiscard]] const EventBatch* next() { return batches_.next(); }

 private:
  [[nodiscard]] bool fill(EventBatch& batch);
  // The next field of the lines, one line after the other.
  [[nodiscard]] bool next_field(WireField& field);
  void add_event(std::string_view message, std::uint64_t at, EventBatch& batch) const;

  const SpaceBytes& bytes_;
  const std::vector<BytesPlace> lines_;
  // The reading thread's own.
  SpaceWindow window_;
  std::optional<MessageWalk> walk_;  // of line_
  std::uint32_t line_ = 0;
  BatchesAhead<EventBatch> batches_;  // begins when all of the above is there
};

}  // namespace accelscope::capture::sources::xplane
