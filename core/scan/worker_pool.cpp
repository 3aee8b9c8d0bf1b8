#include "core/scan/worker_pool.h"

#include <algorithm>

#include "core/base/carried_exception.h"

namespace accelscope {

Error cancelled_error() { return Error{"cancelled"}; }

Error out_of_memory_error() {
  return Error{"there is not enough memory for it; close other programs or sessions, or take a part of the file"};
}

namespace {
constexpr unsigned kHastyThreads = 2;  // what one waits for is read beside a step that looks far
}

WorkerPool::WorkerPool(unsigned threads) {
  begin(crew_, threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads);
}

void WorkerPool::begin(Crew& crew, unsigned threads) {
  crew.running.resize(threads);
  crew.threads.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) crew.threads.emplace_back([this, &crew, i] { work(crew, i); });
}

WorkerPool::~WorkerPool() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    for (Crew* crew : {&crew_, &hasty_}) {
      // What waits is cancelled too, but still runs, so that nobody waits for it in vain.
      for (const Job& job : crew->jobs) job.cancel();
      for (const auto& cancel : crew->running) {
        if (cancel) cancel();
      }
    }
  }
  for (Crew* crew : {&crew_, &hasty_}) {
    crew->changed.notify_all();
    for (std::thread& thread : crew->threads) thread.join();
  }
}

void WorkerPool::on_finished(std::function<void()> told) {
  const std::scoped_lock lock(mutex_);
  told_finished_ = std::move(told);
}

void WorkerPool::enqueue(Job job, Haste haste) {
  const std::scoped_lock lock(mutex_);
  if (stopping_) job.cancel();
  if (haste == Haste::at_once && hasty_.threads.empty() && !stopping_) begin(hasty_, kHastyThreads);
  Crew& crew = haste == Haste::none || hasty_.threads.empty() ? crew_ : hasty_;
  crew.jobs.push_back(std::move(job));
  crew.changed.notify_one();
}

void WorkerPool::enqueue_first(std::function<void()> run) {
  {
    const std::scoped_lock lock(mutex_);
    crew_.jobs.push_front({std::move(run), [] {}, false});
  }
  crew_.changed.notify_one();
}

void WorkerPool::work(Crew& crew, std::size_t thread) {
  std::unique_lock lock(mutex_);
  while (true) {
    crew.changed.wait(lock, [&] { return stopping_ || !crew.jobs.empty(); });
    if (crew.jobs.empty()) return;
    Job job = std::move(crew.jobs.front());
    crew.jobs.pop_front();
    crew.running[thread] = std::move(job.cancel);
    lock.unlock();
    job.run();
    job.run = nullptr;
    lock.lock();
    if (const auto told = told_finished_; job.is_task && told) {
      lock.unlock();
      told();
      lock.lock();
    }
    crew.running[thread] = nullptr;
  }
}

namespace {

// One for_each: the calls still to make, and who makes them. A thread of the pool that comes after the caller has
// closed it finds nothing to do and never touches the body.
struct Loop {
  std::atomic<std::size_t> next{0};
  std::size_t count = 0;
  std::mutex mutex;
  std::condition_variable left;
  std::size_t joined = 0;  // threads of the pool that ever came
  std::size_t active = 0;  // and that are still here
  bool closed = false;
  CarriedException thrown;

  void run(TaskControl& control, const std::function<void(std::size_t, std::size_t)>& body, std::size_t worker) {
    while (!control.cancelled()) {
      const std::size_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      if (!thrown.keep([&] { body(index, worker); })) next = count;
    }
  }
};

}  // namespace

void WorkerPool::for_each(std::size_t count, TaskControl& control,
                          const std::function<void(std::size_t, std::size_t)>& body) {
  const auto loop = std::make_shared<Loop>();
  loop->count = count;
  const std::size_t helpers = count == 0 ? 0 : std::min(crew_.threads.size(), count - 1);
  const auto help = [loop, &control, &body] {
    std::size_t worker = 0;
    {
      const std::scoped_lock lock(loop->mutex);
      if (loop->closed) return;
      worker = ++loop->joined;
      ++loop->active;
    }
    loop->run(control, body, worker);
    const std::scoped_lock lock(loop->mutex);
    if (--loop->active == 0) loop->left.notify_all();
  };
  CarriedException without_help;  // no memory for it: the work is done here alone
  (void)without_help.keep([&] {
    for (std::size_t i = 0; i < helpers; ++i) enqueue_first(help);
  });
  loop->run(control, body, 0);
  std::unique_lock lock(loop->mutex);
  loop->closed = true;
  loop->left.wait(lock, [&] { return loop->active == 0; });
  loop->thrown.throw_on();
}

}  // namespace accelscope
