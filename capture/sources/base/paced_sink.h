// Passes a stream on at the pace it was captured at: a chunk is held back until as much time has gone by as lies
// between the first event and the chunk's last one, divided by the speed. Definitions pass at once. While the target is
// paused, chunks wait and the pauses do not count.
#pragma once

#include <chrono>
#include <optional>

#include "capture/sources/base/stream_time.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sources {

class PacedSink final : public ForwardingSink {
 public:
  // speed 2.0: twice as fast as it was; infinite: only pauses hold a chunk back. A target as in ForwardingSink.
  PacedSink(EventSink& target, double speed) : ForwardingSink(target), speed_(speed) {}
  PacedSink(std::unique_ptr<EventSink> target, double speed) : ForwardingSink(std::move(target)), speed_(speed) {}

  Result<void> define(const Definition& definition) override;
  Result<void> append(SealedChunk chunk) override;

 private:
  void wait_until(std::int64_t after_ns);

  double speed_;
  StreamTime time_;
  std::optional<std::int64_t> first_ns_;
  std::chrono::steady_clock::time_point begin_;  // when the first event was due, later by every pause
};

}  // namespace accelscope::capture::sources
