#include "capture/wire/wire_sink.h"

#include <fmt/format.h>

#include <utility>

namespace accelscope::capture {

Result<void> WireSink::define(const Definition& definition) { return send(FrameType::definition, encode(definition)); }

Result<void> WireSink::append(SealedChunk chunk) {
  const LaneNumber lane = chunk.lane;
  const std::uint32_t count = chunk.count;
  if (Result<void> sent = send(FrameType::chunk, std::move(chunk.bytes)); !sent) return sent;
  const std::lock_guard lock(mutex_);
  totals_.events += count;
  lane_events_[lane] += count;
  ++chunks_;
  return {};
}

Result<void> WireSink::send(FrameType type, Bytes body) {
  if (body.size() > find_frame_type(type)->max_length) {
    return Error{fmt::format("a {} of {} bytes is larger than a viewer takes ({})", frame_type_name(type), body.size(),
                             find_frame_type(type)->max_length)};
  }
  // Only this thread numbers frames, so the checksum need not be made under the lock.
  Frame frame = make_frame(type, std::move(body), totals_.frames + 1);
  std::unique_lock lock(mutex_);
  if (Result<void> room = wait_for_room(lock, frame.wire_bytes()); !room) return room;
  totals_.frames = frame.header.sequence;
  totals_.waiting_bytes += frame.wire_bytes();
  unacknowledged_.push_back({frame.header.sequence, frame.wire_bytes()});
  link_->send(std::move(frame));
  return {};
}

Result<void> WireSink::wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes) {
  const auto has_room = [&] {
    return disconnected_ || unacknowledged_.empty() || totals_.waiting_bytes + bytes <= window_bytes_;
  };
  if (!has_room()) {
    const auto begin = std::chrono::steady_clock::now();
    room_.wait(lock, has_room);
    totals_.waited += std::chrono::steady_clock::now() - begin;
  }
  if (disconnected_) return Error{disconnect_reason_};
  return {};
}

Result<void> WireSink::finish(Outcome outcome, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (disconnected_) return Error{disconnect_reason_};
  StreamEnd end{outcome, totals_.frames, totals_.events, chunks_, text, {}};
  for (const auto& [lane, events] : lane_events_) end.lanes.push_back({lane, events});
  link_->send(encode(end));
  return {};
}

bool WireSink::acknowledge(std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  if (sequence > totals_.frames) return false;
  while (!unacknowledged_.empty() && unacknowledged_.front().sequence <= sequence) {
    totals_.waiting_bytes -= unacknowledged_.front().bytes;
    unacknowledged_.pop_front();
  }
  if (sequence > totals_.acknowledged) totals_.acknowledged = sequence;
  room_.notify_one();
  return true;
}

void WireSink::disconnect(const std::string& reason) {
  cancel();
  const std::lock_guard lock(mutex_);
  if (std::exchange(disconnected_, true)) return;
  disconnect_reason_ = reason;
  room_.notify_one();
}

WireSink::Totals WireSink::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

}  // namespace accelscope::capture
