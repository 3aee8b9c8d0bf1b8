// The time of the events of one scope, as their clocks have it: hand it what is defined, and ask for the time of
// chunks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/chunk/event_sink.h"
#include "core/model/time_range.h"

namespace accelscope::capture::sources {

class StreamTime {
 public:
  void define(const Definition& definition);
  // From the first event's begin to the last one's end; nothing of a cut chunk, which is refused by whoever keeps it.
  [[nodiscard]] std::optional<TimeRange> of(const SealedChunk& chunk) const;

 private:
  [[nodiscard]] std::int64_t to_ns(LaneNumber lane, std::int64_t ticks) const;

  std::map<ClockNumber, ClockMap> clocks_;
  std::map<TrackNumber, ClockNumber> track_clocks_;
  std::map<LaneNumber, TrackNumber> lane_tracks_;
};

}  // namespace accelscope::capture::sources
