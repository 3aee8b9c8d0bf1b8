// The sink whose other end is a viewer: numbers what a source makes, keeps count of it and queues it on a link.
// define() and append() block while more than the window is unacknowledged, so neither side's memory grows when the
// viewer is slow. The source's thread calls the EventSink functions and finish(); the link's loop calls the others.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "capture/wire/link.h"
#include "capture/wire/messages.h"
#include "core/model/event_sink.h"

namespace accelscope::capture {

class WireSink final : public EventSink {
 public:
  WireSink(Link& link, std::uint64_t window_bytes) : link_(&link), window_bytes_(window_bytes) {}

  Result<void> define(const Definition& definition) override;
  Result<void> append(SealedChunk chunk) override;
  [[nodiscard]] bool cancelled() const override { return cancelled_.load(std::memory_order_relaxed); }

  // Sends the totals. Nothing may be sent after it.
  Result<void> finish(Outcome outcome, const std::string& text);

  // False if the peer acknowledges what was not sent.
  [[nodiscard]] bool acknowledge(std::uint64_t sequence);
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }  // the source should return soon
  void disconnect(const std::string& reason);                           // every further call fails with it

  struct Totals {
    std::uint64_t events = 0;
    std::uint64_t frames = 0;         // numbered so far
    std::uint64_t acknowledged = 0;   // highest number
    std::uint64_t waiting_bytes = 0;  // sent or queued, but not acknowledged
    std::chrono::nanoseconds waited{0};
  };
  [[nodiscard]] Totals totals() const;

 private:
  Result<void> send(FrameType type, Bytes body);
  Result<void> wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes);

  Link* link_;
  const std::uint64_t window_bytes_;
  std::atomic<bool> cancelled_{false};

  mutable std::mutex mutex_;
  std::condition_variable room_;
  struct Unacknowledged {
    std::uint64_t sequence;
    std::uint64_t bytes;
  };
  std::deque<Unacknowledged> unacknowledged_;
  Totals totals_;
  std::uint64_t chunks_ = 0;
  std::map<LaneNumber, std::uint64_t> lane_events_;
  bool disconnected_ = false;
  std::string disconnect_reason_;
};

}  // namespace accelscope::capture
