// Feeds another sink on a thread of its own, in order, so that a source builds the next chunk while the receiver
// checks and indexes the last one. A failure comes back from the next call or from finish().
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <variant>

#include "core/chunk/event_sink.h"

namespace accelscope::capture::sources {

class AsyncSink final : public EventSink {
 public:
  explicit AsyncSink(EventSink& receiver);
  ~AsyncSink() override;  // what still waits is dropped: call finish() first

  Result<void> define(const Definition& definition) override;
  Result<void> append(SealedChunk chunk) override;
  [[nodiscard]] bool cancelled() const override;
  [[nodiscard]] bool paused() const override;
  // Waits until the receiver has everything.
  Result<void> finish();

 private:
  using Item = std::variant<Definition, SealedChunk>;
  static constexpr std::size_t kMaxWaiting = 64;

  Result<void> put(Item item);
  void feed();

  EventSink& receiver_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Item> waiting_;
  Result<void> status_;
  bool busy_ = false;  // an item is with the receiver, which need not take calls from two threads
  bool cancelled_ = false;
  mutable bool paused_ = false;  // as the receiver said last
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace accelscope::capture::sources
