#include "capture/sources/xplane/read/events_ahead.h"

#include <utility>

namespace accelscope::capture::sources::xplane {
namespace {

constexpr std::size_t kLongestEvent = 16U << 20;
constexpr std::size_t kBatchEvents = 2048;
constexpr std::size_t kBatchTextBytes = 1U << 20;

// Texts lie in the batch, by their places until it has all of them.
void find_texts(std::vector<StatValue>& stats, std::string_view texts) {
  for (StatValue& stat : stats) {
    const bool is_text = stat.kind == StatValue::Kind::text || stat.kind == StatValue::Kind::packed;
    if (is_text) stat.text = texts.substr(std::exchange(stat.bits, 0), stat.text.size());
  }
}

}  // namespace

EventsAhead::EventsAhead(const SpaceBytes& bytes, std::vector<BytesPlace> lines)
    : bytes_(bytes),
      lines_(std::move(lines)),
      window_(bytes),
      batches_([this](EventBatch& batch) { return fill(batch); }) {}

bool EventsAhead::next_field(WireField& field) {
  while (!walk_ || !walk_->next(field)) {
    const std::uint32_t next = walk_ ? line_ + 1 : line_;
    if (next >= lines_.size()) return false;
    line_ = next;
    walk_.emplace(window_, lines_[line_].begin, lines_[line_].begin + lines_[line_].size);
  }
  return true;
}

bool EventsAhead::fill(EventBatch& batch) {
  batch.events.clear();
  batch.lines.clear();
  batch.first_stats.clear();
  batch.stats.clear();
  batch.texts.clear();
  batch.skipped = {};
  batch.done = bytes_.size();
  bool more = false;
  WireField field;
  while (!more && next_field(field)) {
    if (!field.is_bytes(line_fields::kEvents)) continue;
    if (field.cut) {
      ++batch.skipped.cut;
    } else if (field.size > kLongestEvent) {
      ++batch.skipped.too_long;
    } else {
      const std::string_view message = window_.at(field.begin, static_cast<std::size_t>(field.size));
      // Shorter: the file cannot be read there.
      add_event(message.size() < field.size ? std::string_view("\xff") : message, field.begin, batch);
    }
    more = batch.events.size() >= kBatchEvents || batch.texts.size() >= kBatchTextBytes;
    if (more) batch.done = field.begin;
  }
  find_texts(batch.stats, batch.texts);
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const std::size_t end = i + 1 < batch.events.size() ? batch.first_stats[i + 1] : batch.stats.size();
    batch.events[i].stats =
        std::span<const StatValue>(batch.stats).subspan(batch.first_stats[i], end - batch.first_stats[i]);
  }
  return more;
}

void EventsAhead::add_event(std::string_view message, std::uint64_t at, EventBatch& batch) const {
  const std::size_t first = batch.stats.size();
  EventRecord event;
  if (!read_event(message, event, batch.stats)) {
    batch.stats.resize(first);
    if (batch.skipped.broken++ == 0) batch.skipped.first_broken = at;
    return;
  }
  // The message goes away.
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
  batch.lines.push_back(line_);
  batch.first_stats.push_back(first);
}

}  // namespace accelscope::capture::sources::xplane
