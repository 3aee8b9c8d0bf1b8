#include "capture/agent/run/outbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/checksum.h"
#include "core/chunk/chunk_format.h"

namespace accelscope::capture::agent {
namespace {

// What sources may still seal after they were asked to end, while nobody takes anything.
constexpr std::uint64_t kWindDownBytes = 16ULL << 20;

// Of a kept frame beside its body: the frame, its places in two queues, and what the allocator adds.
constexpr std::size_t kFrameOverhead = 256;

std::size_t held_bytes(const wire::Frame& frame) { return frame.body.capacity() + kFrameOverhead; }

// Small chunks come in larger blocks than they fill, and may have to be kept for long.
void trim(Bytes& body) {
  if (body.capacity() - body.size() > body.size() / 8) Bytes(body.begin(), body.end()).swap(body);
}

}  // namespace

Outbox::Outbox(OutboxOptions options, std::unique_ptr<log::FrameLog> log, std::function<void()> on_full)
    : options_(options), log_(std::move(log)), on_full_(std::move(on_full)), spooling_(log_ != nullptr) {}

Result<void> Outbox::put(std::uint32_t scope, wire::FrameType type, Bytes body, LaneNumber lane, std::uint32_t events,
                         bool urgent) {
  if (body.size() > find_frame_type(type)->max_length) {
    return Error{fmt::format("a {} of {} bytes is larger than a viewer takes ({})", wire::frame_type_name(type),
                             body.size(), find_frame_type(type)->max_length)};
  }
  {
    std::unique_lock lock(mutex_);
    switch (make_room(lock, body.size() + kFrameOverhead, type == wire::FrameType::definition || urgent)) {
      case Room::closed:
        return Error{close_reason_};
      case Room::drop:
        totals_.dropped_events += events;
        return {};
      case Room::yes:
        break;
    }
  }
  // Not held while there is no room: several sources may go a chunk each beyond the limit, but none waits for another.
  const std::lock_guard order(order_);
  const std::uint64_t sequence = newest_ + 1;
  newest_ = sequence;
  trim(body);
  auto frame = std::make_shared<const wire::Frame>(wire::make_frame(type, std::move(body), sequence, scope));
  if (log_ != nullptr && !log_failed_) spool(*frame, lane, events);
  std::function<void()> tell;
  {
    const std::lock_guard lock(mutex_);
    totals_.frames = sequence;
    totals_.waiting_bytes += frame->wire_bytes();
    totals_.memory_bytes += held_bytes(*frame);
    unreceived_bytes_.push_back(frame->wire_bytes());
    if (type == wire::FrameType::chunk) count(scope, lane, events);
    retained_.push_back({std::move(frame), events});
    if (std::exchange(more_wanted_, false)) tell = on_more_;
  }
  if (tell) tell();
  return {};
}

void Outbox::count(std::uint32_t scope, LaneNumber lane, std::uint32_t events) {
  totals_.events += events;
  lane_events_[scoped_number(scope, lane)] += events;
  ++chunks_;
}

// A spool that fails must not end the capture: what follows is kept in memory only, and the user is told.
void Outbox::spool(const wire::Frame& frame, LaneNumber lane, std::uint32_t events) {
  const std::lock_guard log_lock(log_mutex_);
  const Result<void> written = log_->append(frame);
  const std::uint64_t bytes = log_->total_bytes();
  const std::lock_guard lock(mutex_);
  totals_.spool_bytes = bytes;
  if (written) {
    const wire::FrameHeader& header = frame.header;
    spooled_ = header.sequence;
    spooled_frames_.push_back(
        {header.sequence, header.scope, lane, events, frame.wire_bytes(), header.type == wire::FrameType::chunk});
    return;
  }
  log_failed_ = true;
  spooling_ = false;
  totals_.spool_failure = written.message();
}

bool Outbox::may_let_go(std::uint64_t sequence) const { return spooling_ || sequence <= totals_.received; }

bool Outbox::fits(std::size_t bytes) const {
  if (spooling_) return totals_.spool_bytes == 0 || totals_.spool_bytes + bytes <= options_.spool_limit;
  return retained_.empty() || totals_.memory_bytes + bytes <= options_.buffer_bytes;
}

void Outbox::evict(std::size_t bytes) {
  while (!retained_.empty() && totals_.memory_bytes + bytes > options_.buffer_bytes &&
         may_let_go(retained_.front().frame->header.sequence)) {
    let_go_first();
  }
}

void Outbox::let_go_first() {
  const Retained first = std::move(retained_.front());
  retained_.pop_front();
  totals_.memory_bytes -= held_bytes(*first.frame);
  const std::uint64_t sequence = first.frame->header.sequence;
  if (sequence <= spooled_) return;
  if (first.frame->header.type == wire::FrameType::definition) {
    definitions_.emplace(sequence, first.frame);
    return;
  }
  totals_.first = sequence + 1;
  const auto before = holes_.empty() ? holes_.end() : std::prev(holes_.end());
  if (before != holes_.end() && before->second.last + 1 == sequence) {
    before->second.last = sequence;
    before->second.events += first.events;
  } else {
    holes_[sequence] = {sequence, first.events};
  }
}

Outbox::Room Outbox::make_room(std::unique_lock<std::mutex>& lock, std::size_t bytes, bool definition) {
  const auto begin = std::chrono::steady_clock::now();
  bool waited = false;
  for (;;) {
    if (closed_) return Room::closed;
    evict(bytes);
    if (definition || fits(bytes)) break;
    if (winding_down_ && !attached_) {
      const std::uint64_t limit = spooling_ ? options_.spool_limit : options_.buffer_bytes;
      const std::uint64_t held = spooling_ ? totals_.spool_bytes : totals_.memory_bytes;
      if (held + bytes > limit + kWindDownBytes) return Room::drop;
      break;
    }
    if (options_.when_full == WhenFull::drop) return Room::drop;
    if (options_.when_full == WhenFull::stop && !attached_ && !std::exchange(full_reported_, true)) {
      winding_down_ = true;
      lock.unlock();
      on_full_();
      lock.lock();
      continue;
    }
    waited = true;
    room_.wait(lock);
  }
  if (waited) totals_.waited += std::chrono::steady_clock::now() - begin;
  return Room::yes;
}

void Outbox::finish(wire::Outcome outcome, const std::string& text) {
  std::function<void()> tell;
  {
    const std::lock_guard lock(mutex_);
    if (end_) return;
    end_ = wire::StreamEnd{outcome, totals_.frames, totals_.events, chunks_, text, {}};
    for (const auto& [lane, events] : lane_events_) end_->lanes.push_back({lane, events});
    if (std::exchange(more_wanted_, false)) tell = on_more_;
  }
  if (tell) tell();
}

void Outbox::finish(const wire::StreamEnd& end) {
  const std::lock_guard lock(mutex_);
  if (!end_) end_ = end;
}

bool Outbox::spool_damaged() const {
  const std::lock_guard lock(mutex_);
  return spool_damaged_;
}

void Outbox::close(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(closed_, true)) return;
  close_reason_ = reason;
  room_.notify_all();
}

