#include "capture/sources/base/async_sink.h"

namespace accelscope::capture::sources {

AsyncSink::AsyncSink(EventSink& receiver) : receiver_(receiver), thread_([this] { feed(); }) {}

AsyncSink::~AsyncSink() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

Result<void> AsyncSink::define(const Definition& definition) { return put(definition); }
Result<void> AsyncSink::append(SealedChunk chunk) { return put(std::move(chunk)); }

Result<void> AsyncSink::put(Item item) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() < kMaxWaiting || !status_; });
  if (!status_) return status_;
  waiting_.push_back(std::move(item));
  changed_.notify_all();
  return {};
}

bool AsyncSink::cancelled() const {
  const std::scoped_lock lock(mutex_);
  return cancelled_ || (!busy_ && waiting_.empty() && receiver_.cancelled());
}

bool AsyncSink::paused() const {
  const std::scoped_lock lock(mutex_);
  if (!busy_ && waiting_.empty()) paused_ = receiver_.paused();
  return paused_;
}

Result<void> AsyncSink::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return (waiting_.empty() && !busy_) || !status_; });
  return status_;
}

void AsyncSink::feed() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    Result<void> taken = std::holds_alternative<Definition>(item)
                             ? receiver_.define(std::get<Definition>(item))
                             : receiver_.append(std::get<SealedChunk>(std::move(item)));
    const bool cancelled = receiver_.cancelled();
    const bool paused = receiver_.paused();
    lock.lock();
    busy_ = false;
    cancelled_ = cancelled_ || cancelled;
    paused_ = paused;
    if (!taken && status_.ok()) {
      status_ = std::move(taken);
      waiting_.clear();
    }
    changed_.notify_all();
  }
}

}  // namespace accelscope::capture::sources
