#include "capture/sources/paced_sink.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "core/chunk/chunk_format.h"

namespace accelscope::capture {
namespace {

// How long a cancelled or resumed replay may go on sleeping.
constexpr std::chrono::milliseconds kNap{50};

}  // namespace

Result<void> PacedSink::define(const Definition& definition) {
  if (const auto* clock = std::get_if<Clock>(&definition)) clocks_.insert_or_assign(clock->number, ClockMap(*clock));
  if (const auto* track = std::get_if<Track>(&definition)) track_clocks_[track->number] = track->clock;
  if (const auto* lane = std::get_if<Lane>(&definition)) lane_tracks_[lane->number] = lane->track;
  return target_.define(definition);
}

Result<void> PacedSink::append(SealedChunk chunk) {
  ChunkHeader header;
  if (chunk.bytes.size() >= sizeof header) {  // a cut chunk is refused by whoever keeps it
    std::memcpy(&header, chunk.bytes.data(), sizeof header);
    const std::int64_t begin_ns = to_ns(chunk.lane, header.begin_ticks);
    if (!first_ns_) {
      first_ns_ = begin_ns;
      begin_ = std::chrono::steady_clock::now();
    }
    const auto after = static_cast<double>(to_ns(chunk.lane, header.end_ticks) - *first_ns_) / speed_;
    wait_until(static_cast<std::int64_t>(after));
  }
  return target_.append(std::move(chunk));
}

std::int64_t PacedSink::to_ns(LaneNumber lane, std::int64_t ticks) const {
  const auto track = lane_tracks_.find(lane);
  if (track == lane_tracks_.end()) return ticks;
  const auto number = track_clocks_.find(track->second);
  if (number == track_clocks_.end()) return ticks;
  const auto clock = clocks_.find(number->second);
  return clock == clocks_.end() ? ticks : clock->second.to_ns(ticks);
}

void PacedSink::wait_until(std::int64_t after_ns) {
  while (!cancelled()) {
    const auto now = std::chrono::steady_clock::now();
    if (paused()) {
      std::this_thread::sleep_for(kNap);
      begin_ += std::chrono::steady_clock::now() - now;
      continue;
    }
    const auto due = begin_ + std::chrono::nanoseconds(after_ns);
    if (now >= due) return;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(due - now, kNap));
  }
}

}  // namespace accelscope::capture
