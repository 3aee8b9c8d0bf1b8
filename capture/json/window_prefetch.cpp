#include "capture/json/window_prefetch.h"

namespace accelscope::capture {

WindowPrefetch::WindowPrefetch(JsonTableReader reader)
    : reader_(std::move(reader)), bytes_total_(reader_.source().file_bytes()), thread_([this] { read_all(); }) {}

WindowPrefetch::~WindowPrefetch() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

void WindowPrefetch::read_all() {
  try {
    read_windows();
  } catch (...) {  // not enough memory, most likely
    const std::scoped_lock lock(mutex_);
    thrown_ = std::current_exception();
    changed_.notify_all();
  }
}

void WindowPrefetch::read_windows() {
  for (;;) {
    std::size_t slot = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || filled_ - freed_ < kSlots; });
      if (stopping_) return;
      slot = filled_ % kSlots;
    }
    const bool more = reader_.next(slots_[slot]);
    bytes_done_ = reader_.source().file_bytes_read();
    const std::scoped_lock lock(mutex_);
    if (more) {
      ++filled_;
    } else {
      ended_ = true;
    }
    changed_.notify_all();
    if (ended_) return;
  }
}

const JsonWindow* WindowPrefetch::next() {
  std::unique_lock lock(mutex_);
  freed_ = taken_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return thrown_ || ended_ || filled_ > taken_; });
  if (thrown_) std::rethrow_exception(thrown_);
  if (filled_ == taken_) return nullptr;
  return &slots_[taken_++ % kSlots];
}

}  // namespace accelscope::capture
