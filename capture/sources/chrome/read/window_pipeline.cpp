#include "capture/sources/chrome/read/window_pipeline.h"

#include <algorithm>

namespace accelscope::capture::sources::chrome {

bool is_event_table(const json::JsonWindow& window) noexcept {
  return window.in_array && (window.table == "traceEvents" || window.table.empty());
}

WindowPipeline::WindowPipeline(json::JsonTableReader reader, ChromeVocabulary& vocabulary, unsigned threads)
    : reader_(std::move(reader)), vocabulary_(vocabulary), bytes_total_(reader_.source().file_bytes()) {
  threads = std::max(threads, 1U);
  for (unsigned i = 0; i < threads + 2; ++i) slots_.push_back(std::make_unique<Slot>());
  try {
    for (unsigned i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        if (thrown_.keep([this] { work(); })) return;
        const std::scoped_lock lock(mutex_);
        ended_ = true;
        changed_.notify_all();
      });
    }
  } catch (...) {  // those that run wait for what nobody will take
    end_threads();
    throw;
  }
}

WindowPipeline::~WindowPipeline() { end_threads(); }

void WindowPipeline::end_threads() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  threads_.clear();
}

void WindowPipeline::work() {
  ChromeRowReader rows(vocabulary_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || ended_ || (!cutting_ && cut_ - freed_ < slots_.size()); });
    if (stopping_ || ended_) return;
    cutting_ = true;
    Slot& slot = *slots_[cut_ % slots_.size()];
    lock.unlock();
    const bool more = reader_.next(slot.window);
    bytes_done_ = reader_.source().file_bytes_read();
    lock.lock();
    cutting_ = false;
    if (more) {
      slot.ready = false;
      ++cut_;
    } else {
      ended_ = true;
    }
    changed_.notify_all();
    if (!more) return;
    lock.unlock();
    if (is_event_table(slot.window)) rows.read(slot.window, slot.batch);
    lock.lock();
    slot.ready = true;
    changed_.notify_all();
  }
}

WindowPipeline::Slot* WindowPipeline::next() {
  std::unique_lock lock(mutex_);
  freed_ = taken_;
  changed_.notify_all();
  // What a thread has cut and cannot read never gets ready.
  changed_.wait(lock,
                [&] { return thrown_.any() || (taken_ < cut_ ? slots_[taken_ % slots_.size()]->ready : ended_); });
  thrown_.throw_on();
  if (taken_ == cut_) return nullptr;
  return slots_[taken_++ % slots_.size()].get();
}

}  // namespace accelscope::capture::sources::chrome
