#include "capture/sources/xplane/read/events_ahead.h"

#include <utility>

#include "capture/sources/xplane/read/wire.h"

namespace accelscope::capture::sources::xplane {
namespace {

constexpr std::size_t kLongestEvent = 16U << 20;
constexpr std::size_t kBatchEvents = 2048;
constexpr std::size_t kBatchTextBytes = 1U << 20;
constexpr std::size_t kWaitingBatches = 4;

}  // namespace

EventsAhead::EventsAhead(const SpaceBytes& bytes, std::vector<BytesPlace> lines)
    : bytes_(bytes),
      lines_(std::move(lines)),
      window_(bytes),
      batch_(std::make_unique<EventBatch>()),
      reader_([this] { read(); }) {}

EventsAhead::~EventsAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  reader_.join();
}

void EventsAhead::read() {
  bool wanted = true;
  for (std::uint32_t line = 0; line < lines_.size() && wanted; ++line) wanted = read_line(line);
  if (wanted) (void)hand_over(bytes_.size());
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool EventsAhead::read_line(std::uint32_t line) {
  const BytesPlace place = lines_[line];
  MessageWalk walk(window_, place.begin, place.begin + place.size);
  for (WireField field; walk.next(field);) {
    if (!field.is_bytes(line_fields::kEvents)) continue;
    if (field.cut) {
      ++batch_->skipped.cut;
    } else if (field.size > kLongestEvent) {
      ++batch_->skipped.too_long;
    } else {
      const std::string_view message = window_.at(field.begin, static_cast<std::size_t>(field.size));
      // Shorter: the file cannot be read there.
      add_event(line, message.size() < field.size ? std::string_view("\xff") : message, field.begin);
    }
    const bool full = batch_->events.size() >= kBatchEvents || batch_->texts.size() >= kBatchTextBytes;
    if (full && !hand_over(field.begin)) return false;
  }
  return true;
}

void EventsAhead::add_event(std::uint32_t line, std::string_view message, std::uint64_t at) {
  EventBatch& batch = *batch_;
  const std::size_t first = batch.stats.size();
  EventRecord event;
  if (!read_event(message, event, batch.stats)) {
    batch.stats.resize(first);
    if (batch.skipped.broken++ == 0) batch.skipped.first_broken = at;
    return;
  }
  // The message goes away; texts lie in the batch, by their places until it is handed over.
  for (std::size_t i = first; i < batch.stats.size(); ++i) {
    StatValue& stat = batch.stats[i];
    if (stat.kind != StatValue::Kind::text && stat.kind != StatValue::Kind::packed) {
      stat.text = {};
      continue;
    }
    stat.bits = batch.texts.size();
    batch.texts += stat.text;
  }
  batch.events.push_back(event);
  batch.lines.push_back(line);
  batch.first_stats.push_back(first);
}

bool EventsAhead::hand_over(std::uint64_t done) {
  EventBatch& batch = *batch_;
  batch.done = done;
  const std::string_view texts = batch.texts;
  for (StatValue& stat : batch.stats) {
    const bool is_text = stat.kind == StatValue::Kind::text || stat.kind == StatValue::Kind::packed;
    if (is_text) stat.text = texts.substr(std::exchange(stat.bits, 0), stat.text.size());
  }
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const std::size_t end = i + 1 < batch.events.size() ? batch.first_stats[i + 1] : batch.stats.size();
    batch.events[i].stats = std::span<const StatValue>(batch.stats).subspan(batch.first_stats[i], end - batch.first_stats[i]);
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopping_ || waiting_.size() < kWaitingBatches; });
  if (stopping_) return false;
  waiting_.push_back(std::move(batch_));
  changed_.notify_all();
  if (empty_.empty()) {
    batch_ = std::make_unique<EventBatch>();
  } else {
    batch_ = std::move(empty_.back());
    empty_.pop_back();
  }
  return true;
}

const EventBatch* EventsAhead::next() {
  if (current_ != nullptr) {
    current_->events.clear();
    current_->lines.clear();
    current_->first_stats.clear();
    current_->stats.clear();
    current_->texts.clear();
    current_->skipped = {};
  }
  std::unique_lock lock(mutex_);
  if (current_ != nullptr) empty_.push_back(std::move(current_));
  changed_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
  if (waiting_.empty()) return nullptr;
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  changed_.notify_all();
  return current_.get();
}

}  // namespace accelscope::capture::sources::xplane