void Outbox::wind_down() {
  const std::lock_guard lock(mutex_);
  winding_down_ = true;
  room_.notify_all();
}

void Outbox::attach() {
  const std::lock_guard lock(mutex_);
  attached_ = true;
}

void Outbox::detach() {
  const std::lock_guard lock(mutex_);
  attached_ = false;
  room_.notify_all();
}

void Outbox::on_more(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  on_more_ = std::move(callback);
}

bool Outbox::received(std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  if (sequence > totals_.frames) return false;
  while (totals_.received < sequence) {
    ++totals_.received;
    totals_.waiting_bytes -= unreceived_bytes_.front();
    unreceived_bytes_.pop_front();
  }
  // On disk they are safe until they are durable.
  while (spooling_ && !retained_.empty() && retained_.front().frame->header.sequence <= totals_.received)
    let_go_first();
  room_.notify_all();
  return true;
}

bool Outbox::durable(std::uint64_t sequence) {
  {
    const std::lock_guard lock(mutex_);
    if (sequence > totals_.received) return false;
    if (sequence <= totals_.durable) return true;
    totals_.durable = sequence;
    while (!retained_.empty() && retained_.front().frame->header.sequence <= sequence) let_go_first();
    if (!spooling_) {
      room_.notify_all();
      return true;
    }
  }
  const std::lock_guard log_lock(log_mutex_);
  const Result<void> released = release(sequence);
  const std::uint64_t bytes = log_->total_bytes();
  const std::uint64_t first = log_->first_sequence();
  const std::lock_guard lock(mutex_);
  if (!released && totals_.spool_failure.empty()) totals_.spool_failure = released.message();
  totals_.spool_bytes = bytes;
  totals_.first = std::max(totals_.first, first);
  room_.notify_all();
  return true;
}

