// Takes the numbered frames of one stream into a sink and keeps count: a doubled frame is dropped and counted, a
// missing one is an error, and the totals at the end are compared with what came. No sockets in here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/wire/messages.h"
#include "core/model/event_sink.h"

namespace accelscope::capture {

class StreamIngest {
 public:
  explicit StreamIngest(EventSink& sink) : sink_(sink) {}

  // A definition or a chunk. After an error nothing more may be taken; what came before stays in the sink.
  Result<void> take(Frame frame);

  // Compares the totals, and writes what is missing or doubled into the sink's quality report. Returns what is missing
  // in a sentence, or "".
  Result<std::string> finish(const StreamEnd& end);

  [[nodiscard]] std::uint64_t last_sequence() const noexcept { return last_sequence_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t chunks() const noexcept { return chunks_; }
  [[nodiscard]] std::uint64_t doubled_frames() const noexcept { return doubled_frames_; }
  [[nodiscard]] std::uint64_t lost_events() const noexcept { return lost_events_; }  // known after finish()

 private:
  Result<void> take_definition(const Frame& frame);
  Result<void> take_chunk(Frame frame);
  [[nodiscard]] std::uint64_t events_of(LaneNumber lane) const noexcept;

  EventSink& sink_;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t doubled_frames_ = 0;
  std::uint64_t lost_events_ = 0;
  std::uint64_t unknown_definitions_ = 0;
  std::vector<std::uint64_t> lane_events_;  // by lane number
};

}  // namespace accelscope::capture
