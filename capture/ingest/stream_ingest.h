// Takes the numbered frames of one capture into the sinks of its scopes and keeps count: a doubled frame is dropped and
// counted, a missing one is an error unless the agent said that it is gone, and the totals at the end are compared with
// what came. No sockets in here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/wire/capture_messages.h"
#include "capture/wire/messages.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::ingest {

// Each kind of a capture numbers its lanes, tracks and so on for itself, so each has a sink of its own.
class SinkProvider {
 public:
  SinkProvider() = default;
  SinkProvider(const SinkProvider&) = delete;
  SinkProvider& operator=(const SinkProvider&) = delete;
  virtual ~SinkProvider() = default;
  virtual EventSink& sink(std::uint32_t scope) = 0;  // made when it is first asked for
};

class StreamIngest {
 public:
  explicit StreamIngest(SinkProvider& sinks) : sinks_(sinks) {}

  // A definition or a chunk. After an error nothing more may be taken; what came before stays in the sinks.
  Result<void> take(wire::Frame frame);
  // The frames up to gap.last will not come. A gap that begins behind what came is an error.
  Result<void> take(const wire::Gap& gap);

  // Compares the totals, and writes what is missing or doubled into the quality report. Returns what is missing, or
  // what does not agree, in a sentence, or "".
  Result<std::string> finish(const wire::StreamEnd& end);

  // After finish(): whether the agent counts what came and what it said to be gone, by events, lanes, chunks and
  // frames.
  [[nodiscard]] bool totals_agree() const noexcept { return totals_agree_; }
  [[nodiscard]] std::uint64_t last_sequence() const noexcept { return last_sequence_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t chunks() const noexcept { return chunks_; }
  [[nodiscard]] std::uint64_t doubled_frames() const noexcept { return doubled_frames_; }
  [[nodiscard]] std::uint64_t lost_frames() const noexcept { return lost_frames_; }
  // In gaps, as far as it is known; after finish() by the agent's totals.
  // All that were made and did not come: with frames that the agent let go, or dropped before they were numbered.
  [[nodiscard]] std::uint64_t lost_events() const noexcept { return lost_events_ + dropped_events_; }
  [[nodiscard]] std::uint64_t dropped_events() const noexcept { return dropped_events_; }  // as the agent said

 private:
  Result<void> take_definition(const wire::Frame& frame);
  Result<void> take_chunk(wire::Frame frame);
  [[nodiscard]] std::string compare(const wire::StreamEnd& end);
  Result<void> report(const QualityEntry& entry) { return sinks_.sink(0).define(entry); }

  SinkProvider& sinks_;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t doubled_frames_ = 0;
  std::uint64_t reported_doubled_ = 0;
  std::uint64_t lost_frames_ = 0;
  std::uint64_t lost_events_ = 0;
  std::uint64_t dropped_events_ = 0;
  std::uint64_t unknown_definitions_ = 0;
  bool totals_agree_ = true;
  std::map<LaneNumber, std::uint64_t> lane_events_;  // by lane number with its scope on the wire
};

}  // namespace accelscope::capture::ingest