// What may be let go is in the facts before it goes: whoever finds the spool counts it from there.
Result<void> Outbox::release(std::uint64_t sequence) {
  if (!add_released(sequence)) return {};
  facts_.durable = sequence;
  if (Result<void> written = log_->write_facts(facts_); !written) return written;
  written_released_ = facts_.released;
  written_of_first_scope_ = facts_.released_of_first_scope;
  return log_->release(sequence);
}

// True when so much is durable that letting it go is worth the write.
bool Outbox::add_released(std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  wire::StreamEnd& released = facts_.released;
  released.last_sequence = sequence;
  for (; !spooled_frames_.empty() && spooled_frames_.front().sequence <= sequence; spooled_frames_.pop_front()) {
    const Spooled& frame = spooled_frames_.front();
    unreleased_bytes_ += frame.bytes;
    if (frame.scope == 0) ++facts_.released_of_first_scope;
    if (!frame.chunk) continue;
    ++released.chunks;
    released.events += frame.events;
    released_lanes_[scoped_number(frame.scope, frame.lane)] += frame.events;
  }
  if (unreleased_bytes_ < options_.spool_segment_bytes / 8) return false;
  unreleased_bytes_ = 0;
  released.lanes.clear();
  for (const auto& [lane, events] : released_lanes_) released.lanes.push_back({lane, events});
  return true;
}

Result<void> Outbox::keep_facts(log::FrameLogFacts facts) {
  if (log_ == nullptr) return {};
  const std::lock_guard log_lock(log_mutex_);
  // The totals of what was let go are those of the last release: what is durable since is still there to be counted.
  facts.released = std::move(written_released_);
  facts.released_of_first_scope = written_of_first_scope_;
  const Result<void> written = log_->write_facts(facts);
  written_released_ = facts.released;
  wire::StreamEnd counted = std::move(facts_.released);
  const std::uint64_t counted_of_first_scope = facts_.released_of_first_scope;
  facts_ = std::move(facts);
  facts_.released = std::move(counted);
  facts_.released_of_first_scope = counted_of_first_scope;
  const std::lock_guard lock(mutex_);
  if (!written && totals_.spool_failure.empty()) totals_.spool_failure = written.message();
  return written;
}

void Outbox::sync_spool() {
  if (log_ == nullptr) return;
  const std::lock_guard log_lock(log_mutex_);
  log_->request_sync();
  const std::string failure = log_->sync_failure();
  const std::lock_guard lock(mutex_);
  if (!failure.empty() && totals_.spool_failure.empty()) totals_.spool_failure = failure;
}

