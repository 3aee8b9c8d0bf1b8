// What a capture has made and nobody has safely taken yet. Sources put definitions and chunks in; the outbox numbers
// them 1, 2, 3 ... as frames, keeps them in memory up to a limit, and with a spool also on disk up to another. Readers,
// one per connection, take frames from any number on, as often as connections break. A frame is let go when the
// controlling viewer has it in a file (durable), or, from memory and only if room is needed, when it has it at all
// (received). Definitions are never let go, so that a late reader understands what still comes.
//
//   Outbox outbox({.buffer_bytes = 64 << 20}, stop);
//   outbox.put(...);                              // any source's thread; blocks, drops or stops when full
//   OutboxReader reader(outbox, after);           // a connection's
//   while (auto item = reader.next()) ...
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "capture/log/frame_log.h"
#include "capture/wire/frame.h"
#include "capture/wire/messages.h"

namespace accelscope::capture::agent {

// When the limit is reached.
enum class WhenFull : std::uint8_t {
  wait,  // the source is held back until a viewer has taken enough
  stop,  // while no viewer is there, the capture ends in order; a viewer that is there is waited for
  drop,  // chunks are dropped and counted, viewer or not
};

struct OutboxOptions {
  std::uint64_t buffer_bytes = 64ULL << 20;  // in memory
  WhenFull when_full = WhenFull::wait;
  std::uint64_t spool_limit = 4ULL << 30;           // on disk
  std::uint64_t spool_segment_bytes = 64ULL << 20;  // it is let go in pieces of this size
};

class Outbox {
 public:
  // log: the spool, or none. When full with WhenFull::stop, `on_full` is called once, on the source's thread.
  Outbox(OutboxOptions options, std::unique_ptr<log::FrameLog> log, std::function<void()> on_full);

  // Takes over a spool that another process left: reads it once, for the totals.
  struct Adopted {
    std::uint64_t frames = 0;         // of scope 0
    std::uint64_t last_checksum = 0;  // of the last one's body
  };
  // `on_read`: as log::FrameLogOptions has it; null: nobody asks.
  Result<Adopted> adopt_spool(const log::FrameLogFacts& facts, const std::function<bool(std::uint64_t)>& on_read);

  // Blocks while there is no room (see WhenFull), unless it is urgent. Fails once the outbox is closed.
  Result<void> put(std::uint32_t scope, wire::FrameType type, Bytes body, LaneNumber lane = 0, std::uint32_t events = 0,
                   bool urgent = false);
  // No source will put any more. The totals, for the end frame.
  void finish(wire::Outcome outcome, const std::string& text);
  void finish(const wire::StreamEnd& end);  // as another process counted, before some of it may have become unreadable
  void close(const std::string& reason);    // every further put fails with it
  // Sources were asked to end: nobody is held back for a viewer that is not there.
  void wind_down();

  [[nodiscard]] bool received(std::uint64_t sequence);  // false if it was never made
  [[nodiscard]] bool durable(std::uint64_t sequence);   // false if it was never received
  void attach();                                        // the controlling viewer is there
  void detach();
  // Calls back, on a source's thread, when there is more after a reader has found nothing.
  void on_more(std::function<void()> callback);

  struct Totals {
    std::uint64_t events = 0;
    std::uint64_t dropped_events = 0;
    std::uint64_t frames = 0;         // numbered so far
    std::uint64_t first = 1;          // the first data frame that is still there
    std::uint64_t received = 0;       // highest number
    std::uint64_t durable = 0;        // highest number
    std::uint64_t waiting_bytes = 0;  // made, but not received
    std::uint64_t memory_bytes = 0;   // of frames in memory
    std::uint64_t spool_bytes = 0;
    std::chrono::nanoseconds waited{0};
    std::string spool_failure;  // "": none
  };
  [[nodiscard]] Totals totals() const;
  [[nodiscard]] bool spool_damaged() const;  // some of what another process spooled cannot be read
  // In the spool, if there is one, with the totals of what was let go; again by itself whenever more is.
  Result<void> keep_facts(log::FrameLogFacts facts);
  void sync_spool();  // begins to put what is spooled on the disk
  [[nodiscard]] std::optional<wire::StreamEnd> end() const;

