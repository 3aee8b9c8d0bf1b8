#include "capture/json/window_prefetch.h"

namespace accelscope::capture::json {

WindowPrefetch::WindowPrefetch(JsonTableReader reader)
    : reader_(std::move(reader)), bytes_total_(reader_.source().file_bytes()), thread_([this] {
        if (!thrown_.keep([this] { read_all(); })) end();
      }) {}

WindowPrefetch::~WindowPrefetch() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

void WindowPrefetch::end() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void WindowPrefetch::read_all() {
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
    if (!more) return end();
    const std::scoped_lock lock(mutex_);
    ++filled_;
    changed_.notify_all();
  }
}

const JsonWindow* WindowPrefetch::next() {
  std::unique_lock lock(mutex_);
  freed_ = taken_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return ended_ || filled_ > taken_; });
  thrown_.throw_on();
  if (filled_ == taken_) return nullptr;
  return &slots_[taken_++ % kSlots];
}

}  // namespace accelscope::capture::json