Result<Outbox::Adopted> Outbox::adopt_spool(const log::FrameLogFacts& facts,
                                            const std::function<bool(std::uint64_t)>& on_read) {
  log::FrameLogReader reader(log_->folder(), 0);
  const std::lock_guard log_lock(log_mutex_);
  const std::lock_guard lock(mutex_);
  Adopted adopted;
  facts_ = facts;
  written_released_ = facts.released;
  written_of_first_scope_ = facts.released_of_first_scope;
  adopted.frames = facts.released_of_first_scope;
  totals_.frames = facts.released.last_sequence;
  totals_.events = facts.released.events;
  chunks_ = facts.released.chunks;
  for (const wire::LaneTotal& lane : facts.released.lanes)
    lane_events_[lane.lane] = released_lanes_[lane.lane] = lane.events;
  for (;;) {
    std::optional<wire::Frame> frame = TRY(reader.next());
    if (!frame) break;
    const wire::FrameHeader& header = frame->header;
    if (on_read && !on_read(frame->wire_bytes())) {
      return Error{log_->folder().string() + ": reading was given up"};
    }
    if (header.sequence == 0) continue;
    if (header.scope == 0) adopted.last_checksum = checksum(frame->body);
    if (header.sequence <= facts.released.last_sequence) continue;
    Spooled spooled{header.sequence, header.scope, 0, 0, frame->wire_bytes(), header.type == wire::FrameType::chunk};
    if (const auto chunk = read_chunk_header(frame->body); spooled.chunk && chunk) {
      spooled.lane = chunk->lane;
      spooled.events = chunk->count;
      count(header.scope, chunk->lane, chunk->count);
    }
    spooled_frames_.push_back(spooled);
    totals_.frames = std::max(totals_.frames, header.sequence);
    if (header.scope == 0) ++adopted.frames;
  }
  spool_damaged_ = log_->damaged() || reader.damaged_places() > 0;
  totals_.first = std::max<std::uint64_t>(log_->first_sequence(), 1);
  newest_ = spooled_ = totals_.frames;
  totals_.spool_bytes = log_->total_bytes();
  for (std::uint64_t i = 0; i < totals_.frames; ++i) unreceived_bytes_.push_back(0);
  return adopted;
}

Outbox::Totals Outbox::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

std::optional<wire::StreamEnd> Outbox::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

Result<std::optional<OutboxReader::Item>> OutboxReader::next() {
  {
    const std::lock_guard lock(outbox_.mutex_);
    if (position_ >= outbox_.totals_.frames) {
      outbox_.more_wanted_ = true;
      return std::optional<Item>();
    }
    const std::uint64_t wanted = position_ + 1;
    if (!outbox_.retained_.empty() && wanted >= outbox_.retained_.front().frame->header.sequence) {
      log_reader_.reset();
      position_ = wanted;
      return std::optional<Item>(
          Item{outbox_.retained_[wanted - outbox_.retained_.front().frame->header.sequence].frame, {}});
    }
    if (wanted > outbox_.spooled_) {
      if (const auto retained = outbox_.definitions_.find(wanted); retained != outbox_.definitions_.end()) {
        position_ = wanted;
        return std::optional<Item>(Item{retained->second, {}});
      }
      const auto hole = std::prev(outbox_.holes_.upper_bound(wanted));
      // Taken up in its middle, a hole has some of these events already behind the reader; how many is not known.
      const bool whole = hole->first == wanted;
      position_ = hole->second.last;
      return std::optional<Item>(Item{nullptr, wire::Gap{wanted, hole->second.last, whole ? hole->second.events : 0,
                                                         "the agent had no room to keep them"}});
    }
  }
  return from_log();
}

Result<std::optional<OutboxReader::Item>> OutboxReader::from_log() {
  if (!log_reader_) log_reader_ = std::make_unique<log::FrameLogReader>(outbox_.log_->folder(), position_);
  std::optional<wire::Frame> read = TRY(log_reader_->next());
  if (!read) return Error{"the spool has lost frames that it should hold"};
  Item item;
  item.frame = std::make_shared<const wire::Frame>(std::move(*read));
  const std::uint64_t sequence = item.frame->header.sequence;
  if (sequence > position_ + 1) {
    const std::string& damage = log_reader_->damage();
    item.gap = wire::Gap{position_ + 1, sequence - 1, 0,
                         damage.empty() ? "the agent has let them go" : "the agent's spool is damaged: " + damage};
  }
  position_ = sequence;
  return std::optional<Item>(std::move(item));
}

}  // namespace accelscope::capture::agent
