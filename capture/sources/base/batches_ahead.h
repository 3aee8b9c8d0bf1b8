// Batches that are filled on a thread of their own while those before them are used: for imports half of whose work is
// reading. A batch comes back to be filled again, with what it has of memory.
//
//   BatchesAhead<RowBatch> batches([&](RowBatch& batch) { return fill(batch); });
//   while (RowBatch* const batch = batches.next()) { ... }
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace accelscope::capture::sources {

template <typename Batch>
class BatchesAhead {
 public:
  // Replaces what the batch held before; false: it is the last one.
  using Fill = std::function<bool(Batch&)>;

  explicit BatchesAhead(Fill fill) : fill_(std::move(fill)), filler_([this] { run(); }) {}
  ~BatchesAhead() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    room_.notify_one();
    filler_.join();
  }
  BatchesAhead(const BatchesAhead&) = delete;
  BatchesAhead& operator=(const BatchesAhead&) = delete;

  // Until the next call. Null at the end: whatever else the other thread wrote may be read then.
  [[nodiscard]] Batch* next() {
    std::unique_lock lock(mutex_);
    if (current_ != nullptr) empty_.push_back(std::move(current_));
    filled_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) return nullptr;
    current_ = std::move(waiting_.front());
    waiting_.pop_front();
    const bool wake = waiting_.size() == kRoomAgain;
    lock.unlock();
    if (wake) room_.notify_one();
    return current_.get();
  }

 private:
  // Who fills faster than batches are used sleeps until half of them are: waking a thread takes as long as filling a
  // small batch.
  static constexpr std::size_t kMostWaiting = 8;
  static constexpr std::size_t kRoomAgain = 4;

  void run() {
    bool more = true;
    while (more) {
      std::unique_ptr<Batch> batch = take_empty();
      if (batch == nullptr) return;
      more = fill_(*batch);
      {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(batch));
        ended_ = !more;
      }
      filled_.notify_one();
    }
  }
  // Null: nobody wants more.
  [[nodiscard]] std::unique_ptr<Batch> take_empty() {
    std::unique_lock lock(mutex_);
    if (waiting_.size() >= kMostWaiting) {
      room_.wait(lock, [this] { return stopping_ || waiting_.size() <= kRoomAgain; });
    }
    if (stopping_) return nullptr;
    if (empty_.empty()) return std::make_unique<Batch>();
    std::unique_ptr<Batch> batch = std::move(empty_.back());
    empty_.pop_back();
    return batch;
  }

  Fill fill_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable room_;
  std::deque<std::unique_ptr<Batch>> waiting_;
  std::vector<std::unique_ptr<Batch>> empty_;
  bool ended_ = false;
  bool stopping_ = false;
  std::unique_ptr<Batch> current_;
  std::thread filler_;  // begins when all of the above is there
};

}  // namespace accelscope::capture::sources
