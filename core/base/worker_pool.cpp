#include "core/base/worker_pool.h"

#include <algorithm>

#include "core/base/ordered_pipeline.h"

namespace accelscope {
namespace {

thread_local Priority priority_of_thread = Priority::question;

constexpr std::size_t kUrgentThreads = 2;  // what one waits for is read beside a step that looks far

}  // namespace

Error cancelled_error() { return Error{"cancelled"}; }

Error out_of_memory_error() {
  return Error{"there is not enough memory for it; close other programs or sessions, or take a part of the file"};
}

WorkerPool::WorkerPool(unsigned threads) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  const std::scoped_lock lock(mutex_);
  ordinary_ = threads;
  begin_threads(threads, false);
}

void WorkerPool::begin_threads(std::size_t count, bool urgent_only) {
  const std::size_t first = threads_.size();
  running_.resize(first + count);
  threads_.reserve(first + count);
  for (std::size_t i = first; i < first + count; ++i)
    threads_.emplace_back([this, i, urgent_only] { work(i, urgent_only); });
}

std::condition_variable& WorkerPool::to_wake(Priority priority) noexcept {
  return priority == Priority::drawing && urgent_idle_ >= queue(priority).size() ? urgent_ : changed_;
}

WorkerPool::~WorkerPool() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    // What waits is cancelled too, but still runs, so that nobody waits for it in vain.
    for (const std::deque<Job>& jobs : jobs_) {
      for (const Job& job : jobs) job.cancel();
    }
    for (const auto& cancel : running_) {
      if (cancel) cancel();
    }
  }
  changed_.notify_all();
  urgent_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::on_finished(std::function<void()> reported) {
  const std::scoped_lock lock(mutex_);
  reported_finished_ = std::move(reported);
}

Priority WorkerPool::of_this_thread() noexcept { return priority_of_thread; }

bool WorkerPool::waits_for_more_urgent(Priority priority) const noexcept {
  const unsigned more_urgent = (1U << static_cast<unsigned>(priority)) - 1;
  return (waiting_.load(std::memory_order_relaxed) & more_urgent) != 0;
}

void WorkerPool::note_waiting() noexcept {
  unsigned bits = 0;
  for (std::size_t i = 0; i < kPriorities; ++i) bits |= jobs_[i].empty() ? 0U : 1U << i;
  waiting_.store(bits, std::memory_order_relaxed);
}

std::deque<WorkerPool::Job>* WorkerPool::next_queue(bool urgent_only) noexcept {
  if (urgent_only) return queue(Priority::drawing).empty() ? nullptr : &queue(Priority::drawing);
  for (std::deque<Job>& jobs : jobs_) {
    if (jobs.empty()) continue;
    // One thread is kept for what is more urgent; parts of tasks give way by themselves.
    const bool can_wait = jobs.front().is_task && jobs.front().priority == Priority::background;
    if (can_wait && background_running_ + 1 >= std::max<std::size_t>(2, ordinary_) && !stopping_) continue;
    return &jobs;
  }
  return nullptr;
}

void WorkerPool::enqueue(Job job) {
  const Priority priority = job.priority;
  std::condition_variable* wake = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (stopping_) job.cancel();
    if (priority == Priority::drawing && threads_.size() == ordinary_ && !stopping_) {
      ThreadException without_them;  // no memory for them: the ordinary ones take what is urgent too
      (void)without_them.keep([&] { begin_threads(kUrgentThreads, true); });
    }
    queue(priority).push_back(std::move(job));
    note_waiting();
    wake = &to_wake(priority);
  }
  wake->notify_one();
}

void WorkerPool::work(std::size_t thread, bool urgent_only) {
  std::unique_lock lock(mutex_);
  while (true) {
    std::deque<Job>* jobs = nullptr;
    urgent_idle_ += urgent_only ? 1 : 0;
    (urgent_only ? urgent_ : changed_).wait(lock, [&] {
      return (jobs = next_queue(urgent_only)) != nullptr || stopping_;
    });
    urgent_idle_ -= urgent_only ? 1 : 0;
    if (jobs == nullptr) return;
    Job job = std::move(jobs->front());
    jobs->pop_front();
    note_waiting();
    running_[thread] = std::move(job.cancel);
    const bool can_wait = job.is_task && job.priority == Priority::background;
    if (can_wait) ++background_running_;
    priority_of_thread = job.priority;
    lock.unlock();
    job.run();
    job.run = nullptr;
    lock.lock();
    if (can_wait) {
      --background_running_;
      changed_.notify_one();  // the next of its kind
    }
    if (const auto reported = reported_finished_; job.is_task && reported) {
      lock.unlock();
      reported();
      lock.lock();
    }
    running_[thread] = nullptr;
  }
}

// One for_each: the calls still to make, and who makes them. A thread of the pool that comes after the caller has
// closed it finds nothing to do and never touches the body.
struct WorkerPool::Loop {
  TaskControl& control;
  const std::function<void(std::size_t, std::size_t)>& body;
  std::size_t count = 0;
  Priority priority = Priority::question;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable left;
  std::size_t active = 0;  // threads of the pool that are here
  bool closed = false;
  ThreadException thrown;

  // Until nothing is left to do, or until `stop` says so.
  template <typename Stop>
  void run(std::size_t worker, Stop stop) {
    while (!control.cancelled() && !stop()) {
      const std::size_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      if (!thrown.keep([&] { body(index, worker); })) next = count;
    }
  }
};

void WorkerPool::enqueue_helper(std::shared_ptr<Loop> loop, std::size_t worker) {
  const Priority priority = loop->priority;
  std::condition_variable* wake = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    queue(priority).push_front(
        {[this, loop = std::move(loop), worker] { help(loop, worker); }, [] {}, priority, false});
    note_waiting();
    wake = &to_wake(priority);
  }
  wake->notify_one();
}

void WorkerPool::help(const std::shared_ptr<Loop>& loop, std::size_t worker) {
  {
    const std::scoped_lock lock(loop->mutex);
    if (loop->closed) return;
    ++loop->active;
  }
  bool gave_way = false;
  loop->run(worker, [&] { return gave_way = waits_for_more_urgent(loop->priority); });
  ThreadException without_help;  // no memory for it: the others go on without this thread
  if (gave_way) (void)without_help.keep([&] { enqueue_helper(loop, worker); });
  const std::scoped_lock lock(loop->mutex);
  if (--loop->active == 0) loop->left.notify_all();
}

void WorkerPool::for_each(std::size_t count, TaskControl& control,
                          const std::function<void(std::size_t, std::size_t)>& body, Priority priority) {
  const auto loop = std::make_shared<Loop>(control, body, count, priority);
  const std::size_t helpers = count == 0 ? 0 : std::min(ordinary_, count - 1);
  ThreadException without_help;  // no memory for it: the work is done here alone
  (void)without_help.keep([&] {
    for (std::size_t worker = 1; worker <= helpers; ++worker) enqueue_helper(loop, worker);
  });
  loop->run(0, [] { return false; });
  std::unique_lock lock(loop->mutex);
  loop->closed = true;
  loop->left.wait(lock, [&] { return loop->active == 0; });
  loop->thrown.throw_on();
}

}  // namespace accelscope