 private:
  friend class OutboxReader;
  struct Retained {
    std::shared_ptr<const wire::Frame> frame;
    std::uint32_t events = 0;
  };
  // Frames that were let go from memory and are nowhere else.
  struct Hole {
    std::uint64_t last = 0;
    std::uint64_t events = 0;
  };
  enum class Room : std::uint8_t { yes, drop, closed };

  [[nodiscard]] Room make_room(std::unique_lock<std::mutex>& lock, std::size_t bytes, bool definition);
  [[nodiscard]] bool fits(std::size_t bytes) const;
  [[nodiscard]] bool may_let_go(std::uint64_t sequence) const;
  void evict(std::size_t bytes);
  void let_go_first();
  void spool(const wire::Frame& frame, LaneNumber lane, std::uint32_t events);
  void count(std::uint32_t scope, LaneNumber lane, std::uint32_t events);
  Result<void> release(std::uint64_t sequence);
  [[nodiscard]] bool add_released(std::uint64_t sequence);

  const OutboxOptions options_;
  const std::unique_ptr<log::FrameLog> log_;
  const std::function<void()> on_full_;

  std::mutex order_;          // held while a frame is numbered, spooled and kept
  std::uint64_t newest_ = 0;  // number; under order_
  bool log_failed_ = false;   // under order_
  std::mutex log_mutex_;      // held while the spool is written or cut; the last of the three to be taken
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Retained> retained_;                                            // without gaps, up to the newest
  std::deque<std::uint64_t> unreceived_bytes_;                               // of the frames after totals_.received
  std::map<std::uint64_t, std::shared_ptr<const wire::Frame>> definitions_;  // let go from retained_, and in no spool
  std::map<std::uint64_t, Hole> holes_;                                      // by first number
  Totals totals_;
  std::uint64_t chunks_ = 0;
  std::map<LaneNumber, std::uint64_t> lane_events_;
  std::optional<wire::StreamEnd> end_;  // once no source will put any more
  std::function<void()> on_more_;
  bool more_wanted_ = false;
  bool attached_ = false;
  bool winding_down_ = false;
  bool full_reported_ = false;
  bool spooling_ = false;  // false again once the spool has failed
  bool spool_damaged_ = false;
  // Frames of the spool that are not in released_ yet, in their order.
  struct Spooled {
    std::uint64_t sequence = 0;
    std::uint32_t scope = 0;
    LaneNumber lane = 0;
    std::uint32_t events = 0;
    std::uint64_t bytes = 0;
    bool chunk = false;
  };
  std::deque<Spooled> spooled_frames_;
  log::FrameLogFacts facts_;          // with the totals of what was let go; under log_mutex_
  wire::StreamEnd written_released_;  // as the facts in the spool have them; under log_mutex_
  std::uint64_t written_of_first_scope_ = 0;
  std::map<LaneNumber, std::uint64_t> released_lanes_;
  std::uint64_t unreleased_bytes_ = 0;  // durable, but still in the spool
  std::uint64_t spooled_ = 0;           // highest number in the spool
  bool closed_ = false;
  std::string close_reason_;
};

// One reader's place. Used by one thread.
class OutboxReader {
 public:
  // after: what the reader has already.
  OutboxReader(Outbox& outbox, std::uint64_t after) : outbox_(outbox), position_(after) {}

  struct Item {
    std::shared_ptr<const wire::Frame> frame;  // null: only a gap
    std::optional<wire::Gap> gap;              // comes before the frame
  };
  // Nothing: there is no more for now (on_more is called later), or an error of the spool.
  [[nodiscard]] Result<std::optional<Item>> next();
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

 private:
  [[nodiscard]] Result<std::optional<Item>> from_log();

  Outbox& outbox_;
  std::uint64_t position_;
  std::unique_ptr<log::FrameLogReader> log_reader_;
};

}  // namespace accelscope::capture::agent
