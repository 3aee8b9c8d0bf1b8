#include "core/sql/tables/event_stream.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace accelscope::sql {

// What the stream and its workers have in common. A worker that comes after the stream has gone finds it closed.
struct EventStream::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Request>> waiting;  // nobody runs them yet
  std::size_t called = 0;                        // workers that were asked to come
  std::size_t running = 0;                       // requests that workers run
  bool closed = false;

  static void run(Request& request) { request.filtered = request.scan->filter_chunk(request.chunk); }

  void work() {
    std::unique_lock lock(mutex);
    while (!closed && !waiting.empty()) {
      const std::shared_ptr<Request> request = std::move(waiting.front());
      waiting.pop_front();
      ++running;
      lock.unlock();
      run(*request);
      lock.lock();
      --running;
      request->done = true;
      changed.notify_all();
    }
    --called;
  }
};

EventStream::EventStream(Context& context, const EventTableSpec& spec, const std::vector<EventCondition>& conditions,
                         std::vector<std::uint32_t> lanes, std::size_t ahead)
    : context_(context), spec_(spec), conditions_(conditions), lanes_(std::move(lanes)), most_ahead_(ahead) {
  if (ahead > 1) shared_ = std::make_shared<Shared>();
}

EventStream::~EventStream() {
  if (!shared_) return;
  std::unique_lock lock(shared_->mutex);
  shared_->closed = true;
  shared_->changed.wait(lock, [this] { return shared_->running == 0; });
}

bool EventStream::next_lane() {
  while (next_lane_ < lanes_.size()) {
    auto scan = std::make_shared<LaneScan>(context_, spec_, lanes_[next_lane_++], conditions_);
    const ChunkSpan& chunks = scan->chunks();
    if (chunks.first >= chunks.last) continue;
    context_.control->add_total(chunks.last - chunks.first);
    next_chunk_ = chunks.first;
    lane_ = std::move(scan);
    return true;
  }
  lane_.reset();
  return false;
}

std::shared_ptr<EventStream::Request> EventStream::next_request() {
  while (true) {
    if ((!lane_ || next_chunk_ >= lane_->chunks().last) && !next_lane()) return nullptr;
    // Only while nothing is on its way are the rows still to skip those of the next chunk.
    const std::uint32_t chunk = next_chunk_++;
    const std::uint64_t count = lane_->lane().chunk(chunk).count;
    if (count <= offset_ && requests_.empty() && lane_->keeps_all_of(chunk)) {
      offset_ -= count;
      context_.control->add_done(1);
      continue;
    }
    return std::make_shared<Request>(Request{lane_, chunk, false, {}});
  }
}

void EventStream::fill() {
  const std::size_t wanted = offset_ > 0 ? 1 : ahead_;
  while (requests_.size() < wanted) {
    std::shared_ptr<Request> request = next_request();
    if (!request) return;
    requests_.push_back(request);
    if (!shared_) continue;
    const std::scoped_lock lock(shared_->mutex);
    shared_->waiting.push_back(std::move(request));
  }
}

void EventStream::call_workers() {
  std::size_t missing = 0;
  {
    const std::scoped_lock lock(shared_->mutex);
    // The caller takes one itself.
    const std::size_t useful = std::min(context_.pool.concurrency() - 1, shared_->waiting.size());
    if (shared_->waiting.size() > 1 && shared_->called < useful) missing = useful - shared_->called;
    shared_->called += missing;
  }
  for (std::size_t i = 0; i < missing; ++i) {
    // A task that nobody keeps is told that it is cancelled, which this one does not ask.
    (void)context_.pool.start([shared = shared_](TaskControl&) {
      shared->work();
      return true;
    });
  }
}

// Runs the first request, or what can be run meanwhile if somebody else does.
void EventStream::finish_front() {
  const std::shared_ptr<Request>& front = requests_.front();
  if (!shared_) return Shared::run(*front);
  std::unique_lock lock(shared_->mutex);
  while (!front->done) {
    if (shared_->waiting.empty()) {
      shared_->changed.wait(lock);
      continue;
    }
    const std::shared_ptr<Request> request = std::move(shared_->waiting.front());
    shared_->waiting.pop_front();
    lock.unlock();
    Shared::run(*request);
    lock.lock();
    request->done = true;
  }
}

bool EventStream::next_chunk() {
  current_.reset();
  while (true) {
    if (context_.cancelled()) {
      status_ = SQLITE_INTERRUPT;
      return false;
    }
    fill();
    if (requests_.empty()) return false;
    if (shared_) call_workers();
    finish_front();
    const std::shared_ptr<Request> request = std::move(requests_.front());
    requests_.pop_front();
    ahead_ = std::min(ahead_ * 2, most_ahead_);
    if (request->filtered.count <= offset_) {
      offset_ -= request->filtered.count;
      continue;
    }
    current_ = request->scan;
    current_->enter(std::move(request->filtered));
    current_->skip(offset_);
    return true;
  }
}

}  // namespace accelscope::sql
