// A few threads for work that must not run on the UI thread: decoding, queries, exports, saves.
//
//   Task<Result<Answer>> task = pool.start([query](TaskControl& control) { return answer(query, control); });
//   ... each frame:  draw_progress(task.done(), task.total());  if (task.ready()) use(task.take());
//
// What is more urgent goes first: what a frame waits for, then what somebody asked, then what can wait. Tasks that can
// wait never hold all threads, and their loops give way whenever something more urgent comes. What a frame waits for is
// short and has threads of its own besides, so that it never waits behind a question that takes long.
//
// Dropping a Task cancels it; the work ends when it next asks its TaskControl. The pool's destructor cancels what
// is left and waits for it, so a task may refer to whatever outlives the pool.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/base/result.h"

namespace accelscope {

[[nodiscard]] Error out_of_memory_error();

// Shared by the work and the one who waits for it.
class TaskControl {
 public:
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
  void add_total(std::uint64_t steps) noexcept { total_.fetch_add(steps, std::memory_order_relaxed); }
  void add_done(std::uint64_t steps) noexcept { done_.fetch_add(steps, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t done() const noexcept { return done_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> total_{0};
};

// What a cancelled function returns. Whoever cancelled has no use for the message.
[[nodiscard]] Error cancelled_error();

template <typename T>
class Task {
 public:
  Task() = default;
  Task(Task&&) noexcept = default;
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      cancel();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  ~Task() { cancel(); }

  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }  // started and not taken yet
  [[nodiscard]] bool ready() const {
    if (!state_) return false;
    const std::scoped_lock lock(state_->mutex);
    return state_->value.has_value();
  }
  void wait() const {
    if (!state_) return;
    std::unique_lock lock(state_->mutex);
    state_->finished.wait(lock, [this] { return state_->value.has_value(); });
  }
  // Waits if it must; the task is no longer valid afterwards.
  [[nodiscard]] T take() {
    assert(state_);
    wait();
    const auto state = std::move(state_);
    return std::move(*state->value);
  }
  void cancel() noexcept {
    if (state_) state_->control.cancel();
  }
  [[nodiscard]] std::uint64_t done() const noexcept { return state_ ? state_->control.done() : 0; }
  [[nodiscard]] std::uint64_t total() const noexcept { return state_ ? state_->control.total() : 0; }

 private:
  friend class WorkerPool;
  struct State {
    TaskControl control;
    std::mutex mutex;
    std::condition_variable finished;
    std::optional<T> value;
  };
  std::shared_ptr<State> state_;
};

// Most urgent first. drawing: someone has just asked for it with a key or the mouse, or the next frame shows it.
enum class Priority : std::uint8_t { drawing, question, background };

class WorkerPool {
 public:
  explicit WorkerPool(unsigned threads = 0);  // 0: one per hardware thread
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs body(TaskControl&) on a thread of the pool. The body must return, soon after it was cancelled too. A task that
  // is started by another one is as urgent as that one.
  template <typename Body>
  [[nodiscard]] auto start(Body body) -> Task<std::invoke_result_t<Body&, TaskControl&>> {
    return start(of_this_thread(), std::move(body));
  }
  template <typename Body>
  [[nodiscard]] auto start(Priority priority, Body body) -> Task<std::invoke_result_t<Body&, TaskControl&>> {
    using Value = std::invoke_result_t<Body&, TaskControl&>;
    Task<Value> task;
    task.state_ = std::make_shared<typename Task<Value>::State>();
    auto state = task.state_;
    auto shared_body = std::make_shared<Body>(std::move(body));
    enqueue({[state, shared_body]() mutable {
               Value value = within_memory(*shared_body, state->control);
               shared_body.reset();  // what it holds goes before the waiter goes on
               const std::scoped_lock lock(state->mutex);
               state->value.emplace(std::move(value));
               state->finished.notify_all();
             },
             [state] { state->control.cancel(); }, priority});
    return task;
  }

  // Called on a thread of the pool whenever a task has ended, so that whoever sleeps until then wakes.
  void on_finished(std::function<void()> reported);

  // What the body throws is thrown on here, once no call is running any more. Calls body(index, worker) for every index
  // below count, spread over the pool and the calling thread, and returns when all are done or, once `control` is
  // cancelled, when no call is running any more. `worker` is below concurrency() and no two calls run at the same time
  // with the same one. May be called from within a task.
  void for_each(std::size_t count, TaskControl& control,
                const std::function<void(std::size_t index, std::size_t worker)>& body) {
    for_each(count, control, body, of_this_thread());
  }
  void for_each(std::size_t count, TaskControl& control,
                const std::function<void(std::size_t index, std::size_t worker)>& body, Priority priority);
  [[nodiscard]] std::size_t concurrency() const noexcept { return ordinary_ + 1; }

 private:
  // More memory than there is costs the task, not the program.
  template <typename Body>
  static std::invoke_result_t<Body&, TaskControl&> within_memory(Body& body, TaskControl& control) {
    using Value = std::invoke_result_t<Body&, TaskControl&>;
    try {
      return body(control);
    } catch (const std::bad_alloc&) {
      if constexpr (std::is_constructible_v<Value, Error>) {
        return Value(out_of_memory_error());
      } else {
        throw;
      }
    }
  }

  struct Job {
    std::function<void()> run;
    std::function<void()> cancel;
    Priority priority = Priority::question;
    bool is_task = true;  // else a part of one
  };
  struct Loop;
  static constexpr std::size_t kPriorities = 3;
  [[nodiscard]] static Priority of_this_thread() noexcept;
  [[nodiscard]] std::deque<Job>& queue(Priority priority) noexcept { return jobs_[static_cast<std::size_t>(priority)]; }
  [[nodiscard]] bool waits_for_more_urgent(Priority priority) const noexcept;
  // The queue to take from next; null: none now.
  [[nodiscard]] std::deque<Job>* next_queue(bool urgent_only) noexcept;
  void note_waiting() noexcept;
  void enqueue(Job job);
  void enqueue_helper(std::shared_ptr<Loop> loop, std::size_t worker);
  void help(const std::shared_ptr<Loop>& loop, std::size_t worker);
  void begin_threads(std::size_t count, bool urgent_only);
  // Wakes one thread for a job that has just come to its queue: a needless one takes time from whoever draws.
  [[nodiscard]] std::condition_variable& to_wake(Priority priority) noexcept;
  void work(std::size_t thread, bool urgent_only);

  std::mutex mutex_;
  std::condition_variable changed_, urgent_;  // for the ordinary threads, for those of what a frame waits for
  std::array<std::deque<Job>, kPriorities> jobs_;
  std::atomic<unsigned> waiting_{0};            // a bit for each priority with jobs
  std::size_t background_running_ = 0;          // tasks that can wait
  std::size_t urgent_idle_ = 0;                 // threads of what a frame waits for
  std::vector<std::function<void()>> running_;  // how to cancel what each thread runs
  std::function<void()> reported_finished_;
  bool stopping_ = false;
  std::size_t ordinary_ = 0;  // the first of the threads; the others begin with the first urgent job
  std::vector<std::thread> threads_;
};

}  // namespace accelscope
