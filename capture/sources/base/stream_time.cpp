#include "capture/sources/base/stream_time.h"

namespace accelscope::capture::sources {

void StreamTime::define(const Definition& definition) {
  if (const auto* clock = std::get_if<Clock>(&definition)) clocks_.insert_or_assign(clock->number, ClockMap(*clock));
  if (const auto* track = std::get_if<Track>(&definition)) track_clocks_[track->number] = track->clock;
  if (const auto* lane = std::get_if<Lane>(&definition)) lane_tracks_[lane->number] = lane->track;
}

std::optional<TimeRange> StreamTime::of(const SealedChunk& chunk) const {
  const std::optional<ChunkHeader> header = read_chunk_header(chunk.bytes);
  if (!header) return std::nullopt;
  return TimeRange{to_ns(header->lane, header->begin_ticks), to_ns(header->lane, header->end_ticks)};
}

std::int64_t StreamTime::to_ns(LaneNumber lane, std::int64_t ticks) const {
  const auto track = lane_tracks_.find(lane);
  if (track == lane_tracks_.end()) return ticks;
  const auto number = track_clocks_.find(track->second);
  if (number == track_clocks_.end()) return ticks;
  const auto clock = clocks_.find(number->second);
  return clock == clocks_.end() ? ticks : clock->second.to_ns(ticks);
}

}  // namespace accelscope::capture::sources
