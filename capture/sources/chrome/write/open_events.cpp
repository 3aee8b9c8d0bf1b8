#include "capture/sources/chrome/write/open_events.h"

#include <algorithm>

namespace accelscope::capture::sources::chrome {

KeptEvent::KeptEvent(const EventRecord& source, const EventBatch& batch) : record(source) {
  add_values(source.values, batch);
}

void KeptEvent::add_values(const ValueRange& range, const EventBatch& batch) {
  for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
    BoundValue value = batch.values[i];
    if (value.size > 0) {  // a text
      const TextRange place{static_cast<std::uint32_t>(value.value), value.size};
      value.value = text.size();
      text += batch.text_at(place);
    }
    const auto known = std::find_if(values.begin(), values.end(),
                                    [&](const BoundValue& other) { return other.column == value.column; });
    if (known != values.end()) {
      *known = value;
    } else {
      values.push_back(value);
    }
  }
}

void OpenEvents::begin(std::uint64_t key, const EventRecord& record, const EventBatch& batch) {
  add(key, {KeptEvent(record, batch), false});
}

void OpenEvents::end(std::uint64_t key, const EventRecord& record, const EventBatch& batch) {
  EventRecord bare = record;
  bare.values = {};
  Mark mark{KeptEvent(bare, batch), true};
  mark.event.text = batch.text_at(record.raw_args);
  add(key, std::move(mark));
}

void OpenEvents::add(std::uint64_t key, Mark mark) {
  Stack& stack = stacks_[key];
  const std::int64_t start = mark.event.record.start;
  if (start < stack.joined_until) ++too_late_;
  stack.sorted = stack.sorted && (stack.marks.empty() || stack.marks.back().event.record.start <= start);
  stack.marks.push_back(std::move(mark));
  if (++mark_count_ >= kMostMarks) join_some();
}

// The earlier half of every stack.
void OpenEvents::join_some() {
  for (auto& [key, stack] : stacks_) join(stack, (stack.marks.size() + 1) / 2);
}

void OpenEvents::join(Stack& stack, std::size_t count) {
  mark_count_ -= count;
  if (!stack.sorted) {
    std::stable_sort(stack.marks.begin(), stack.marks.end(),
                     [](const Mark& a, const Mark& b) { return a.event.record.start < b.event.record.start; });
    stack.sorted = true;
  }
  for (; count > 0; --count) {
    stack.joined_until = std::max(stack.joined_until, stack.marks.front().event.record.start);
    join(stack, stack.marks.front());
    stack.marks.pop_front();
  }
}

void OpenEvents::join(Stack& stack, Mark& mark) {
  if (!mark.is_end) {
    stack.open.push_back(stack.waiting.size());
    stack.waiting.push_back(std::move(mark.event));
    return;
  }
  const EventRecord& end = mark.event.record;
  KeptEvent* const event = find(stack, end.name);
  if (event == nullptr) return handlers_.without_begin(end);
  if (!mark.event.text.empty()) handlers_.add_args(*event, mark.event.text);
  close(stack, *event, end.start);
}

KeptEvent* OpenEvents::find(Stack& stack, StringId name) {
  if (stack.open.empty()) return nullptr;
  if (name == 0) return &stack.waiting[stack.open.back()];
  constexpr std::size_t kDeepest = 512;  // names are looked for among so many; files may leave millions open
  const std::size_t last = stack.open.size() > kDeepest ? stack.open.size() - kDeepest : 0;
  for (auto index = stack.open.rbegin(); index != stack.open.rend() - static_cast<std::ptrdiff_t>(last); ++index) {
    if (stack.waiting[*index].record.name == name) return &stack.waiting[*index];
  }
  ++mismatched_names_;
  return &stack.waiting[stack.open.back()];
}

void OpenEvents::close(Stack& stack, KeptEvent& event, std::int64_t end_ns) {
  event.closed = true;
  event.record.duration = std::max<std::int64_t>(0, end_ns - event.record.start);
  const auto index = static_cast<std::size_t>(&event - stack.waiting.data());
  const auto place = std::find(stack.open.rbegin(), stack.open.rend(), index);
  stack.open.erase(std::next(place).base());
  if (stack.open.empty() || stack.waiting.size() >= std::max(kMostWaiting, 2 * stack.open.size())) emit_closed(stack);
}

void OpenEvents::emit_closed(Stack& stack) {
  std::vector<KeptEvent> still_open;
  for (KeptEvent& event : stack.waiting) {
    if (event.closed) {
      handlers_.emit(event);
    } else {
      still_open.push_back(std::move(event));
    }
  }
  stack.waiting = std::move(still_open);
  for (std::size_t i = 0; i < stack.open.size(); ++i) stack.open[i] = i;
}

void OpenEvents::close_all(std::int64_t end_ns) {
  for (auto& [key, stack] : stacks_) {
    join(stack, stack.marks.size());
    for (const std::size_t index : stack.open) {
      KeptEvent& event = stack.waiting[index];
      event.closed = true;
      event.record.duration = std::max<std::int64_t>(0, end_ns - event.record.start);
      ++left_open_;
    }
    stack.open.clear();
    emit_closed(stack);
  }
  stacks_.clear();
}

}  // namespace accelscope::capture::sources::chrome
